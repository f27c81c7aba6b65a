/** The worker of one try of a card: the spec of its board, with the card's words. Pure. */
import { createHash } from "node:crypto";
import { NAME_MAX_BYTES } from "../../base/limits.ts";
import type { Card } from "../../protocol/board.ts";
import { BOARD_DEFAULT } from "../../protocol/words.ts";
import type { WorkerSpec, WorkerSpecInput } from "../../protocol/worker.ts";

/** The places for a card's words in the prompt of a board. */
const PLACES = /\{(id|title|body|labels)\}/g;

const BRANDED_CHARS = 6;

/** By it people find the worker, and git its branch. An id that is no name becomes one, with a part of its hash. */
export const workerNameOf = ({ board, issue_id }: Pick<Card, "board" | "issue_id">): string => {
  const wanted = board === BOARD_DEFAULT ? issue_id : `${board}.${issue_id}`;
  const plain = wanted.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  if (plain === wanted && plain.length <= NAME_MAX_BYTES) return plain;
  const brand = createHash("sha256").update(wanted).digest("hex").slice(0, BRANDED_CHARS);
  const kept = plain.slice(0, NAME_MAX_BYTES - BRANDED_CHARS - 1);
  return kept === "" ? brand : `${kept}-${brand}`;
};

/** A prompt without places for the card's words has them below it. */
export const promptOf = (template: string | undefined, { issue_id, title, body, labels }: Card): string => {
  const words = { id: issue_id, title, body: body ?? "", labels: labels.join(", ") };
  if (template !== undefined && template.search(PLACES) !== -1)
    return template.replace(PLACES, (_, place: keyof typeof words) => words[place]).trimEnd();
  const told = [`${issue_id}: ${title}`, ...(body === null ? [] : [body])];
  return [...(template === undefined ? [] : [template]), ...told].join("\n\n");
};

/** The variables by which an agent, or a script, knows its card. */
const CARD_VARIABLE = "HOLDFAST_CARD";
const BOARD_VARIABLE = "HOLDFAST_BOARD";

export const specFor = (spec: WorkerSpec, card: Card): WorkerSpecInput => ({
  ...spec,
  name: workerNameOf(card),
  prompt: promptOf(spec.prompt, card),
  priority: card.priority,
  labels: { ...spec.labels, board: card.board, card: card.issue_id, attempt: String(card.attempt) },
  env: { ...spec.env, [CARD_VARIABLE]: card.issue_id, [BOARD_VARIABLE]: card.board },
});

/** Why no card can be given such a worker: one sentence each. */
export const specProblems = ({
  name,
  session,
  restart,
  interactive,
  supervisor,
  worktree,
}: WorkerSpec): readonly string[] => [
  ...(name === undefined ? [] : ["name: each card's worker is named by the id of the card."]),
  ...(session === undefined
    ? []
    : ["session: each card has an agent of its own, so they cannot share a session."]),
  ...(restart === "permanent" ? ["restart: a permanent worker never ends, and neither would its card."] : []),
  ...(interactive
    ? ["interactive: an interactive agent waits for messages, and its card would never end."]
    : []),
  ...(supervisor === "root" ? [] : ["supervisor: the board supervises the workers of its cards."]),
  ...(worktree?.branch === undefined
    ? []
    : ["worktree: each card gets a branch of its own, so the branch has no name here."]),
];
