/** The refusal to start a worker whose deadline has passed. */
import { HoldfastError } from "../protocol/errors.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import { deadlineOf, deadlineReached } from "../supervisor/clocks/deadline.ts";

export const lateRefusal = (
  spec: Pick<WorkerSpec, "deadline_at">,
  wall_ms: number,
): HoldfastError | undefined => {
  const reached = deadlineReached(deadlineOf(spec), wall_ms, 0);
  return (
    reached &&
    new HoldfastError(
      "DEADLINE_PASSED",
      `Its deadline has passed, so it is not started: ${new Date(reached.bound).toISOString()}.`,
    )
  );
};
