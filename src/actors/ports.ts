/** The ports of the actors. Tests pass their own; nothing below reads a clock or a file by itself. */
import type { Effect } from "effect";
import type { AgentAdapter, LaunchPlan } from "../adapters/adapter.ts";
import type { Machine } from "../adapters/process/machine-readings.ts";
import type { RuntimeSpawner, SkillRights } from "../adapters/spawner.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { ModelUsage } from "../protocol/records.ts";
import type { Budget, PlacedRight, WorkerSpec } from "../protocol/worker.ts";
import type { Artifacts } from "../store/cas/store.ts";
import type { EventLog } from "../store/event-log.ts";
import type { Views } from "../store/views.ts";
import type { SpentAmounts } from "../supervisor/budgets/budgets.ts";
import type { Defects } from "./defects.ts";
import type { Trace } from "./trace.ts";
import type { Confine, Workspaces } from "./workspaces.ts";

/** Stores specs and messages whole, including secrets, in the run directory with mode 0600. The log has them masked. */
export interface SpecFiles {
  save(workerId: string, spec: WorkerSpec): Promise<void>;
  load(workerId: string): Promise<WorkerSpec>;
  /**
   * Stores the full text of a message that the log has masked. `loadMessage` gives undefined if it is not kept (any more).
   */
  saveMessage(workerId: string, messageId: string, text: string): Promise<void>;
  loadMessage(workerId: string, messageId: string): Promise<string | undefined>;
  dropMessage(workerId: string, messageId: string): Promise<void>;
  /** Writes the scripts of a launch into `dir`; those of an earlier launch are replaced. */
  saveScripts(dir: string, scripts: Readonly<Record<string, string>>): Promise<void>;
  /** The text of a file that an agent left in `dir`; undefined if there is none. At most SMALL_FILE_MAX_BYTES. */
  left(dir: string, name: string): Promise<string | undefined>;
  /** The size in bytes of everything that is kept of a worker; 0 if nothing is. */
  size(workerId: string): Promise<number>;
  /** Removes everything that is kept of a worker. */
  remove(workerId: string): Promise<void>;
}

/** A fully decided launch, which `spawn --dry-run` shows and `launch` carries out. */
export interface PreparedLaunch {
  readonly plan: LaunchPlan;
  readonly env: Readonly<Record<string, string>>;
  /** The texts of the plan's scripts, by name. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** The part of the client's environment that a later incarnation needs too. */
  readonly client_env: Readonly<Record<string, string>>;
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[];
}

/** Checks of the outside world for a worker's readiness. */
export interface Probe {
  fileExists(cwd: string, path: string): Promise<boolean>;
  /** `path` is absolute. */
  isDirectory(path: string): Promise<boolean>;
  /** The real path, without links, of a directory that exists. */
  realPath?(path: string): Promise<string>;
  /** True if a connection to 127.0.0.1 succeeds. */
  portAccepts(port: number): Promise<boolean>;
}

/** The rights of a node of a cluster to run workers (decision 0082). */
export interface Leases {
  /** Whether this right holds now. */
  holds(placed: PlacedRight): boolean;
  /**
   * Takes a session for a placed worker, in the place of the one that it had; for another worker it only looks. The answer is the
   * placed worker that has the session. Rejects with a retryable error while that is not known.
   */
  session?(asked: SessionOfWorker): Promise<SessionHolder | undefined>;
}

export interface SessionOfWorker {
  readonly kind: string;
  readonly session_id: string;
  /** Undefined for a worker that is not placed, and for one that the agent of a placed worker started. */
  readonly placed: PlacedRight | undefined;
}

/** A placed worker by its name. */
export interface SessionHolder {
  readonly worker: string;
  readonly node: string | null;
}

/** The budgets of placed workers and of their files, which a cluster leases in portions. Each call rejects while it cannot be asked. */
export interface Budgets {
  /** More of what a worker may spend here; as much as is left. */
  take(asked: AskedPortion): Promise<GrantedPortion>;
  /** A person grants more to all machines. */
  raise(asked: PortionHolder & { readonly bounds: Budget }): Promise<void>;
  /** The worker spends no more here, and has spent this. */
  settle(asked: PortionHolder & Pick<AskedPortion, "budget" | "spent">): Promise<void>;
  /** A person ends all who spend from it, on all machines, until somebody grants more. */
  stop(asked: PortionHolder & { readonly bounds: Budget }): Promise<void>;
}

/** `holder`: the worker's id in the log of its machine, or the life of a tree there. */
export interface PortionHolder {
  readonly name: BudgetName;
  readonly holder: string;
}

/** The budget of a placed worker; or that of a file, which several machines spend at once. */
export type BudgetName = { readonly worker: string } | { readonly tree: string };

export interface AskedPortion extends PortionHolder {
  /** The bounds, where the cluster does not know the budget yet. */
  readonly budget: Budget;
  /** All that it wants to be granted here, with what it has: the same question again gets no more. */
  readonly wished: Budget;
  readonly spent: SpentAmounts;
  /** Bounds that this machine has found spent, so that all others act on it too. */
  readonly found?: readonly (keyof Budget)[];
}

/** For each bound: the limit of the whole budget, all that was granted here, and what others have. */
export interface GrantedPortion {
  readonly limits: Budget;
  readonly granted: Budget;
  readonly elsewhere: Budget;
  /** The spending of others as they say it; it may be less than what they have. */
  readonly told?: Budget;
  /** Bounds that a machine has found spent, and nobody has raised since. */
  readonly found?: readonly (keyof Budget)[];
  readonly isStopped?: boolean;
  /** The same at all machines that share it. */
  readonly shared_id?: string | undefined;
}

export interface Services {
  readonly log: EventLog;
  readonly views: Views;
  /** The built-in runtime. */
  readonly spawner: RuntimeSpawner;
  /** Further runtimes, by name. */
  readonly runtimes?: ReadonlyMap<string, RuntimeSpawner> | undefined;
  /** The directory of a worker's files: the launch spec and the run directories of its incarnations. */
  workerDir(workerId: string): string;
  /** Workers whose run directories were tampered with. */
  readonly tampered?: ReadonlySet<string> | undefined;
  readonly files: SpecFiles;
  /** Stores answers that are too large for a record. Without it, they are in the log alone. */
  readonly artifacts?: Artifacts | undefined;
  readonly capture_max_bytes?: number | undefined;
  /** Estimates a cost by today's prices if the agent reports none. Without it, nothing is estimated. */
  readonly estimate?: ((one: ModelUsage) => ModelUsage) | undefined;
  /** Makes worktrees for workers that ask for one. */
  readonly workspaces?: Workspaces | undefined;
  /** Makes sandboxes. Without it, a spec with a sandbox is refused. */
  readonly confine?: Confine | undefined;
  readonly machine: Machine;
  /** Without it, no worker of a cluster starts. */
  readonly leases?: Leases | undefined;
  /** Without it, the budget of a placed worker is one of this machine alone. */
  readonly budgets?: Budgets | undefined;
  /** Free bytes on the disk of the state directory, asked on each tick; undefined if unknown. */
  readonly diskFreeBytes?: () => number | undefined;
  readonly boot_id: string;
  readonly probe: Probe;
  /** Called with every recorded decision. */
  readonly trace?: Trace | undefined;
  readonly random: () => number;
  /** The machine's time zone (IANA). */
  readonly zone: string;
  /** How many workers may live at once; default WORKERS_LIVE_MAX. */
  readonly workers_max?: number;
  adapterFor(kind: string): AgentAdapter | undefined;
  prepare(
    adapter: AgentAdapter,
    spec: WorkerSpec,
    incarnation: number,
    session: string | undefined,
    worker_id: string,
    interrupted?: boolean,
  ): Effect.Effect<PreparedLaunch, HoldfastError>;
  /** The skills that a worker may run: told to a runtime whose runs ask the daemon for them. */
  readonly toolsOf?: ((spec: WorkerSpec) => SkillRights) | undefined;
  /** Called at the end of each tick. */
  readonly onTick?: (() => void) | undefined;
  /** Contains and reports errors thrown in places that must not throw. */
  readonly defects: Defects;
  /** Writes one line for the operator about an internal failure, without any text of an agent. */
  report(message: string, cause?: unknown): void;
}
