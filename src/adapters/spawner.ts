/**
 * `RuntimeSpawner`, the port of the runtime side (runtime-architecture.txt, Stable contracts): it starts runs, reports how
 * they end, and ends them. It executes work and owns no truth: the log says what is, and the port is asked to reconcile.
 * `process/` implements it with processes of this machine, tests implement it in memory, and a program may bring its own.
 */
import type { RecordedProcesses, RunExit, RunId } from "../protocol/incarnation.ts";
import type { ProcessIdentity } from "../protocol/records.ts";
import type { ProfileName } from "../protocol/words.ts";
import type { RunLimits } from "../protocol/worker.ts";
import type { SpoolName, StdinPlan } from "./adapter.ts";
import type { MachineRuntime, RunProcesses } from "./posix.ts";
import type { Source } from "./source.ts";

export type { RunId };

export interface LaunchRequest extends RunId {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child, except what the runtime adds to find it again. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: StdinPlan;
  /** Limits for everything in the run. A limit that the runtime cannot enforce is refused. */
  readonly limits?: RunLimits;
  /** The program only watches over the agent in a sandbox, so signals that ask for an end bypass it. */
  readonly isMonitor?: boolean;
  /** The program is `podman run`, whose container has to be removed with the run. */
  readonly isContainer?: boolean;
  /**
   * Absolute paths of directories that its CLI may leave behind empty. The sweep removes those that did not
   * exist before.
   */
  readonly litter?: readonly string[];
  /** The litter directories that were made for this run. */
  readonly made?: readonly string[];
  /** The agent dies with its supervisor: TERM, then KILL after the grace. Without this it lives on. */
  readonly lifeline?: { readonly grace_ms: number };
  /** The worker whose agent asked for this one. Given to runtimes beside the built-in one, as `tools` is. */
  readonly parent?: string | undefined;
  /** The skills that it may run over the daemon's socket. The daemon itself holds it to them. */
  readonly tools?: SkillRights | undefined;
}

export interface SkillRights {
  readonly profile: ProfileName;
  /** Skills, or `NAMESPACE/*`: named by its own profile and by those of all workers above it. */
  readonly allowed: readonly string[];
  /** The time of a run of a skill that names none. */
  readonly timeout_ms: number;
}

/** A signal name of signal(7). Node's own type would make users of our declarations install Node's types. */
type SignalName = `SIG${string}`;

/**
 * The receivers of a signal: pids of this machine, or `run` for a run that is no process of it. No pids: nothing was left to
 * receive it.
 */
export type SignalReport = readonly number[] | "run";

export interface Run extends RunId {
  /** The runtime's own name for the run, opaque. It is recorded, and `observe` gets it back. */
  readonly ref?: string | undefined;
  /** Resolves once, with the exit of this incarnation. Never rejects. */
  readonly exited: Promise<RunExit>;
  /** Called whenever there may be more output (spurious calls are allowed), and once at the exit. */
  onOutput(listener: () => void): void;
  /** The output. It stays readable after the exit. */
  source(stream: SpoolName): Source;
  /**
   * The state by a look at the run itself. `stopped`: it is paused; `zombie`: it has ended, and nobody has noted its exit;
   * `unknown`: the runtime cannot say now, and the heartbeat ages.
   */
  process(): "running" | "stopped" | "zombie" | "dead" | "unknown";
  /** Asks for an end (TERM, INT) or passes any other signal on. A paused run goes on, so that it can act on the signal. */
  signal(signal: SignalName): Promise<SignalReport>;
  /** Ends the run at once. */
  kill(): Promise<SignalReport>;
  /** Stops everything in the run until `unpause`. Idempotent. Both are absent in a runtime without the ability `pause`. */
  pause?(): Promise<SignalReport>;
  unpause?(): Promise<SignalReport>;
  /** The open stdin of an agent that converses; absent in a runtime without the ability `input`. */
  readonly input?: RunInput | undefined;
  /** Present if the run is a process of this machine. */
  readonly posix?: RunProcesses | undefined;
  /** Releases what watches the run; the run and its output stay. */
  dispose(): void;
}

/** A durable input: a message that was begun is found again after a crash. */
export interface RunInput {
  /**
   * `stdin_start` is the length of an open input at the launch, `stdinBytes` its length now. A length that differs from the
   * log's reveals a torn write.
   */
  readonly stdin_start: number;
  stdinBytes(): number;
  /** The bytes of an open input from `offset` on. They show which message was begun. */
  stdinFrom(offset: number): Uint8Array;
  /** Append to an open input; resolves when the bytes are kept for good. */
  write(bytes: string | Uint8Array): Promise<void>;
  /**
   * The end of an open input once the agent has read all of it. The closing is durable from the call on, also for
   * later daemons.
   */
  closeStdin(): Promise<void>;
  isStdinClosed(): boolean;
}

export interface ObserveRequest extends RunId {
  /** Absent if the last daemon died before it recorded them, and for a run that is no process of this machine. */
  readonly processes?: RecordedProcesses | undefined;
  /** The run's `ref`, if it was recorded. */
  readonly ref?: string | undefined;
}

/** The state of a recorded incarnation at boot, by a look at the run itself. */
export type ObservedRun =
  | { readonly kind: "running"; readonly run: Run }
  /** The same exit at every look. */
  | { readonly kind: "finished"; readonly exit: RunExit; readonly run: Run }
  /** It is over, and nobody will ever know how it ended. */
  | { readonly kind: "lost"; readonly run: Run }
  /** It never began, and can no longer begin. */
  | { readonly kind: "never_started" };

/** A run that has something alive. */
export interface LivingRun extends RunId {
  /** Its processes; empty for a run that is no process of this machine. */
  readonly pids: readonly number[];
}

/** A thing that a spec may ask for and that not every runtime can do. */
export type RuntimeAbility = "pause" | "input" | "limits" | "sandbox" | "lifeline";

/** Why a runtime cannot be used now. */
export interface RuntimeTrouble {
  /** RFC 3339. */
  readonly since: string;
  /** A sentence. */
  readonly message: string;
  /** The next step. */
  readonly suggestion: string;
}

export interface RuntimeSpawner {
  /** The kind of runtime, as records and lists name it: `subprocess` for processes of this machine. */
  readonly backend_kind: string;
  /** A spec that asks for anything else is refused. */
  readonly abilities: ReadonlySet<RuntimeAbility>;
  /**
   * Finds mistakes that `launch` would certainly refuse (program, cwd, argument sizes) without starting
   * anything. Rejects with the same errors.
   */
  check(request: Pick<LaunchRequest, "argv" | "cwd" | "env" | "limits">): Promise<void>;
  /**
   * Resolves when the agent has started. Rejects with a typed HoldfastError, and nothing runs then. A second launch of the
   * same id starts nothing and rejects.
   */
  launch(request: LaunchRequest): Promise<Run>;
  /** Finds a recorded incarnation again after a restart of the daemon. */
  observe(id: ObserveRequest): Promise<ObservedRun>;
  /** Every run of this store that lives, supervised or not. */
  living(): Promise<readonly LivingRun[]>;
  /** Ends a run that no supervisor has. Names the processes that are left. */
  end(id: RunId): Promise<{ readonly survivors: readonly number[] }>;
  /**
   * The output of a run that may have ended, for who wants to see it raw; undefined if it is not kept. Without this method
   * the files of its run directory are read.
   */
  output?(id: RunId, stream: SpoolName): Source | undefined;
  /** Undefined while it can be used. */
  trouble?(): RuntimeTrouble | undefined;
  /** The process in which its runs live, if they live in one that is not the daemon's: who calls from there is one of them. */
  host?(): ProcessIdentity | undefined;
  /** Present if the runs are processes of this machine. */
  readonly posix?: MachineRuntime | undefined;
  /** Lets go of all runs; they live on. */
  close(): Promise<void>;
}
