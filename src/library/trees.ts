/** A tree in code: `supervisor` and `worker` describe it as a holdfast.yaml does, and `applyTree` brings it up. */
import type { AutoShutdown, Strategy, SupervisorConfig, TreeSpecInput } from "../protocol/tree.ts";
import type { AbortOptions } from "./answers.ts";
import type { DistributiveOmit, SpawnOptions } from "./options.ts";

/** A supervisor: how it restarts its children, and what its own end means. */
export interface SupervisorOptions {
  /**
   * A child that failed is restarted alone, with all children, or with those after it. A `dynamic` supervisor begins without
   * children, and `spawn({ supervisor: PATH })` adds them. Default: `one_for_one`.
   */
  readonly strategy?: Strategy;
  /** More restarts of its children than this in the period, and it gives up. Default: 3. */
  readonly max_restarts?: number;
  /** Default: a minute. */
  readonly restart_period_ms?: number;
  /** In the place of the period: after this time a failure counts half. Default: 0, which turns it off. */
  readonly decay_ms?: number;
  /** The wait before the first restart; it doubles, with jitter. Default: a second. */
  readonly backoff_min_ms?: number;
  /** Default: a minute. */
  readonly backoff_max_ms?: number;
  /** How it gives up: its own supervisor decides, or it waits for a start by name. Default: `escalate`. */
  readonly on_intensity?: SupervisorConfig["on_intensity"];
  /** It ends with any, or all, of its significant children. Default: `never`. */
  readonly auto_shutdown?: AutoShutdown;
  /** It bounds all workers below it together. */
  readonly budget?: SupervisorConfig["budget"];
  readonly on_breach?: SupervisorConfig["on_breach"];
  /** As a child of its own supervisor. Default: `permanent`. */
  readonly restart?: SupervisorConfig["restart"];
  readonly significant?: boolean;
  /** Paths of siblings and others that are ready before it starts. */
  readonly depends_on?: readonly string[];
}

/** The options of `spawn`, except those that its place in the tree decides. */
export type TreeWorkerOptions<K extends string = never> = DistributiveOmit<
  SpawnOptions<K>,
  "name" | "supervisor" | "idempotency_key" | "dry_run"
> & {
  /** Paths that must be ready before it starts. */
  readonly depends_on?: readonly string[];
};

/** A worker of a tree in code. */
export interface WorkerDefinition {
  readonly type: "worker";
  readonly name: string;
  readonly options: TreeWorkerOptions<string>;
}

/** A supervisor of a tree in code, with its children in the order of their start. */
export interface SupervisorDefinition {
  readonly type: "supervisor";
  readonly name: string;
  readonly options: SupervisorOptions;
  readonly children: readonly (SupervisorDefinition | WorkerDefinition)[];
}

/** `worker<"mine">(…)` takes the kind `mine` of an own adapter, too. */
export const worker = <K extends string = never>(
  name: string,
  options: TreeWorkerOptions<NoInfer<K>>,
): WorkerDefinition => ({ type: "worker", name, options });

/** The top one gives the tree its name. */
export const supervisor = (
  name: string,
  options: SupervisorOptions,
  children: readonly (SupervisorDefinition | WorkerDefinition)[] = [],
): SupervisorDefinition => ({ type: "supervisor", name, options, children });

/** A tree in code, or as it goes over the wire. */
export type TreeDefinition = SupervisorDefinition | TreeSpecInput;

export interface ApplyTreeOptions extends AbortOptions {
  /** Only reports the changes. Default: false. */
  readonly dry_run?: boolean;
  /**
   * Names the owner of a tree in code: no tree of another owner takes its name. Default: the file that Node runs
   * (`process.argv[1]`).
   */
  readonly owner?: string;
  /**
   * Resolves once every worker runs, or is ready if it has a condition; rejects with WORKER_FAILED or SUPERVISOR_GAVE_UP if
   * the tree cannot come up. Without it, the call resolves when the tree is durable. An abort gives up the wait alone.
   */
  readonly wait?: "ready";
}
