/**
 * Decides about an agent whose unread output is over its quota or whose disk is nearly full (processes.md, Bounds): it
 * is ended, or paused until there is room again, as its spec says. The decision is pure and made on each tick.
 */

import { Effect } from "effect";
import { formatSize } from "../../base/durations.ts";
import { OUTPUT_RESUME_PART } from "../../base/limits.ts";
import type { PauseReason } from "../../protocol/records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { DiskView } from "../../supervisor/admission/disk.ts";
import type { ChildInput } from "../../supervisor/child/inputs.ts";
import { causesOf, type PauseCause } from "../../supervisor/holds/pause.ts";
import type { Journal } from "../deciding/journal.ts";
import type { Incarnation } from "./incarnation.ts";
import type { SpoolRoom } from "./intake.ts";

type OutputInput = Extract<ChildInput, { type: "limit" | "pause" | "unpause" }>;
type Bounds = Pick<WorkerSpec, "output_quota_bytes" | "on_output_quota" | "grace_ms">;

/** The part of a worker that these bounds need. */
interface OutputWorker {
  readonly journal: Journal;
  readonly spec: Bounds;
  readonly incarnation: Incarnation | undefined;
  fork(work: Effect.Effect<void>): void;
}

/** `pids`: its agent's, if it is a process. */
export const decideOutput = (
  { output_quota_bytes: bound, on_output_quota, grace_ms }: Bounds,
  causes: readonly PauseCause[],
  { held, stays }: SpoolRoom,
  { low, floor_bytes }: Pick<DiskView, "low" | "floor_bytes">,
  pids: readonly number[],
): readonly OutputInput[] => {
  const waits = on_output_quota === "pause";
  const isOver = bound > 0 && held > bound;
  // Do not wait for room that reading cannot free.
  if (isOver && (!waits || stays > bound))
    return [{ type: "limit", limit: "output", value: held, bound, grace_ms }];
  if (!waits) return NONE;
  // Fast path: no shortage and no pause, as for almost every worker on almost every tick.
  if (!isOver && !low && causes.length === 0) return NONE;
  const mayGoOn = bound === 0 || held - stays <= (bound - stays) * OUTPUT_RESUME_PART;
  const standsFor = (reason: PauseReason): boolean => causes.some((cause) => cause.reason === reason);
  const inputs: OutputInput[] = [];
  const told = (reason: "output" | "disk", isShort: boolean, isOk: boolean, detail: string): void => {
    const stands = standsFor(reason);
    if (isShort && !stands) inputs.push({ type: "pause", reason, detail, pids });
    if (isOk && stands) inputs.push({ type: "unpause", by: "daemon", reason });
  };
  told("output", isOver, mayGoOn, `more than ${formatSize(bound)} of its output waits to be read`);
  told("disk", low, !low, `less than ${formatSize(floor_bytes)} are free on the disk of the state directory`);
  return inputs;
};

const NONE: readonly never[] = [];

/**
 * Checks a worker's output. If the store refuses, the next tick tries again. A run that has ended by itself is read to its
 * end, however much that is.
 */
export const checkOutput = (worker: OutputWorker, disk: DiskView): void => {
  const { journal, spec, incarnation } = worker;
  if (incarnation === undefined || incarnation.exit !== undefined) return;
  const room = incarnation.intake.room();
  if (room === undefined) return;
  const { posix } = incarnation.run;
  const pids = posix === undefined ? NONE : [posix.agent.pid];
  for (const input of decideOutput(spec, causesOf(journal.child()), room, disk, pids))
    worker.fork(Effect.ignore(journal.input(input)));
};
