/** Commands of boards and their cards. */
import type { FlagDef } from "../base/flag.ts";
import { BOARD_SLOTS_DEFAULT, BOARD_SLOTS_MAX, CARDS_PAGE_DEFAULT, CARDS_PAGE_MAX } from "../base/limits.ts";
import type { RequestName } from "../protocol/requests.ts";
import { BOARD_DEFAULT, CARD_LANES } from "../protocol/words.ts";
import { type ArgDef, inGroup } from "./command.ts";
import { noFollow, pageFlags, since, watchFrom } from "./flags.ts";
import { spawnFlagsBut } from "./spawn-flags.ts";

const board: FlagDef = {
  name: "board",
  type: "name",
  value: "B",
  help: "the board",
  default: BOARD_DEFAULT,
};
const card: ArgDef = { name: "CARD", help: "the id of the card, as its tracker has it", required: true };
const cardReason: FlagDef = { name: "reason", type: "string", value: "TEXT", help: "kept in the log" };
/** A command that moves one card. */
const cardMove = (verb: string, summary: string, details: string) => ({
  words: ["board", verb],
  request: `board/${verb}` as RequestName,
  danger: "mutating" as const,
  exits: [5, 6, 7],
  summary,
  details,
  args: [card],
  flags: [board, ...(verb === "claim" ? [] : [cardReason])],
  examples: [`agent board ${verb} GH-12`],
});
/** The board names the worker of a card, gives it a worktree, and follows it to its end. */
const CARD_FLAGS = spawnFlagsBut(
  ...["name", "session", "fork", "interactive", "passivate", "supervisor", "worktree", "priority"],
  ...["idempotency-key", "dry-run", "watch", "wait", "detach", "verbose"],
);

export const BOARD_COMMANDS = inGroup("Share work", [
  {
    words: ["board", "add"],
    request: "board/add",
    danger: "mutating",
    exits: [5, 6, 7, 11],
    summary: "Add cards to a board: one, or those of a file",
    details:
      "A file has one card a line, as JSON: {id, title, body, labels, priority}. A card whose id the board has is not added again: it gets the new title and text and stays in its lane, so you can import from a tracker again and again. Prints the ids of new cards. Starts the daemon if none runs.",
    args: [
      { name: "CARD", help: "the id of the card, as its tracker has it" },
      { name: "TITLE", help: "the task in one line" },
    ],
    flags: [
      board,
      { name: "from", type: "string", value: "F", help: "the cards of this file; - is stdin" },
      { name: "body", type: "string", value: "TEXT", help: "the text of the card, up to 32 KB" },
      { name: "label", short: "l", type: "string", value: "L", repeatable: true, help: "label of the card" },
      {
        name: "priority",
        type: "enum",
        values: ["critical", "high", "normal", "low", "background"],
        value: "P",
        help: "its rank among the cards that wait",
        default: "normal",
      },
    ],
    examples: [
      "agent board add GH-12 'Fix the login' --label bug",
      "gh issue list --json number,title,body --jq '.[] | {id: .number, title, body}' | agent board add --from -",
    ],
  },
  {
    words: ["board", "list"],
    request: "board/list",
    danger: "safe",
    summary: "Show the cards of a board by their lanes",
    flags: [
      board,
      {
        name: "lane",
        type: "list",
        value: "L,…",
        suggests: CARD_LANES,
        help: `only cards in these lanes: ${CARD_LANES.join(", ")}`,
      },
      ...pageFlags(CARDS_PAGE_MAX, CARDS_PAGE_DEFAULT),
    ],
    examples: ["agent board list", "agent board list --lane Blocked,Review"],
  },
  {
    words: ["board", "show"],
    request: "board/show",
    danger: "safe",
    exits: [5],
    summary: "Show a card with its worker, its worktree and the command for its changes",
    args: [card],
    flags: [board],
    examples: ["agent board show GH-12"],
  },
  {
    words: ["board", "dispatch"],
    request: "board/dispatch",
    danger: "mutating",
    exits: [5, 6, 7, 11],
    argv: true,
    summary: "Give each card of a board a worker, a limited number at once",
    details:
      "Sets the dispatcher of the board, which the daemon keeps over restarts. Each card gets a worker of its own, in a git worktree of its own. A worker that completes moves its card to Done, or with --review to Review; one that fails is tried again or blocks its card, by the code of its error. {id}, {title}, {body} and {labels} in PROMPT stand for the fields of the card; without them the card's text follows the prompt. The worker finds the id in HOLDFAST_CARD. Without KIND the worker's spec stays as it is, so --slots alone changes the number; --slots 0 takes no more cards.",
    args: [
      { name: "KIND", help: "kind of agent", complete: "kind" },
      { name: "PROMPT", help: "the agent's task for each card; - reads stdin" },
    ],
    flags: [
      board,
      {
        name: "slots",
        type: "int",
        value: "N",
        help: "cards that run at once; 0 takes no more",
        default: String(BOARD_SLOTS_DEFAULT),
        min: 0,
        max: BOARD_SLOTS_MAX,
      },
      { name: "review", type: "bool", help: "move a card to Review when its worker has completed" },
      { name: "from", type: "string", value: "F", help: "add the cards of this file first; - is stdin" },
      { name: "no-worktree", type: "bool", help: "all workers work in the same directory" },
      ...CARD_FLAGS,
    ],
    examples: [
      "agent board dispatch claude --slots 5 --from issues.jsonl --review",
      "agent board dispatch codex 'Fix issue {id}: {title}\n\n{body}' --slots 3",
      "agent board dispatch --slots 0",
    ],
  },
  cardMove(
    "claim",
    "Take a card yourself, so that no worker is spawned for it",
    "From Todo, RetryQueued, Blocked or Review. An agent's claim ends with the agent.",
  ),
  cardMove("release", "Give a claimed card back", "The dispatcher may take it then."),
  cardMove("retry", "Try a card again now", "From RetryQueued, Blocked or Review."),
  cardMove("block", "Keep a card from being dispatched", "Until it is tried again, claimed or done."),
  cardMove("handoff", "Move a card to Review", "From Claimed or Blocked."),
  cardMove(
    "done",
    "Mark a card as done",
    "From every lane but Running: the end of its worker moves a card that runs. A card that is done stays so.",
  ),
  {
    words: ["board", "watch"],
    request: "board/watch",
    danger: "safe",
    stream: true,
    summary: "Follow the moves of the cards of a board",
    details:
      "Prints a record for each move of a card. Ctrl-C ends it. A cursor is the seq of the last record that you have seen, or EPOCH:SEQ.",
    flags: [board, watchFrom, since, noFollow],
    examples: ["agent board watch", "agent board watch --from 0 --no-follow -o ndjson"],
  },
]);
