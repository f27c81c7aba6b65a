/** The arguments of the library's calls (`holdfast`); names end in units. */

import type { AgentAdapter } from "../adapters/adapter.ts";
import type { KindName, PROGRAM_KIND } from "../adapters/kinds.ts";
import type { RuntimeSpawner } from "../adapters/spawner.ts";
import type { Roles } from "../protocol/roles.ts";
import type { MissedPolicy, OverlapPolicy } from "../protocol/schedule-records.ts";
import type { SpecFields } from "../protocol/spec-fields.ts";
import type { CardLane, CompletedLane, ProfileName } from "../protocol/words.ts";
import type { WorkerSpecInput, WorkerStatus } from "../protocol/worker.ts";
import type { AbortOptions, OnApproval } from "./answers.ts";
import type { EngineOptions } from "./engine-runtime.ts";
import type { DeepReadonly, Json } from "./json.ts";

export interface OpenOptions<A extends readonly AgentAdapter[] = readonly AgentAdapter[]> {
  /**
   * The directory of the log and the runs; a relative path starts at the working directory. Default: as for the `agent`
   * command, `$HOLDFAST_HOME`, else `$XDG_STATE_HOME/holdfast`, else `~/.local/state/holdfast`. One process at a time owns it.
   */
  readonly stateDir?: string;
  /** Serves the socket of the directory for `agent` and `Runtime.connect`; only `close` or this program's end stops it. Default: false. */
  readonly serve?: boolean;
  /** Bounds of the whole runtime; missing ones have their defaults (docs/decisions/0009). */
  readonly limits?: {
    /** Agents that hold a slot at once. Default: 10,000. */
    readonly running_max?: number;
    /** Agents above an agent that another agent spawned. Default: 3. */
    readonly depth_max?: number;
    /** No agent starts while less memory is available. Default: 256 MiB. */
    readonly mem_min_bytes?: number;
  };
  /** A file of prices for models whose CLI reports no cost (docs/explanation/usage.md); its prices take precedence over the built-in ones. */
  readonly prices?: string;
  /** Skills (docs/how-to/run-skills.md), as under `skills` in config.yaml. */
  readonly skills?: {
    /** Absolute directories whose folders are skills. */
    readonly directories?: readonly string[];
    /** The skills that agents of a profile may run, in the place of its own list. An empty list allows nothing. */
    readonly profiles?: { readonly [K in ProfileName]?: readonly string[] };
    /** Hosts, as HOST:PORT or *.DOMAIN:PORT, to which skills that agents run may connect. */
    readonly hosts?: readonly string[];
  };
  /**
   * Your own kinds (docs/how-to/writing-adapters.md), at most 64. Each is tested with the cases of `conformance` that need
   * no recorded output. If one breaks a promise, or has the name of another kind, `open` rejects with INVALID_REQUEST.
   */
  readonly adapters?: A;
  /**
   * Runtimes beside the built-in one, by the name that `runtime` of a spawn gives (docs/how-to/another-runtime.md), or bridges
   * to them (docs/how-to/bridge.md). They are closed with the runtime.
   */
  readonly runtimes?: Readonly<Record<string, RuntimeSpawner | BridgeToRuntime>>;
  /**
   * Runs workers of kind `llm` in this program instead of in a process of their own, unless their `runtime` names another
   * (docs/explanation/engine.md). They end with the program, and go on with the next one.
   */
  readonly engine?: EngineOptions;
  /** Roles of agents for `spawnMany`, beside overseer, worker and companion, as `roles` of a config.yaml. */
  readonly roles?: Roles;
  /** Answers every request for permission that waits for a person. */
  readonly onApproval?: OnApproval;
  /** An abort ends the opening, which rejects with CANCELLED. It does nothing to an open runtime. */
  readonly signal?: AbortSignal;
  /** Called with one sentence for each internal problem that fails no call, for example a store that must be asked again. */
  readonly report?: (message: string, cause?: unknown) => void;
}

/** Those of `open` count if this program is the first; those of `connect` among them always. */
export type OpenOrConnectOptions<A extends readonly AgentAdapter[] = readonly AgentAdapter[]> = Omit<
  OpenOptions<A>,
  "serve"
>;

/** A runtime in another program, as `runtimes.NAME` in config.yaml. Its runs live on when this program ends. */
export interface BridgeToRuntime {
  readonly bridge: {
    /** Absolute path of the socket at which it listens. */
    readonly socket: string;
    /** Starts it where nothing answers at the socket: a program and its arguments. */
    readonly command?: readonly string[];
    /** Default: none. */
    readonly abilities?: readonly "pause"[];
  };
}

/** The place of a daemon, and what the program does with it. */
export interface ConnectOptions extends AbortOptions {
  /** The state directory of the daemon. Default: as for `open`. */
  readonly stateDir?: string;
  /** The daemon's socket, in the place of that of the state directory. */
  readonly socketPath?: string;
  /** The address of a daemon that serves HTTP, in the place of both; it needs a `token`. Paths are those of its machine. */
  readonly url?: string | URL;
  /** Another host, as `agent --host` takes it; `stateDir` and all paths are then those of that host. */
  readonly host?: string;
  /** A token with a name, which records then say. Default: `$HOLDFAST_TOKEN`. */
  readonly token?: string;
  /** Answers every request for permission that waits for a person. */
  readonly onApproval?: OnApproval;
  /** Called with one sentence for each problem that fails no call. */
  readonly report?: (message: string, cause?: unknown) => void;
}

/** How one run of a skill is held. */
export interface SkillRunOptions {
  /** The directory that it sees. Default: the working directory. */
  readonly workspace?: string;
  readonly timeout_ms?: number;
  /** Refuses what this profile does not name. */
  readonly profile?: ProfileName;
  /** Values of the variables that its manifest names as secrets; for a built-in skill, of all that it may read. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** The fields of a worker's spec (spec-fields.ts), except those that the library determines itself. */
type SpecOptions = {
  readonly [K in keyof SpecFields as SpecFields[K] extends { readonly isAmbient: true } ? never : K]?:
    | DeepReadonly<WorkerSpecInput[K]>
    | undefined;
};

interface WorkerOptions extends Omit<SpecOptions, "kind" | "argv"> {
  /** At most 256 characters. A spawn with a used key creates nothing and returns the first worker, with effect `noop`. */
  readonly idempotency_key?: string;
  /** Checks everything and starts nothing; the reply has the `plan`. Default: false. */
  readonly dry_run?: boolean;
}

/** A program, run as it is. */
export interface CommandSpawnOptions extends WorkerOptions {
  readonly kind: typeof PROGRAM_KIND;
  /** The program and its arguments, never shell text. */
  readonly argv: readonly string[];
}

/** An agent of one of the kinds `K`. */
export interface AgentSpawnOptions<K extends string> extends WorkerOptions {
  readonly kind: K;
  /** Further arguments of its CLI; for `acp` without a name, the program and its arguments. */
  readonly argv?: readonly string[];
}

type AgentKindName = Exclude<KindName, typeof PROGRAM_KIND>;

/**
 * The arguments of `spawn`: a worker's spec. Fields that end in `_ms` are milliseconds, at most 366 days. `cwd` defaults to
 * the working directory of this process, and `restart` to `temporary` for a command and `transient` for an agent. `K` are the
 * kinds of your own adapters.
 */
export type SpawnOptions<K extends string = never> =
  | CommandSpawnOptions
  | AgentSpawnOptions<AgentKindName | K>;

/** `Omit` for each member of a union. */
export type DistributiveOmit<T, F extends PropertyKey> = T extends unknown ? Omit<T, F> : never;

/** A job is never restarted. */
export type JobOptions<K extends string = never> = DistributiveOmit<
  SpawnOptions<K>,
  "restart" | "max_restarts" | "restart_period_ms" | "dry_run"
>;

/** A token with a name. */
export interface TokenOptions {
  /** No other living token has it. */
  readonly name: string;
  /** From now on, in milliseconds. Default: until it is revoked. */
  readonly expires_ms?: number;
}

/** A worker's spec, and when it is started. Each worker is called by the schedule's name and the time of its run. */
export type ScheduleOptions<K extends string = never> = ScheduleTimes &
  DistributiveOmit<SpawnOptions<K>, "name" | "dry_run" | "idempotency_key">;

/** When the workers of a schedule start. */
export interface ScheduleTimes {
  /** The name of the schedule, at most 47 characters; no other schedule of the runtime has it. */
  readonly name: string;
  /** Five fields as in crontab(5), six with the seconds first, or a word such as `@daily`. */
  readonly cron: string;
  /** A name of the IANA. Default: the zone of this process. */
  readonly zone?: string;
  /** If the run before goes on: skip this one, let both run, or end that one first. Default: `forbid`. */
  readonly overlap?: OverlapPolicy;
  /** For times that passed while no runtime was open: no run, one for all of them, or one each. Default: `once`. */
  readonly missed?: MissedPolicy;
  /** How many missed runs `all` makes up for, the newest ones: 1 to 100. Default: 10. */
  readonly missed_max?: number;
  /** A run that is later than this is not started any more: at least a second. Default: no bound. */
  readonly starting_deadline_ms?: number;
}

export interface NextTimesOptions {
  readonly zone?: string;
  /** RFC 3339: times after this one. Default: now. */
  readonly from?: string;
  /** 1 to 100. Default: 5. */
  readonly limit?: number;
}

export interface RawOptions extends AbortOptions {
  /** Default: `stdout`. */
  readonly stream?: "stdout" | "stderr";
  /** The first byte to read, of the newest incarnation. Default: 0. */
  readonly offset?: number;
  /** At most this many bytes in all. Default: no bound. */
  readonly max_bytes?: number;
  /** Continues until the worker has ended, through later incarnations too. Default: false, only the present bytes. */
  readonly follow?: boolean;
}

export interface RawSlice {
  /** The incarnation that wrote the bytes. */
  readonly incarnation: number;
  /** The offset of the first byte in the stream. */
  readonly offset: number;
  /** At most 256 KiB as they were written, with secrets unmasked. Empty only at the end, to report `released` bytes. */
  readonly bytes: Uint8Array;
  /** Bytes directly before these that are no longer kept raw; the log has their text. */
  readonly released: number;
}

/** A page of a list that may be long. */
export interface PageOptions {
  /** Entries of the page. Default: as many as a page may have. */
  readonly limit?: number;
  /** The `cursor` of the previous page: this page begins after it. */
  readonly cursor?: string;
}

export interface ApproveOptions {
  /** The reason, for the agent. */
  readonly message?: string;
  readonly by?: string;
}

export interface UsageOptions {
  /** `day`, `kind`, `model`, `worker` or `label:KEY`. */
  readonly by?: string;
  readonly since_ms?: number;
  readonly subtree?: boolean;
}

/** Several agents by their roles. */
export interface SpawnManyOptions {
  readonly epic_id?: string;
  readonly spawn_reason?: string;
  readonly requested_subagents: {
    readonly role: string;
    readonly task: string;
    /** Agents that may be above one that it spawns. */
    readonly local_max_depth?: number;
  }[];
  /** Resolve once all of them have ended. */
  readonly wait_for_completion?: boolean;
  /** Default: the working directory. */
  readonly cwd?: string;
  /** A repeat with the same key starts nobody. */
  readonly idempotency_key?: string;
}

export interface PruneOptions {
  readonly labels?: Record<string, string>;
  readonly statuses?: ("completed" | "failed" | "cancelled")[];
  /** Only workers that ended at least this long ago. */
  readonly ended_before_ms?: number;
  readonly limit?: number;
  readonly cursor?: string;
  /** Only say what would go. */
  readonly dry_run?: boolean;
}

export interface SearchOptions {
  /** Only records of these workers. */
  readonly workers?: string[];
  /** Only records of these types, or agent events of these kinds. */
  readonly types?: string[];
  /** Only records of this last time. */
  readonly since_ms?: number;
  /** Default: 50. */
  readonly limit?: number;
  /** As the answer before has told it. */
  readonly cursor?: string;
}

/** An item of the blackboard: at least one of title, body and data. */
export interface PostOptions {
  /** Default: `default`. */
  readonly ns?: string;
  readonly title?: string;
  readonly body?: string;
  /** For programs; at most 32 KB as JSON. */
  readonly data?: Json;
  readonly tags?: string[];
  /** Digests of artifacts, which are kept as long as the item is there. */
  readonly artifacts?: string[];
  /** Default: a day. */
  readonly ttl_ms?: number;
  /** A repeat with the same key does nothing. */
  readonly idempotency_key?: string;
}

export interface ItemsOptions extends PageOptions {
  readonly ns?: string;
  /** All of them. */
  readonly tags?: string[];
  readonly state?: "free" | "claimed";
}

export interface ClaimOptions {
  /** Without it: the oldest free item of the namespace with these tags. */
  readonly id?: string;
  readonly ns?: string;
  readonly tags?: string[];
  /** Default: 5 minutes. */
  readonly lease_ms?: number;
  /** With the token of a lease, the lease is extended. */
  readonly token?: number;
  readonly idempotency_key?: string;
}

export interface ReleaseOptions {
  readonly id: string;
  readonly token: number;
  /** The work is done: the item is gone. */
  readonly done?: boolean;
  readonly idempotency_key?: string;
}

/** A watch begins with what comes from now on, unless `from` is given; with `follow: false` it ends with the log. */
export interface BlackboardWatchOptions {
  readonly ns?: string;
  readonly from?: number | string;
  readonly follow?: boolean;
}

/** A card: what a tracker says about an issue. */
export interface CardOptions {
  /** As its tracker names it; a board has one card of an id. */
  readonly id: string | number;
  readonly title: string;
  readonly body?: string | null;
  readonly labels?: string[];
  /** Default: `normal`. */
  readonly priority?: "critical" | "high" | "normal" | "low" | "background";
}

export interface BoardOptions {
  /** Default: `default`. */
  readonly board?: string;
}

export interface CardMoveOptions extends BoardOptions {
  readonly id: string;
  /** Kept in the log. */
  readonly reason?: string;
}

export interface CardsOptions extends BoardOptions, PageOptions {
  readonly lanes?: CardLane[];
}

/** A field that is not given stays as it is. */
export interface DispatchOptions<K extends string = never> extends BoardOptions {
  /** Cards that run at once; 0 takes no more cards. Default: 1. */
  readonly slots?: number;
  /** The lane of a card whose worker has completed. Default: `Done`. */
  readonly completed_lane?: CompletedLane;
  /**
   * The worker of each card. `{id}`, `{title}`, `{body}` and `{labels}` in its prompt stand for the card's words, which otherwise
   * come after the prompt. With `worktree: {}` each card has a worktree of its own.
   */
  readonly worker?: DistributiveOmit<
    SpawnOptions<K>,
    "name" | "session" | "interactive" | "supervisor" | "idempotency_key" | "dry_run"
  >;
}

/** A watch begins with what comes from now on, unless `from` is given; with `follow: false` it ends with the log. */
export interface BoardWatchOptions extends BoardOptions {
  readonly from?: number | string;
  readonly follow?: boolean;
}

/** The `answers` that a hold may offer. */
export type Answer = "allow" | "deny" | "wait" | "restart" | "kill" | "continue" | "fresh" | "stop";

export interface ResumeOptions {
  /** The agent's next task; an interactive agent may wait for its first message instead. */
  readonly prompt?: string;
  /** Branches the session, so that the old one stays as it is. Default: false. */
  readonly fork?: boolean;
  /** Default: the worker's own name, which a fork does not take over. */
  readonly name?: string;
  /** Default: as the worker was. */
  readonly interactive?: boolean;
  /** Only reports what would be started. Default: false. */
  readonly dry_run?: boolean;
  /** A repeat with the same key returns the first worker. */
  readonly idempotency_key?: string;
}

export interface McpOptions {
  /** The directory in which the CLI runs. Default: the working directory of this process. */
  readonly cwd?: string;
  /** Variables for the CLI: a value, `@env:NAME` or `@file:PATH`. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long the CLI may run; 0 fails at once. Default: 60,000. */
  readonly timeout_ms?: number;
}

/** A worker is listed if it agrees with each of these. */
export interface ListOptions {
  /** Also workers that have ended. Default: false. */
  readonly all?: boolean;
  /** It has each of these labels with this value. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly statuses?: WorkerStatus[];
  readonly kinds?: string[];
  /** Only workers that the agents of this worker spawned, at any depth. */
  readonly below?: string;
  /** Also `resources`: the use of the machine by its processes. Default: false. */
  readonly resources?: boolean;
}

export interface KillOptions {
  /** Time between the signal and KILL. Default: the worker's own `grace_ms`. */
  readonly grace_ms?: number;
  /** Default: SIGTERM. */
  readonly signal?: string;
  /** Stored in the worker's records. */
  readonly reason?: string;
  /** Also kills everything that their agents spawned, which comes after them in the results. Default: false. */
  readonly subtree?: boolean;
  /** Only reports what would be ended. Default: false. */
  readonly dry_run?: boolean;
}

export interface RetentionOptions {
  /** Default: the age that the runtime keeps output for. */
  readonly older_than_ms?: number;
  /** Bytes that the log may have; the oldest output beyond goes. */
  readonly max_bytes?: number;
  /** Default: true; false removes without an archive. */
  readonly archive?: boolean;
  readonly dry_run?: boolean;
}
