/** The refusal to start a worker whose deadline has passed. */
import { HoldfastError } from "../protocol/errors.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import { deadlineOf } from "../supervisor/clocks/deadline.ts";

export const lateRefusal = (
  spec: Pick<WorkerSpec, "deadline_at">,
  wall_ms: number,
): HoldfastError | undefined => {
  const at = deadlineOf(spec);
  return at === null || wall_ms < at
    ? undefined
    : new HoldfastError(
        "DEADLINE_PASSED",
        `Its deadline has passed, so it is not started: ${new Date(at).toISOString()}.`,
      );
};
