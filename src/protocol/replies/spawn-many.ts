/** The answer of `spawnMany`. */
import * as z from "zod";
import { WorkerStatus } from "../worker.ts";
import { id, type Reply } from "./reply.ts";

/** `status`: with `wait_for_completion`, that of its end. `depth`: the number of agents above it. */
const SpawnedAgent = z.object({
  id,
  role: z.string(),
  task: z.string(),
  status: WorkerStatus,
  depth: z.int(),
});
export type SpawnedAgent = Reply<typeof SpawnedAgent>;

export const SpawnManyReply = z.object({
  epic_id: z.string().nullable(),
  accepted: z.boolean().describe("all of them start, or none does"),
  spawned_agents: z.array(SpawnedAgent),
  denied_agents: z.array(
    z.object({ role: z.string(), task: z.string(), reason: z.string(), message: z.string() }),
  ),
  suggestion: z.string().nullable(),
  effect: z.enum(["created", "noop"]),
});
export type SpawnManyReply = Reply<typeof SpawnManyReply>;
