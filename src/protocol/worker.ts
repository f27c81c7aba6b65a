/** A worker's specification and the words for its life (architecture §1, §3). */
import * as z from "zod";
import { isBranchName } from "../base/branch-name.ts";
import {
  APPROVAL_WITHIN_DEFAULT_MS,
  BACKOFF_MAX_DEFAULT_MS,
  BACKOFF_MIN_DEFAULT_MS,
  CPUS_MAX,
  CPUS_MIN,
  DEPTH_MAX,
  DURATION_MAX_MS,
  GRACE_DEFAULT_MS,
  HEARTBEAT_DEFAULT_MS,
  MEMORY_LIMIT_MIN_BYTES,
  NAME_MAX_BYTES,
  OUTPUT_QUOTA_DEFAULT_BYTES,
  OUTPUT_QUOTA_MAX_BYTES,
  PATH_MAX_BYTES,
  PIDS_MAX,
  PROMPT_MAX_BYTES,
  READY_WITHIN_DEFAULT_MS,
  RESTART_PERIOD_DEFAULT_MS,
  RESTARTS_DEFAULT,
  RESTARTS_MAX,
  SANDBOX_WRITABLE_MAX,
  STALL_DEFAULT_MS,
  TIMEOUT_DEFAULT_MS,
  TOOL_TIMEOUT_DEFAULT_MS,
  WORKERS_LIVE_MAX,
} from "../base/limits.ts";
import { AgentKind } from "./agent-event.ts";
import { Permission, PermissionRules } from "./permission.ts";

/** OTP's restart types (supervisor.erl): always, only after an abnormal end, never. */
export const RestartPolicy = z.enum(["permanent", "transient", "temporary"]);
export type RestartPolicy = z.infer<typeof RestartPolicy>;

/** States of the worker machine (architecture §3). */
export const WorkerState = z.enum([
  "pending",
  "starting",
  "ready",
  "running",
  "waiting",
  "stopping",
  "backing_off",
  "parked",
  "lost",
  "completed",
  "failed",
  "cancelled",
]);
export type WorkerState = z.infer<typeof WorkerState>;

/** Statuses on the wire: protocol-v1 notes 2.6. A projection of the state. */
export const WorkerStatus = z.enum([
  "pending",
  "starting",
  "running",
  "stopping",
  "completed",
  "failed",
  "cancelled",
]);
export type WorkerStatus = z.infer<typeof WorkerStatus>;

/** Ended for good: only a person (or a program) starts it again by name. */
export const isEnded = (state: WorkerState): boolean =>
  state === "completed" || state === "failed" || state === "cancelled" || state === "parked";

const duration = z.int().min(0).max(DURATION_MAX_MS);

/** The budget of a worker, all that its agent spawns, and theirs together; for a supervisor, of all that run below it. */
export const Budget = z.strictObject({
  usd: z.number().positive().optional(),
  tokens: z.int().positive().optional(),
  turns: z.int().positive().optional(),
  wall_ms: duration.optional(),
  restarts: z.int().positive().optional(),
  output_bytes: z.int().positive().optional(),
});
export type Budget = z.infer<typeof Budget>;
/** The step once more than that is spent: everybody is paused and somebody is asked, or everybody is stopped. */
export const OnBreach = z.enum(["ask", "stop"]);
export type OnBreach = z.infer<typeof OnBreach>;

/** The fate of a turn that was open when its agent ended by itself: its session goes on, somebody is asked first, or the worker ends. */
export const OnInterrupted = z.enum(["continue", "ask", "never"]);
export type OnInterrupted = z.infer<typeof OnInterrupted>;

/** The fate of a worker that failed in a way that no restart can mend (`restart: never` of the error catalogue). */
export const OnUnfixable = z.enum(["end", "restart"]);
export type OnUnfixable = z.infer<typeof OnUnfixable>;

/** The resources of one run, with all that it starts. Held by its cgroup, so only where one is delegated to the daemon. */
export const RunLimits = z.strictObject({
  memory_bytes: z.int().min(MEMORY_LIMIT_MIN_BYTES).optional(),
  pids: z.int().min(1).max(PIDS_MAX).optional(),
  /** In CPUs: 1.5 is one and a half of them. */
  cpu: z.number().min(CPUS_MIN).max(CPUS_MAX).optional(),
});
export type RunLimits = z.infer<typeof RunLimits>;

/** The rank among those that wait for their start; by arrival within one (weblisk notes, queue). */
export const Priority = z.enum(["critical", "high", "normal", "low", "background"]);
export type Priority = z.infer<typeof Priority>;

/** A git worktree of the worker's own, made from the repository of its cwd before its first start and kept after its end. */
const WorktreeSpec = z.strictObject({
  /** A branch that is not there yet; without it `holdfast/<name>-<end of the id>`. */
  branch: z
    .string()
    .refine(isBranchName, "a branch has letters, digits and . _ / + @ -, and starts with a letter or digit")
    .optional(),
});

/** The system is read-only for its agent, but for its workspace; it sees no process but its own. A limit that cannot be held is refused. */
export const SandboxSpec = z.strictObject({
  /** The machine's network, or none. Without it: `none` for a command, `host` for an agent, which has its provider to talk to. */
  net: z.enum(["none", "host"]).optional(),
  /** Absolute paths of directories that it may write to as well. */
  writable: z
    .array(z.string().startsWith("/", "a writable directory is an absolute path"))
    .max(SANDBOX_WRITABLE_MAX)
    .default([]),
});
export type SandboxSpec = z.infer<typeof SandboxSpec>;

const SEGMENT = "[A-Za-z0-9][A-Za-z0-9._-]*";
/** A worker of a file is called by its path, `crew/fixer`. */
const WORKER_NAME = new RegExp(`^${SEGMENT}(/${SEGMENT})*$`);

/**
 * When a child counts as started, so that the next one is (compare docker compose, `depends_on: condition`). One condition;
 * without any it is ready as soon as its agent runs.
 */
export const Ready = z
  .strictObject({
    /** A line of its output that matches this regular expression. */
    log: z.string().min(1).max(1024).optional(),
    /** A file that exists; relative to its cwd. */
    file: z.string().min(1).optional(),
    /** A TCP port of 127.0.0.1 that accepts. */
    port: z.int().min(1).max(65_535).optional(),
    /** Its first AgentEvent. */
    first_event: z.literal(true).optional(),
    /** It has run for so long. */
    healthy_for_ms: duration.optional(),
    within_ms: duration.default(READY_WITHIN_DEFAULT_MS),
  })
  .refine(
    ({ within_ms: _, ...conditions }) =>
      Object.values(conditions).filter((one) => one !== undefined).length === 1,
    "ready has exactly one of log, file, port, first_event and healthy_for",
  );
export type Ready = z.infer<typeof Ready>;

/** All that `spawn` takes, checked and with its defaults. Units are in the names. */
export const WorkerSpec = z.strictObject({
  kind: AgentKind,
  name: z
    .string()
    .max(PATH_MAX_BYTES)
    .regex(WORKER_NAME, "a name has letters, digits, '.', '_' and '-', and starts with a letter or digit")
    .optional(),
  labels: z.record(z.string().max(NAME_MAX_BYTES), z.string().max(256)).default({}),
  prompt: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= PROMPT_MAX_BYTES, "the prompt is over 1 MB")
    .optional(),
  /** Program and arguments of kind `command`; extra arguments of the other kinds. */
  argv: z.array(z.string()).default([]),
  /** Absolute directory in which the agent runs: the client's own, unless asked otherwise. */
  cwd: z.string().min(1),
  /** It runs in the same directory of a worktree of its own instead. */
  worktree: WorktreeSpec.optional(),
  /** Without it, it may do whatever its user may. */
  sandbox: SandboxSpec.optional(),
  /** Variables of --env: a value, or a reference `@env:NAME` (daemon's side: the client's at spawn) or `@file:PATH`. */
  env: z.record(z.string(), z.string()).default({}),
  /** The client's variables that may reach the child (environment.ts decides which). */
  client_env: z.record(z.string(), z.string()).default({}),
  inherit_env: z.array(z.string()).default([]),
  model: z.string().min(1).max(128).optional(),
  session: z.string().min(1).optional(),
  fork: z.boolean().default(false),
  /** Keep stdin open for `send` (kind command). */
  interactive: z.boolean().default(false),
  /** The rights of its agent without being asked about; `permission_rules` say more of single tools. */
  permission: Permission.default("deny"),
  permission_rules: PermissionRules.default([]),
  /** How long a request for permission waits for a person (0 is for ever), and what becomes of it then. */
  approval_within_ms: duration.default(APPROVAL_WITHIN_DEFAULT_MS),
  approval_default: z.enum(["deny", "allow"]).default("deny"),
  ext: z.record(z.string(), z.json()).default({}),
  restart: RestartPolicy,
  max_restarts: z.int().min(0).max(RESTARTS_MAX).default(RESTARTS_DEFAULT),
  restart_period_ms: duration.default(RESTART_PERIOD_DEFAULT_MS),
  /** Such a worker ends at once, whatever `restart` says; or its policy decides as of any other failure. */
  on_unfixable: OnUnfixable.default("end"),
  backoff_min_ms: duration.default(BACKOFF_MIN_DEFAULT_MS),
  backoff_max_ms: duration.default(BACKOFF_MAX_DEFAULT_MS),
  grace_ms: duration.default(GRACE_DEFAULT_MS),
  /** Wall clock of one incarnation; 0 is none. */
  timeout_ms: duration.default(TIMEOUT_DEFAULT_MS),
  /** No record for so long while it runs means stuck; 0 is never. */
  stall_ms: duration.default(STALL_DEFAULT_MS),
  /** The longest call of a tool; while one is in flight only this applies, not `stall_ms`. 0 is none. */
  tool_timeout_ms: duration.default(TOOL_TIMEOUT_DEFAULT_MS),
  heartbeat_ms: duration.default(HEARTBEAT_DEFAULT_MS),
  /** Output of one incarnation on the disk that is not ingested, or that this machine cannot let go of; 0 is none. */
  output_quota_bytes: z.int().min(0).max(OUTPUT_QUOTA_MAX_BYTES).default(OUTPUT_QUOTA_DEFAULT_BYTES),
  /** Beyond it, it is ended; or it is paused until the rest is read, and below the floor of free disk, too. */
  on_output_quota: z.enum(["fail", "pause"]).default("fail"),
  budget: Budget.default({}),
  on_breach: OnBreach.default("ask"),
  /** Without it somebody is asked where a tool that does not only read was open, and the session goes on where none was. */
  on_interrupted: OnInterrupted.optional(),
  /** A conversation that has waited so long for a message is stopped, and started again by the next one; 0 is never. */
  passivate_ms: duration.default(0),
  priority: Priority.default("normal"),
  /** For what its agent spawns, and what those spawn; only tighter than what holds for itself. Agents above one, counted from the top. */
  max_depth: z.int().min(0).max(DEPTH_MAX).optional(),
  /** The number of those that hold a slot at once. */
  max_concurrency: z.int().min(0).max(WORKERS_LIVE_MAX).optional(),
  /** OTP's shutdown of a child: TERM and `grace_ms`, KILL at once, or TERM and as long as it takes. */
  shutdown: z.enum(["grace", "brutal_kill", "infinity"]).default("grace"),
  /** The fate of the agent when the daemon dies and no next one takes over in time. */
  on_supervisor_death: z.enum(["survive", "die"]).default("survive"),
  limits: RunLimits.default({}),
  /** OTP's significant: its end may end its supervisor (auto_shutdown). */
  significant: z.boolean().default(false),
  ready: Ready.optional(),
  supervisor: z.string().default("root"),
  /** The worker whose agent asked for this one (its marker), if any. */
  parent: z.string().optional(),
});
export type WorkerSpec = z.infer<typeof WorkerSpec>;
export type WorkerSpecInput = z.input<typeof WorkerSpec>;
