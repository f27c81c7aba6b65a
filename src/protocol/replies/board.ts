/** The answers of boards. */
import * as z from "zod";
import { CARD_STATES } from "../board.ts";
import { CARD_LANES, COMPLETED_LANES } from "../words.ts";
import { Priority, WorkerStatus } from "../worker.ts";
import { code, id, type Reply, time } from "./reply.ts";
import { workspace } from "./workspace.ts";

/** A card, with the names of protocol-v1 notes 2.7. */
export const CardView = z.object({
  board: z.string(),
  issue_id: z.string(),
  title: z.string(),
  body: z.string().nullable(),
  labels: z.array(z.string()),
  priority: Priority,
  state: z.enum(CARD_STATES),
  lane: z.enum(CARD_LANES),
  policy_status: z.enum(["ok", "denied", "blocked", "validation_failed"]),
  eligibility: z.enum(["eligible", "ineligible"]),
  denial_reason: z.string().nullable().describe("why it is not dispatched, or why its last try failed"),
  last_outcome: z
    .enum(["spawn_denied", "policy_denied", "preflight_failed", "execution_failed", "cancelled", "completed"])
    .nullable(),
  code: code.nullable().describe("error code of its newest failure"),
  attempt: z.int().describe("tries of the dispatcher so far"),
  retry_due_at: time.nullable(),
  /** The run of its worker; null before it has begun. */
  run_id: z.string().nullable(),
  agent_id: id.nullable().describe("worker of its newest try"),
  claimed_by: z.string().nullable(),
  discovered_at: time,
  changed_at: time,
});
export type CardView = Reply<typeof CardView>;

/** One card, with what leads from it to its work. */
export const CardInfo = CardView.extend({
  worker: z
    .object({
      id,
      name: z.string().nullable(),
      kind: z.string(),
      status: WorkerStatus,
      reason: z.string(),
    })
    .nullable(),
  workspace: workspace.nullable(),
  commands: z.array(z.string()).describe("commands that show more of it, or move it on"),
});
export type CardInfo = Reply<typeof CardInfo>;

const DispatcherView = z.object({
  slots: z.int().describe("cards that run at once; 0: it takes no more cards"),
  completed_lane: z.enum(COMPLETED_LANES),
  kind: z.string(),
  cwd: z.string(),
  /** Each worker has a worktree of its own. */
  worktree: z.boolean(),
  by: z.string(),
  configured_at: time,
});
export type DispatcherView = Reply<typeof DispatcherView>;

export const BoardReply = z.object({
  board: z.string(),
  dispatcher: DispatcherView.nullable().describe("null where nobody has set one"),
  lanes: z.record(z.enum(CARD_LANES), z.int()).describe("cards of the whole board, by lane"),
  cards: z.array(CardView),
  /** There are more after these. */
  cursor: z.string().optional(),
});
export type BoardReply = Reply<typeof BoardReply>;

/** `noop` of a card: the board has it with these words already. */
export const CardsAdded = z.object({
  board: z.string(),
  cards: z.array(z.object({ issue_id: z.string(), effect: z.enum(["created", "updated", "noop"]) })),
  effect: z.enum(["created", "updated", "noop"]).describe("the largest effect of them"),
});
export type CardsAdded = Reply<typeof CardsAdded>;

/** `noop`: it was there before. */
export const CardMoved = CardView.extend({ effect: z.enum(["updated", "noop"]) });
export type CardMoved = Reply<typeof CardMoved>;

export const DispatchSet = z.object({
  board: z.string(),
  ...DispatcherView.shape,
  effect: z.enum(["created", "updated", "noop"]),
});
export type DispatchSet = Reply<typeof DispatchSet>;
