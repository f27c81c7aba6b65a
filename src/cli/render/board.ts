/** Boards as text for people: cards by their lanes, and a card with what leads to its work. */

import type {
  BoardReply,
  CardInfo,
  CardMoved,
  CardsAdded,
  CardView,
  DispatcherView,
  DispatchSet,
} from "../../protocol/replies/board.ts";
import { BOARD_DEFAULT, CARD_LANES, type CardLane } from "../../protocol/words.ts";
import { age, pairs } from "./pairs.ts";
import { neutralise, oneLine, type Tone, table } from "./terminal.ts";
import type { TextContext, TextOf } from "./text.ts";
import { count, duration } from "./units.ts";

/** It is the last column: a terminal cuts it at its edge, and a pipe gets it whole. */
const TITLE_MAX_CHARS = 1_024;
const CELL_MAX_CHARS = 60;

const TONES: Readonly<Record<CardLane, Tone>> = {
  Todo: "plain",
  Claimed: "name",
  Running: "good",
  RetryQueued: "warn",
  Blocked: "bad",
  Review: "warn",
  Done: "dim",
};

const untilDue = ({ retry_due_at }: CardView, now: number): string =>
  retry_due_at === null ? "" : `next try in ${duration(Math.max(0, Date.parse(retry_due_at) - now))}`;

/** The one fact that matters in its lane. */
const noteOf = (card: CardView, now: number): string => {
  switch (card.lane) {
    case "Claimed":
      return card.claimed_by ?? "";
    case "Running":
      return card.agent_id ?? "";
    case "RetryQueued":
      return [untilDue(card, now), card.code ?? ""].filter((word) => word !== "").join(", ");
    case "Blocked":
      return oneLine(card.denial_reason ?? "", CELL_MAX_CHARS);
    default:
      return "";
  }
};

const dispatcherWords = ({ slots, kind, completed_lane, worktree }: DispatcherView): string =>
  slots === 0
    ? "takes no more cards"
    : `${count(slots, "slot")} of ${kind}, ${worktree ? "each in a worktree" : "all in one directory"}, completed cards go to ${completed_lane}`;

const boardText: TextOf<BoardReply> = ({ dispatcher, lanes, cards }, { paint, now, columns }) => {
  const counts = CARD_LANES.filter((lane) => lanes[lane] > 0).map((lane) =>
    paint(TONES[lane], `${lane} ${lanes[lane]}`),
  );
  if (counts.length === 0) return "";
  const dispatched = dispatcher === null ? "no dispatcher" : `dispatcher: ${dispatcherWords(dispatcher)}`;
  const head = ["LANE", "CARD", "TRY", "AGE", "NOTE", "TITLE"].map((cell) => paint("dim", cell));
  const inOrder = CARD_LANES.flatMap((lane) => cards.filter((card) => card.lane === lane));
  const rows = inOrder.map((card) => [
    paint(TONES[card.lane], card.lane),
    oneLine(card.issue_id, CELL_MAX_CHARS),
    card.attempt === 0 ? "" : String(card.attempt),
    age(card.changed_at, now),
    noteOf(card, now),
    oneLine(card.title, TITLE_MAX_CHARS),
  ]);
  return [
    `${counts.join("  ")}   ${paint("dim", dispatched)}`,
    "",
    table([head, ...rows], { fit: columns }),
  ].join("\n");
};

const addedText: TextOf<CardsAdded> = ({ cards }) =>
  cards.flatMap(({ issue_id, effect }) => (effect === "created" ? [oneLine(issue_id)] : [])).join("\n");

const laneOf = (card: CardView, { paint, now }: TextContext): string =>
  [paint(TONES[card.lane], card.lane), untilDue(card, now)].filter((word) => word !== "").join(", ");

const movedText: TextOf<CardMoved> = (card, context) =>
  `${oneLine(card.issue_id)} ${laneOf(card, context)}${card.effect === "noop" ? context.paint("dim", " (it was there)") : ""}`;

const cardText: TextOf<CardInfo> = (card, context) => {
  const { paint, now } = context;
  const { worker, workspace } = card;
  const facts = pairs(paint, [
    ["card", `${oneLine(card.issue_id)}${card.board === BOARD_DEFAULT ? "" : ` of board ${card.board}`}`],
    ["title", oneLine(card.title, TITLE_MAX_CHARS)],
    ["lane", laneOf(card, context)],
    ["claimed by", card.claimed_by === null ? null : oneLine(card.claimed_by)],
    [
      "reason",
      card.lane === "Done" || card.denial_reason === null
        ? null
        : oneLine(card.denial_reason, TITLE_MAX_CHARS),
    ],
    ["code", card.code],
    ["priority", card.priority === "normal" ? null : card.priority],
    ["labels", card.labels.length === 0 ? null : oneLine(card.labels.join(", "), TITLE_MAX_CHARS)],
    ["try", card.attempt === 0 ? null : String(card.attempt)],
    [
      "worker",
      worker === null
        ? null
        : `${worker.id}${worker.name === null ? "" : ` (${oneLine(worker.name)})`}, ${worker.kind}, ${worker.status}`,
    ],
    ["worktree", workspace === null ? null : oneLine(workspace.path, TITLE_MAX_CHARS)],
    ["branch", workspace === null ? null : oneLine(workspace.branch)],
    ["added", `${age(card.discovered_at, now)} ago`],
  ]);
  const body = card.body === null ? [] : ["", neutralise(card.body.trimEnd())];
  const next =
    card.commands.length === 0 ? [] : ["", ...card.commands.map((command) => paint("dim", command))];
  return [facts, ...body, ...next].join("\n");
};

const dispatchText: TextOf<DispatchSet> = ({ board, effect, ...dispatcher }, { paint }) =>
  `${board}: ${dispatcherWords(dispatcher)}${effect === "noop" ? paint("dim", " (as before)") : ""}`;

/** The texts of all commands of boards. */
export const BOARD_TEXTS = {
  "board/add": addedText,
  "board/list": boardText,
  "board/show": cardText,
  "board/claim": movedText,
  "board/release": movedText,
  "board/retry": movedText,
  "board/block": movedText,
  "board/handoff": movedText,
  "board/done": movedText,
  "board/dispatch": dispatchText,
  "board/watch": () => "",
} as const;
