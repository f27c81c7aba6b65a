/** Answers of `spawnMany`, as JSON: what goes over the socket and out of the library. */
import type { DeniedAgent } from "../control/overseer/decide.ts";
import type { WorkerStatus } from "../protocol/worker.ts";

export interface SpawnedAgent {
  readonly id: string;
  readonly role: string;
  readonly task: string;
  /** With `wait_for_completion`, that of its end. */
  readonly status: WorkerStatus;
  /** The number of agents above it. */
  readonly depth: number;
}

export interface SpawnManyReply {
  readonly epic_id: string | null;
  /** All of them start, or none does. */
  readonly accepted: boolean;
  readonly spawned_agents: readonly SpawnedAgent[];
  readonly denied_agents: readonly DeniedAgent[];
  readonly suggestion: string | null;
  readonly effect: "created" | "noop";
}
