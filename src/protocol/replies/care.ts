/** The answers of `prune` and `rename`. */
import * as z from "zod";
import { WorkerStatus } from "../worker.ts";
import { code, effect, id, type Reply, time } from "./reply.ts";

const PrunedWorker = z.object({
  id,
  name: z.string().nullable(),
  status: WorkerStatus,
  ended_at: time.nullable(),
  freed_bytes: z.int(),
  worktree: z.string().nullable().describe("its worktree, which goes too"),
});
export type PrunedWorker = Reply<typeof PrunedWorker>;

/** A worker that is kept, because something would be lost or could not be removed. */
const KeptWorker = z.object({ id, name: z.string().nullable(), code, reason: z.string() });
export type KeptWorker = Reply<typeof KeptWorker>;

export const PruneResult = z.object({
  effect,
  workers: z.array(PrunedWorker),
  kept: z.array(KeptWorker).describe("workers of which something would be lost"),
  freed_bytes: z.int(),
});
/** One page of it. `cursor`: the last worker that was checked, if more may match; the next request goes on after it. */
export interface PruneReply extends Reply<typeof PruneResult> {
  readonly cursor?: string;
}

export const RenameReply = z.object({
  id,
  name: z.string(),
  before: z.string().nullable(),
  effect: z.enum(["updated", "noop"]),
});
export type RenameReply = Reply<typeof RenameReply>;
