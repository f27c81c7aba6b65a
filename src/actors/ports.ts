/** The ports of the supervisor's shell. A test hands in others; nothing below reads a clock or a file by itself. */
import type { Effect } from "effect";
import type { AgentAdapter, LaunchPlan } from "../adapters/adapter.ts";
import type { Machine } from "../adapters/process/machine.ts";
import type { RuntimeSpawner } from "../adapters/spawner.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { ModelUsage } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { Artifacts } from "../store/cas/store.ts";
import type { EventLog } from "../store/event-log.ts";
import type { Views } from "../store/views.ts";
import type { Defects } from "./defects.ts";
import type { Trace } from "./trace.ts";
import type { Confine, Workspaces } from "./workspaces.ts";

/** The place where a spec, or a message, is kept whole, secrets and all: the run directory, 0600. The log has it masked. */
export interface SpecFiles {
  save(workerId: string, spec: WorkerSpec): Promise<void>;
  load(workerId: string): Promise<WorkerSpec>;
  /** A message that the log has masked, as it is to be read by the agent; undefined where it is not kept (any more). */
  saveMessage(workerId: string, messageId: string, text: string): Promise<void>;
  loadMessage(workerId: string, messageId: string): Promise<string | undefined>;
  dropMessage(workerId: string, messageId: string): Promise<void>;
}

/** A launch, fully decided: what `spawn --dry-run` shows and what `launch` does. */
export interface PreparedLaunch {
  readonly plan: LaunchPlan;
  readonly env: Readonly<Record<string, string>>;
  /** The part of the client's environment that a later incarnation needs too. */
  readonly client_env: Readonly<Record<string, string>>;
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[];
}

/** The world outside, where a worker's readiness is looked for. */
export interface Probe {
  fileExists(cwd: string, path: string): Promise<boolean>;
  /** Absolute. */
  isDirectory(path: string): Promise<boolean>;
  /** The real path of one that is there: without links. */
  realPath?(path: string): Promise<string>;
  /** On 127.0.0.1. */
  portAccepts(port: number): Promise<boolean>;
}

export interface Services {
  readonly log: EventLog;
  readonly views: Views;
  readonly spawner: RuntimeSpawner;
  /** Workers in whose run directories something was found. */
  readonly tampered?: ReadonlySet<string> | undefined;
  readonly files: SpecFiles;
  /** For answers that are too large for a record; without it they are in the log alone. */
  readonly artifacts?: Artifacts | undefined;
  readonly capture_max_bytes?: number | undefined;
  /** The price of a model's tokens today, where the agent reports no cost; without it nothing is estimated. */
  readonly estimate?: ((one: ModelUsage) => ModelUsage) | undefined;
  /** For who asks for a worktree of its own. */
  readonly workspaces?: Workspaces | undefined;
  /** For who asks for a sandbox; without it that is refused. */
  readonly confine?: Confine | undefined;
  readonly machine: Machine;
  /** Free on the disk of the state directory; asked on each tick. */
  readonly diskFreeBytes?: () => number | undefined;
  readonly boot_id: string;
  readonly probe: Probe;
  /** Told of every decision that is on record. */
  readonly trace?: Trace | undefined;
  readonly random: () => number;
  /** The machine's time zone (IANA). */
  readonly zone: string;
  /** How many workers may live at once; WORKERS_LIVE_MAX unless told otherwise. */
  readonly workers_max?: number;
  adapterFor(kind: string): AgentAdapter | undefined;
  prepare(
    adapter: AgentAdapter,
    spec: WorkerSpec,
    incarnation: number,
    session: string | undefined,
    worker_id: string,
  ): Effect.Effect<PreparedLaunch, HoldfastError>;
  /** Told that everything has been looked at. */
  readonly onTick?: (() => void) | undefined;
  /** Told of what was thrown where nothing may be. */
  readonly defects: Defects;
  /** One line for the operator: what went wrong inside, without any agent's text. */
  report(message: string, cause?: unknown): void;
}
