/** The arguments of the library's calls (`holdfast`); units are in the names. */
import type { AgentAdapter } from "../adapters/adapter.ts";

export interface OpenOptions {
  /**
   * The directory of the log and the runs; a relative path is taken from the working directory. Default: as the `agent` command,
   * `$HOLDFAST_HOME`, else `$XDG_STATE_HOME/holdfast`, else `~/.local/state/holdfast`. One process at a time owns it.
   */
  readonly stateDir?: string;
  /** Bounds of the whole runtime; what is not given has its default (docs/decisions/0009). */
  readonly limits?: {
    /** Agents that hold a slot at once. Default: 10,000. */
    readonly running_max?: number;
    /** Agents above an agent that agents have spawned. Default: 3. */
    readonly depth_max?: number;
    /** Below so much available memory nothing starts. Default: 256 MiB. */
    readonly mem_min_bytes?: number;
  };
  /** A file of prices for models whose CLI reports no cost (docs/usage.md); they come before those that are shipped. */
  readonly prices?: string;
  /**
   * Kinds of your own beside ours (docs/writing-adapters.md), at most 64. Each is tried on the cases of `conformance` that need no
   * recorded output; one that breaks a promise, or has the name of another kind, refuses the whole: INVALID_REQUEST.
   */
  readonly adapters?: readonly AgentAdapter[];
  /** Told of what goes wrong inside and fails no call, one sentence each: a store that has to be asked again, say. */
  readonly report?: (message: string, cause?: unknown) => void;
}

/** The arguments of `spawn`. Fields that end in `_ms` are milliseconds, at most 366 days. */
export interface SpawnOptions {
  /** Which program: `command` runs `argv`, the others run their agent CLI. */
  readonly kind:
    | "command"
    | "claude_code"
    | "codex"
    | "gemini_cli"
    | "opencode"
    | "copilot"
    | "acp"
    | (string & {});
  /** Unique among living workers, at most 64 characters of `A-Z a-z 0-9 . _ -`; usable wherever an id is. */
  readonly name?: string;
  /** At most 64 characters a key and 256 a value. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The task of the agent; for a `command` its stdin. At most 1 MiB. */
  readonly prompt?: string;
  /** Program and arguments of kind `command`, never shell text; more arguments for the CLI of the other kinds. */
  readonly argv?: readonly string[];
  /** The directory in which it runs. Default: the working directory of this process. */
  readonly cwd?: string;
  /** It runs in a git worktree of its own, made from the repository of `cwd`, on this new branch or on one that gets its name by itself. */
  readonly worktree?: { readonly branch?: string };
  /** Its agent may write nothing but its workspace, and sees no process but its own. A sandbox that cannot be held is refused: SANDBOX_UNAVAILABLE. */
  readonly sandbox?: {
    /** Default: `none` for a command, `host` for an agent. */
    readonly net?: "none" | "host";
    /** More directories that it may write to, absolute. */
    readonly writable?: string[];
  };
  /** Variables for it: a value, `@env:NAME` (of this process, now) or `@file:PATH` (at each start); the last two are secrets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of variables of this process for it, beyond the usual ones (PATH, HOME, LANG, …) and its kind's own. */
  readonly inherit_env?: readonly string[];
  readonly model?: string;
  /** A conversation of the provider to go on with. */
  readonly session?: string;
  /** Go on with `session` in a copy of it. Default: false. */
  readonly fork?: boolean;
  /** Keep stdin open for `send` and `ask` (kinds `claude_code`, `codex`, `acp` and `command`). Default: false. */
  readonly interactive?: boolean;
  /** The rights of the agent without asking. Default: `deny`. */
  readonly permission?: "ask" | "deny" | "allow";
  /** Rules for single tools, by name and argument: `deny` wins over `ask`, `ask` over `allow`. */
  readonly permission_rules?: readonly {
    readonly tool: string;
    readonly argument?: string;
    readonly action: "ask" | "deny" | "allow";
  }[];
  /** How long a request for permission waits for a person, and what becomes of it then. */
  readonly approval_within_ms?: number;
  readonly approval_default?: "deny" | "allow";
  /** Options of one kind only, as `agent capabilities` names them. */
  readonly ext?: Readonly<Record<string, Json>>;
  /** OTP's restart types. Default: `temporary` for a command, `transient` for an agent. */
  readonly restart?: "permanent" | "transient" | "temporary";
  /** More restarts than this inside `restart_period_ms`, and the worker fails for good. Default: 3. */
  readonly max_restarts?: number;
  /** Default: 60,000. */
  readonly restart_period_ms?: number;
  /** Delay of the first restart; it doubles up to `backoff_max_ms`, with jitter. Default: 1,000. */
  readonly backoff_min_ms?: number;
  /** Default: 60,000. */
  readonly backoff_max_ms?: number;
  /** Between TERM and KILL when it is stopped. Default: 10,000. */
  readonly grace_ms?: number;
  /** The resources that its agent may take with all that it starts. Only where a cgroup is delegated to this process; elsewhere LIMITS_UNAVAILABLE. */
  readonly limits?: { readonly memory_bytes?: number; readonly pids?: number; readonly cpu?: number };
  /** The fate of its agent when this process dies and no other takes over within 5 s: the next one finds it, or it is ended. Default: `survive`. */
  readonly on_supervisor_death?: "survive" | "die";
  /** Wall clock of one incarnation; passing it fails the worker for good. 0 is none. Default: 1,800,000. */
  readonly timeout_ms?: number;
  /** Without a record for so long, and with no tool at work, it is stuck: somebody is asked, then its restart policy decides. 0 is never. Default: 600,000. */
  readonly stall_ms?: number;
  /** The longest call of a tool. 0 is none. Default: 0. */
  readonly tool_timeout_ms?: number;
  /** How often its process is looked at. Default: 30,000. */
  readonly heartbeat_ms?: number;
  /** For it and all that its agent spawns, over all incarnations; `on_breach` says what comes of passing it. Default: none. */
  readonly budget?: {
    readonly usd?: number;
    readonly tokens?: number;
    readonly turns?: number;
    readonly wall_ms?: number;
    readonly restarts?: number;
    readonly output_bytes?: number;
  };
  /** `ask`: all that count in the budget are paused, and somebody is asked (`answer`). `stop`: they fail for good. Default: `ask`. */
  readonly on_breach?: "ask" | "stop";
  /** For a conversation: its agent is ended once it has waited so long for a message, and started again by the next one. Default: 0, never. */
  readonly passivate_ms?: number;
  /**
   * When it fails in a way that no restart can mend: no valid key, a request that the provider rejects, too long an answer. `end`: it
   * ends at once, whatever its policy. `restart`: its policy decides. Default: `end`.
   */
  readonly on_unfixable?: "end" | "restart";
  /** When its agent dies in the middle of a turn. Default: ask where a tool was open that does not only read, else continue. */
  readonly on_interrupted?: "continue" | "ask" | "never";
  /** Output of one incarnation on the disk that is not in the log yet; more of it fails the worker for good. 0 is none. Default: 1 GiB. */
  readonly output_quota_bytes?: number;
  /** Beyond it, the worker fails; or its agent stands still until the rest is in the log, and while the disk is nearly full. Default: `fail`. */
  readonly on_output_quota?: "fail" | "pause";
  /** Its rank among those that wait for a slot or for memory. Default: `normal`. */
  readonly priority?: "critical" | "high" | "normal" | "low" | "background";
  /** For what its agent spawns: how many agents may be above one. Only tighter than what holds for itself. */
  readonly max_depth?: number;
  /** For what its agent spawns, and what those do: how many hold a slot at once. */
  readonly max_concurrency?: number;
  /** Path of a `dynamic` supervisor of a tree, whose child it is then. Default: the root. */
  readonly supervisor?: string;
  /** When it counts as started. One condition: a line of its output that matches, a file that is there, a port that accepts, its first event, or so long a life. */
  readonly ready?: {
    readonly log?: string;
    readonly file?: string;
    readonly port?: number;
    readonly first_event?: true;
    readonly healthy_for_ms?: number;
    /** How long it may take. Default: 60,000. */
    readonly within_ms?: number;
  };
  /** How it is stopped: TERM, `grace_ms`, KILL; KILL at once; or TERM and as long as it takes. Default: `grace`. */
  readonly shutdown?: "grace" | "brutal_kill" | "infinity";
  /** Its end may end its supervisor (`auto_shutdown`). Default: false. */
  readonly significant?: boolean;
  /** At most 256 characters. A spawn with a key that was used before makes nothing and answers with that worker, effect `noop`. */
  readonly idempotency_key?: string;
  /** Check everything and start nothing; the reply has the `plan`. Default: false. */
  readonly dry_run?: boolean;
}

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export interface WatchOptions {
  /** Records after this seq, or after a cursor (`Runtime.cursor`). Without it a watch of one worker begins at its first record, of all at the live tail. */
  readonly from?: number | string;
  /** Go on after the worker has ended. Default: false for one worker, true for all. */
  readonly follow?: boolean;
}

export interface RawOptions {
  /** Default: `stdout`. */
  readonly stream?: "stdout" | "stderr";
  /** The first byte that is read, of the newest incarnation. Default: 0. */
  readonly offset?: number;
  /** At most so many bytes in all. Default: no bound. */
  readonly max_bytes?: number;
  /** Go on until the worker has ended, also with what its later incarnations write. Default: false, what is there now. */
  readonly follow?: boolean;
}

export interface RawSlice {
  /** The incarnation that has written it. */
  readonly incarnation: number;
  /** The place of its first byte in the stream. */
  readonly offset: number;
  /** At most 256 KiB, as they were written: no secret in them is masked. Empty only where `released` bytes are the last. */
  readonly bytes: Uint8Array;
  /** Bytes just before these that are not kept as bytes any more; their text is in the log. */
  readonly released: number;
}

/** The `answers` that a `worker_question` may offer. */
export type Answer = "wait" | "restart" | "kill" | "continue" | "fresh" | "stop";

export interface ResumeOptions {
  /** The next task of the agent; an interactive one may wait for its first message instead. */
  readonly prompt?: string;
  /** Branch the session: the old one stays as it is. Default: false. */
  readonly fork?: boolean;
  /** Instead of the worker's own, which a fork does not take over. */
  readonly name?: string;
  /** Default: as the worker was. */
  readonly interactive?: boolean;
  /** Only say what would be started. Default: false. */
  readonly dry_run?: boolean;
  /** A repeat with the same key is the first worker. */
  readonly idempotency_key?: string;
}

export interface McpOptions {
  /** The directory in which its CLI runs. Default: the working directory of this process. */
  readonly cwd?: string;
  /** Variables for it: a value, `@env:NAME` or `@file:PATH`. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long it may take; 0 fails at once. Default: 60,000. */
  readonly timeout_ms?: number;
}

export interface KillOptions {
  /** Between the signal and KILL. Default: the worker's own `grace_ms`. */
  readonly grace_ms?: number;
  /** Default: SIGTERM. */
  readonly signal?: string;
  /** Kept in its records. */
  readonly reason?: string;
  /** Only say what would be ended. Default: false. */
  readonly dry_run?: boolean;
}
