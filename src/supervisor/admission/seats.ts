/**
 * Decides whether a worker may start. Pure: from the limits, the request and the running workers to an answer with the
 * contract's reason code (protocol-v1 notes 2.10) and the next step. Limits only tighten on the way down a tree of spawns.
 */

import {
  DEPTH_DEFAULT,
  DISK_FREE_MIN_BYTES,
  MEM_AVAILABLE_MIN_BYTES,
  QUEUE_MAX_WORKERS,
  WORKERS_LIVE_MAX,
} from "../../base/limits.ts";
import { type ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import type { QueuePlace } from "../../protocol/replies/workers.ts";
import type { Priority, WorkerSpec } from "../../protocol/worker.ts";
import { type DiskView, diskSentence } from "./disk.ts";

export interface Limits {
  /** Agents of this daemon that hold a slot at once. */
  readonly running_max: number;
  /** Ancestors that a worker may have. */
  readonly depth_max: number;
  /** Nothing starts while less memory is available. */
  readonly mem_min_bytes: number;
  /** Nothing starts while less disk space is free. */
  readonly disk_min_bytes: number;
  /** Workers that wait to start. */
  readonly queue_max: number;
  /** Workers that have not ended, including waiting ones. */
  readonly live_max: number;
}

export const LIMITS: Limits = {
  running_max: WORKERS_LIVE_MAX,
  depth_max: DEPTH_DEFAULT,
  mem_min_bytes: MEM_AVAILABLE_MIN_BYTES,
  disk_min_bytes: DISK_FREE_MIN_BYTES,
  queue_max: QUEUE_MAX_WORKERS,
  live_max: WORKERS_LIVE_MAX,
};

/** A worker whose agent, directly or through other agents, requests this worker. */
export interface Ancestor {
  readonly id: string;
  readonly max_depth?: number | undefined;
  readonly max_concurrency?: number | undefined;
}

export interface SeatRequest extends Pick<WorkerSpec, "priority" | "max_depth" | "max_concurrency"> {
  /** Nearest first; their number is the depth. */
  readonly ancestors: readonly Ancestor[];
}

/** The current number of workers and slots. */
export interface Fleet {
  readonly live: number;
  /** Slots in use. */
  readonly running: number;
  holdsSlot(id: string): boolean;
  /** Slots in use below a worker. */
  below(id: string): number;
}

export type ReasonCode =
  | "depth_limit_exceeded"
  | "local_limit_exceeded"
  | "resource_exhausted"
  | "policy_violation"
  | "spawn_failed";

const WAITED_FOR: Readonly<Record<QueuePlace["waits_for"], string>> = {
  slot: "a slot",
  memory: "memory",
  disk: "room on the disk",
};

const denial = (
  code: ErrorCode,
  reason_code: ReasonCode,
  message: string,
  suggestion?: string,
): HoldfastError =>
  new HoldfastError(code, message, {
    details: { reason_code },
    ...(suggestion === undefined ? {} : { suggestion }),
  });

/** Why the worker can never start with this request, or cannot now because even the queue is full. */
export const refusalOf = (ask: SeatRequest, limits: Limits, fleet: Fleet): HoldfastError | undefined =>
  depthRefusal(ask, limits) ?? looserRefusal(ask, limits) ?? fullRefusal(ask, limits, fleet);

const depthRefusal = ({ ancestors }: SeatRequest, { depth_max }: Limits): HoldfastError | undefined => {
  const depth = ancestors.length;
  if (depth > depth_max)
    return denial(
      "DEPTH_LIMIT_EXCEEDED",
      "depth_limit_exceeded",
      `It would have ${depth} agents above it; this daemon allows ${depth_max}.`,
    );
  const strict = ancestors.find(({ max_depth = depth }) => max_depth < depth);
  if (strict === undefined) return undefined;
  return denial(
    "LOCAL_LIMIT_EXCEEDED",
    "local_limit_exceeded",
    `It would have ${depth} agents above it; worker ${strict.id} allows ${strict.max_depth} for what it spawns.`,
  );
};

const looserRefusal = (ask: SeatRequest, limits: Limits): HoldfastError | undefined => {
  const { max_depth = 0, max_concurrency = 0 } = ask;
  const depth = tightest(ask.ancestors, limits.depth_max, "max_depth");
  const concurrency = tightest(ask.ancestors, limits.running_max, "max_concurrency");
  const looser =
    max_depth > depth.bound
      ? { flag: "max_depth", asked: max_depth, ...depth }
      : max_concurrency > concurrency.bound
        ? { flag: "max_concurrency", asked: max_concurrency, ...concurrency }
        : undefined;
  if (looser === undefined) return undefined;
  const { flag, asked, bound, owner } = looser;
  return denial(
    "POLICY_VIOLATION",
    "policy_violation",
    `It asks for ${flag} ${asked}, and ${owner === undefined ? "this daemon" : `worker ${owner} above it`} has ${bound}; limits only tighten on the way down.`,
    `Ask for at most ${bound}, or leave ${flag} out.`,
  );
};

const tightest = (
  ancestors: readonly Ancestor[],
  bound: number,
  name: "max_depth" | "max_concurrency",
): { readonly bound: number; readonly owner?: string } =>
  ancestors.reduce<{ bound: number; owner?: string }>(
    (least, ancestor) => {
      const own = ancestor[name];
      return own !== undefined && own < least.bound ? { bound: own, owner: ancestor.id } : least;
    },
    { bound },
  );

const fullRefusal = ({ ancestors }: SeatRequest, limits: Limits, fleet: Fleet): HoldfastError | undefined => {
  if (fleet.live >= limits.live_max)
    return denial(
      "RESOURCE_EXHAUSTED",
      "resource_exhausted",
      `There are ${limits.live_max} living workers, which is the most this daemon supervises.`,
    );
  // The agents above may wait for this worker. If they hold every slot that it could get, it would wait for ever.
  const above = ancestors.filter(({ id }) => fleet.holdsSlot(id)).length;
  if (above >= limits.running_max)
    return denial(
      "RESOURCE_EXHAUSTED",
      "resource_exhausted",
      `All ${limits.running_max} slots of this daemon are held by the agents above it.`,
      "Do the work in the agent that asks, or raise HOLDFAST_MAX_RUNNING of the daemon.",
    );
  const strict = ancestors.find(
    ({ max_concurrency = Number.POSITIVE_INFINITY }, at) =>
      max_concurrency <= ancestors.slice(0, at).filter(({ id }) => fleet.holdsSlot(id)).length,
  );
  if (strict === undefined) return undefined;
  return denial(
    "LOCAL_LIMIT_EXCEEDED",
    "local_limit_exceeded",
    strict.max_concurrency === 0
      ? `Worker ${strict.id} may spawn nothing: its max_concurrency is 0.`
      : `All ${strict.max_concurrency} slots below worker ${strict.id} are held by the agents above this one.`,
  );
};

/** Whether the daemon and every ancestor have a free slot for the worker. */
export const isSlotFree = (
  { ancestors }: Pick<SeatRequest, "ancestors">,
  limits: Limits,
  fleet: Fleet,
): boolean =>
  fleet.running < limits.running_max &&
  ancestors.every(
    ({ id, max_concurrency }) => max_concurrency === undefined || fleet.below(id) < max_concurrency,
  );

/** Disk space does not return by itself, so the worker is refused instead of queued. */
export const diskRefusal = (disk: DiskView): HoldfastError =>
  denial(
    "DISK_FULL",
    "resource_exhausted",
    diskSentence(disk),
    "Free some space; running workers continue meanwhile. HOLDFAST_DISK_MIN of the daemon sets the minimum.",
  );

export const queueFull = (limits: Limits, waits_for: QueuePlace["waits_for"]): HoldfastError =>
  denial(
    "QUEUE_FULL",
    "local_limit_exceeded",
    `${limits.queue_max} workers wait for ${WAITED_FOR[waits_for]} already, which is the most that may.`,
    "Wait until some have started; `agent list` shows the queue.",
  );

const RANK: Readonly<Record<Priority, number>> = { critical: 0, high: 1, normal: 2, low: 3, background: 4 };

/** By priority, then by arrival. */
export const comesBefore = (
  a: { readonly priority: Priority; readonly arrival: number },
  b: { readonly priority: Priority; readonly arrival: number },
): boolean =>
  RANK[a.priority] === RANK[b.priority] ? a.arrival < b.arrival : RANK[a.priority] < RANK[b.priority];

/** The reason as `agent list` shows it. */
export const queueReason = ({ place, priority, waits_for }: QueuePlace): string =>
  `queued: place ${place}, priority ${priority}, waits for ${WAITED_FOR[waits_for]}`;

/** Nearest first. A circle in the log is cut. */
export const ancestorsOf = (
  parent: string | undefined,
  specOf: (id: string) => Pick<WorkerSpec, "parent" | "max_depth" | "max_concurrency"> | undefined,
): readonly Ancestor[] => {
  const found = new Map<string, Ancestor>();
  for (let id = parent; id !== undefined && !found.has(id); ) {
    const spec = specOf(id);
    if (spec === undefined) break;
    const { max_depth, max_concurrency } = spec;
    found.set(id, { id, max_depth, max_concurrency });
    id = spec.parent;
  }
  return [...found.values()];
};
