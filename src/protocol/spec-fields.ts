/**
 * The fields of a worker's spec, each once: type, default, bounds and help. This table produces the zod schema (worker.ts),
 * the flags of spawn and their parsing, the keys of a holdfast.yaml, the options of the library, and the tables of the docs.
 * It is plain data because the client loads it: zod would double the client's start-up time.
 */
import { formatSize } from "../base/durations.ts";
import type { FlagDef, ValueType } from "../base/flag.ts";
import {
  APPROVAL_WITHIN_DEFAULT_MS,
  BACKOFF_MAX_DEFAULT_MS,
  BACKOFF_MIN_DEFAULT_MS,
  CPUS_MAX,
  CPUS_MIN,
  DEPTH_DEFAULT,
  DEPTH_MAX,
  GRACE_DEFAULT_MS,
  HEARTBEAT_DEFAULT_MS,
  MEMORY_LIMIT_MIN_BYTES,
  MODEL_MAX_CHARS,
  OUTPUT_QUOTA_DEFAULT_BYTES,
  OUTPUT_QUOTA_MAX_BYTES,
  PIDS_MAX,
  RESTART_PERIOD_DEFAULT_MS,
  RESTARTS_DEFAULT,
  RESTARTS_MAX,
  RUNTIME_NAME_MAX_CHARS,
  STALL_ASK_MAX_MS,
  STALL_DEFAULT_MS,
  STALL_WARN_MAX_MS,
  TIMEOUT_DEFAULT_MS,
  TOOL_TIMEOUT_DEFAULT_MS,
  WORKERS_LIVE_MAX,
} from "../base/limits.ts";

import { PROFILE_NAMES } from "./words.ts";

/** The types of flags that take a list. */
const RULES = { type: "string", value: "RULE", repeatable: true } as const;
const DIRECTORIES = { type: "string", value: "DIR", repeatable: true } as const;
const PAIRS = { type: "pair", value: "K=V", repeatable: true } as const;

/** The sections of the flags of spawn, in the order of help. The last one is for flags that are no field of a spec. */
export const TOPICS = ["The agent", "Place", "Permissions", "Restarts", "Limits", "This command"] as const;

/** Types that have their own schema in worker.ts. */
type PartType =
  | "kind"
  | "name"
  | "labels"
  | "prompt"
  | "texts"
  | "map"
  | "ext"
  | "worktree"
  | "sandbox"
  | "rules"
  | "budget"
  | "limits"
  | "ready"
  | "json_schema"
  | "mcp"
  | "placement"
  | "placed"
  | "trace";

/** One way to give a field, or a part of it: as a flag, a key of a file, or both. Without a help of its own it has the field's. */
interface Spelling extends Partial<Omit<FlagDef, "name">> {
  readonly flag?: string;
  readonly key?: string;
  readonly ofKinds?: true;
}

export interface Field {
  readonly type:
    | Extract<ValueType, "bool" | "string" | "int" | "duration" | "size" | "time" | "enum">
    | PartType;
  /** The topic of this field and those after it, up to the next topic. */
  readonly topic?: (typeof TOPICS)[number];
  /** The rest of a sentence that begins with the field's name; for help, editors and docs. */
  readonly help: string;
  /** A field without a default is optional, unless `required`. */
  readonly default?: unknown;
  readonly required?: true;
  /** The default in words, if the schema's default does not say it all. */
  readonly shown?: string;
  readonly values?: readonly string[];
  /** Inclusive bounds of a number, or of the length of a text. */
  readonly min?: number;
  readonly max?: number;
  /** For the flag: its short name, and the word for its value if the type and default suggest none. */
  readonly short?: string;
  readonly value?: string;
  /** `null`: the field has no flag, or no key, for the reason in `why`. Otherwise both have the field's name without its unit. */
  readonly flag?: null;
  readonly key?: null;
  /** Replaces the flag and the key of the field's name. */
  readonly spelt?: readonly Spelling[];
  readonly why?: string;
  /** The flag's help names the kinds of agents that use it. */
  readonly ofKinds?: true;
  /** The page with more, relative to docs/reference. */
  readonly page?: string;
  /** Only the supervisor reads it, so a reload that changes it restarts no process. */
  readonly isSupervision?: true;
  /** The client determines it. No caller sets it, and a reload ignores it. */
  readonly isAmbient?: true;
}

/** One name. The path of a worker in a file is names joined with "/". */
export const NAME_FORM = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export const seconds = (ms: number): string =>
  ms % 60_000 === 0 && ms > 60_000 ? `${ms / 60_000}m` : `${ms / 1000}s`;

export const SPEC_FIELDS = {
  kind: {
    type: "kind",
    topic: "The agent",
    help: "kind of agent, by its name",
    required: true,
    spelt: [{ key: "kind" }],
    why: "the command line has it as its first word",
    page: "../how-to/writing-adapters.md",
  },
  name: {
    type: "name",
    help: "name, unique among living workers; usable wherever an id is",
    spelt: [
      { flag: "name", short: "n", type: "string", value: "NAME" },
      { key: "name", help: "its name among its siblings; a path joins names with /" },
    ],
  },
  labels: {
    type: "labels",
    help: "names and values for lists",
    default: {},
    spelt: [{ flag: "label", key: "labels", short: "l", ...PAIRS }],
    isSupervision: true,
  },
  prompt: {
    type: "prompt",
    help: "the agent's task; for a command, its stdin",
    spelt: [
      { key: "prompt" },
      { flag: "prompt-file", type: "string", value: "F", help: "read the prompt from a file; - is stdin" },
      { key: "prompt_file", help: "file to read the prompt from" },
    ],
  },
  argv: {
    type: "texts",
    help: "program and arguments of a command, never shell text; extra arguments of an agent",
    default: [],
    flag: null,
    why: "the command line has it after --",
  },
  model: {
    type: "string",
    help: "model, as the agent names it",
    min: 1,
    max: MODEL_MAX_CHARS,
    short: "m",
    value: "M",
  },
  session: {
    type: "string",
    help: "continue this session of the provider",
    min: 1,
    value: "S",
    page: "../explanation/sessions.md",
  },
  fork: { type: "bool", help: "branch the session instead of continuing it", default: false },
  env: {
    type: "map",
    help: "variables of the child; a value may be @env:NAME or @file:PATH, which are read at each start; use these for secrets",
    default: {},
    spelt: [{ flag: "env", key: "env", short: "e", ...PAIRS }],
  },
  inherit_env: { type: "texts", help: "your variables that the child also gets", default: [], value: "NAME" },
  client_env: {
    type: "map",
    help: "variables of the client that may reach the child, as environment.ts decides",
    default: {},
    spelt: [],
    why: "the client finds it",
    isAmbient: true,
  },
  interactive: {
    type: "bool",
    help: "keep stdin open for `agent send` and `ask`",
    default: false,
    ofKinds: true,
    short: "i",
  },
  ext: {
    type: "ext",
    help: "extension keys of the agent API, as `agent capabilities` names them",
    default: {},
    spelt: [
      { flag: "ext", key: "ext", type: "json-pair", value: "KEY=JSON", repeatable: true },
      {
        flag: "add-dir",
        topic: "Place",
        key: "add_dirs",
        ...DIRECTORIES,
        help: "more directories that the agent may work in",
        ofKinds: true,
      },
    ],
  },
  output_schema: {
    type: "json_schema",
    topic: "The agent",
    help: "JSON Schema of the final answer, which is then JSON; only for kinds that hold their model to it",
    spelt: [
      {
        flag: "output-schema",
        key: "output_schema",
        type: "string",
        value: "FILE",
        help: "file with the JSON Schema of the final answer, which is then JSON",
        ofKinds: true,
      },
    ],
    page: "library.md#answers-with-a-schema",
  },
  mcp: {
    type: "mcp",
    help: "MCP servers beside those of the agent's own configuration, by name: command, args and env, or url and headers; secrets as @env:NAME or @file:PATH",
    spelt: [
      {
        flag: "mcp",
        key: "mcp",
        type: "string",
        value: "FILE",
        help: "JSON file with more MCP servers, as .mcp.json has them",
        ofKinds: true,
      },
    ],
    page: "../how-to/mcp-servers.md",
  },
  cwd: {
    type: "string",
    topic: "Place",
    help: "directory in which the agent runs",
    min: 1,
    required: true,
    shown: "here; in a file, its directory",
    short: "C",
    value: "DIR",
  },
  worktree: {
    type: "worktree",
    help: "run in a git worktree of its own, on a new branch of the repository of its cwd",
    shown: "no worktree; without a value, the branch gets a generated name",
    spelt: [{ flag: "worktree", key: "worktree", type: "string", value: "BRANCH", optional: true }],
    page: "../explanation/workspaces.md",
  },
  sandbox: {
    type: "sandbox",
    help: "the agent may write only to its workspace, and sees only its own processes (bubblewrap)",
    spelt: [
      {
        flag: "sandbox",
        key: "sandbox",
        type: "enum",
        values: ["off", "workspace"],
        value: "off|workspace",
        default: "off",
      },
      {
        flag: "sandbox-net",
        type: "enum",
        values: ["none", "host"],
        value: "NET",
        help: "network of the sandbox",
        default: "none for command, host for agents",
      },
      { flag: "sandbox-writable", ...DIRECTORIES, help: "more directories that it may write to" },
    ],
    page: "../explanation/workspaces.md",
  },
  runtime: {
    type: "string",
    help: "the runtime that runs it, by its name in config.yaml",
    min: 1,
    max: RUNTIME_NAME_MAX_CHARS,
    shown: "process: processes of this machine",
    value: "NAME",
    page: "../how-to/another-runtime.md",
  },
  placement: {
    type: "placement",
    help: "nodes of a cluster on which it may run, by their labels, and whether it goes on there without a lease",
    spelt: [
      {
        flag: "where",
        ...PAIRS,
        value: "LABEL=V",
        help: "run it on a node of the cluster with this label; node=NAME is one node",
      },
      {
        flag: "on-partition",
        type: "enum",
        values: ["stop", "continue"],
        value: "P",
        help: "while its node of the cluster is cut off: it stops and may start elsewhere, or it goes on and never does",
        default: "stop",
      },
      {
        key: "placement",
        help: "run it on a node of the cluster",
        default: "runs on the machine of agent up",
      },
    ],
    page: "../how-to/cluster.md",
  },
  placed: {
    type: "placed",
    help: "the right by which a node of a cluster runs it",
    spelt: [],
    why: "the node says it",
    isAmbient: true,
  },
  permission: {
    type: "enum",
    topic: "Permissions",
    help: "decides a call that no rule covers: deny it, allow it, or ask a person (see agent approvals)",
    values: ["ask", "deny", "allow"],
    default: "deny",
    value: "P",
    page: "../explanation/approvals.md",
  },
  permission_rules: {
    type: "rules",
    help: "rules for single tools, by name and argument: deny wins over ask, ask over allow",
    default: [],
    spelt: [
      {
        flag: "allow-tool",
        key: "allow_tools",
        ...RULES,
        help: "tools that are allowed without asking: Bash, or Bash(git status*) for one argument",
      },
      {
        flag: "ask-tool",
        key: "ask_tools",
        ...RULES,
        help: "tools that a person is asked about; wins over tools that are allowed",
      },
      {
        flag: "deny-tool",
        key: "deny_tools",
        ...RULES,
        help: "tools that are never allowed; wins over both",
      },
    ],
    page: "../explanation/approvals.md",
  },
  profile: {
    type: "enum",
    help: "skills that its agent may run; no child of it may run more",
    values: PROFILE_NAMES,
    shown: "worker",
    value: "PROFILE",
    page: "../how-to/run-skills.md",
  },
  approval_within_ms: {
    type: "duration",
    help: "how long a request for permission waits for a person; 0 waits for ever",
    default: APPROVAL_WITHIN_DEFAULT_MS,
  },
  approval_default: {
    type: "enum",
    help: "answer to a request for permission that has none by then",
    values: ["deny", "allow"],
    default: "deny",
  },
  restart: {
    type: "enum",
    topic: "Restarts",
    help: "permanent: always; transient: after a failure; temporary: never",
    values: ["permanent", "transient", "temporary"],
    required: true,
    shown: "transient; temporary for command",
    value: "POLICY",
    isSupervision: true,
  },
  max_restarts: {
    type: "int",
    help: "at most this many restarts in this time; then the supervisor gives up",
    min: 0,
    max: RESTARTS_MAX,
    default: RESTARTS_DEFAULT,
    spelt: [
      {
        flag: "max-restarts",
        type: "restarts",
        value: "3/60s",
        default: `${RESTARTS_DEFAULT}/${seconds(RESTART_PERIOD_DEFAULT_MS)}`,
      },
    ],
    why: "the restarts of a file's worker count in the intensity of its supervisor",
    isSupervision: true,
  },
  restart_period_ms: {
    type: "duration",
    help: "the period in which max_restarts counts",
    default: RESTART_PERIOD_DEFAULT_MS,
    spelt: [],
    why: "max-restarts says it",
    isSupervision: true,
  },
  backoff_min_ms: {
    type: "duration",
    help: "wait before the first restart; it doubles, with jitter",
    default: BACKOFF_MIN_DEFAULT_MS,
    spelt: [
      {
        flag: "backoff",
        key: "backoff",
        type: "backoff",
        value: "1s..60s",
        help: "wait before a restart: first, longest",
        default: `${seconds(BACKOFF_MIN_DEFAULT_MS)}..${seconds(BACKOFF_MAX_DEFAULT_MS)}`,
      },
    ],
    isSupervision: true,
  },
  backoff_max_ms: {
    type: "duration",
    help: "longest wait before a restart",
    default: BACKOFF_MAX_DEFAULT_MS,
    spelt: [],
    why: "backoff says it",
    isSupervision: true,
  },
  supervisor: {
    type: "string",
    help: "path of a dynamic supervisor in a tree, which becomes its supervisor",
    default: "root",
    value: "PATH",
    key: null,
    why: "the place in the file says it",
  },
  on_supervisor_death: {
    type: "enum",
    help: "whether the agent survives when the daemon dies and no other one starts within 5 s",
    values: ["survive", "die"],
    default: "survive",
  },
  on_unfixable: {
    type: "enum",
    help: "after a failure that no restart can fix (no valid key, a rejected request): end at once, or follow the restart policy",
    values: ["end", "restart"],
    default: "end",
    page: "errors.md#failures-that-no-restart-can-mend",
  },
  on_interrupted: {
    type: "enum",
    help: "when the agent dies in the middle of a turn: continue its session, ask first, or end",
    values: ["continue", "ask", "never"],
    shown: "ask if a tool that may have changed something was running, else continue",
    page: "../explanation/sessions.md",
  },
  significant: {
    type: "bool",
    help: "its end may end its supervisor (auto_shutdown); it cannot be permanent",
    default: false,
    flag: null,
    why: "a supervisor without a file has no auto_shutdown",
    isSupervision: true,
  },
  ready: {
    type: "ready",
    help: "when it counts as started: exactly one of log (a regular expression that a line of its output matches), file (exists; relative to its cwd), port (of 127.0.0.1, accepts), first_event, healthy_for (a duration); and within (60s), the time after which its start has failed",
    shown: "as soon as it runs",
    flag: null,
    why: "the next child of a file waits for it, and nothing else does",
    isSupervision: true,
  },
  grace_ms: {
    type: "duration",
    topic: "Limits",
    help: "time between TERM and KILL",
    default: GRACE_DEFAULT_MS,
    isSupervision: true,
  },
  shutdown: {
    type: "enum",
    help: "how it is stopped: grace (TERM, a wait, KILL), brutal_kill (KILL at once), or infinity (TERM, and a wait without a limit)",
    values: ["grace", "brutal_kill", "infinity"],
    default: "grace",
    flag: null,
    why: "agent kill says how it stops a worker",
    isSupervision: true,
  },
  limits: {
    type: "limits",
    help: "limits for the worker and everything that it starts: memory (a size), pids, cpu (1.5 is one and a half); without a delegated cgroup, its start is refused",
    default: {},
    spelt: [
      {
        flag: "memory",
        type: "size",
        value: "2G",
        min: MEMORY_LIMIT_MIN_BYTES,
        help: "memory of the worker and everything that it starts; needs a delegated cgroup",
        default: "no limit",
      },
      {
        flag: "pids",
        type: "int",
        value: "N",
        min: 1,
        max: PIDS_MAX,
        help: "processes and threads of the worker and everything that it starts; needs a delegated cgroup",
        default: "no limit",
      },
      {
        flag: "cpu",
        type: "number",
        value: "1.5",
        min: CPUS_MIN,
        max: CPUS_MAX,
        help: "CPUs for the worker and everything that it starts; needs a delegated cgroup",
        default: "no limit",
      },
      { key: "limits" },
    ],
  },
  timeout_ms: {
    type: "duration",
    help: "longest run of one incarnation; 0 means no limit",
    default: TIMEOUT_DEFAULT_MS,
    shown: `${seconds(TIMEOUT_DEFAULT_MS)}; none for command`,
  },
  deadline_at: {
    type: "time",
    help: "time after which it is ended, whatever its restarts do, and does not start",
    shown: "none",
    value: "TIME",
    key: null,
    why: "a file is applied again and again, and a date passes once",
    page: "../how-to/overnight.md",
    isSupervision: true,
  },
  stall_ms: {
    type: "duration",
    help: `after this much silence with no tool running: a warning; after as much again (${seconds(STALL_WARN_MAX_MS)} at most): a question, see agent answer; after as much without an answer (${seconds(STALL_ASK_MAX_MS)} at most): it is stopped, and its restart policy decides; 0 turns this off`,
    default: STALL_DEFAULT_MS,
    shown: `${seconds(STALL_DEFAULT_MS)}; never for command`,
  },
  tool_timeout_ms: {
    type: "duration",
    help: "longest call of a tool; only this applies while one runs",
    default: TOOL_TIMEOUT_DEFAULT_MS,
    shown: "none",
    value: "20m",
  },
  heartbeat_ms: {
    type: "duration",
    help: "how often the process is checked",
    default: HEARTBEAT_DEFAULT_MS,
  },
  budget: {
    type: "budget",
    help: "limits for it and all that its agent spawns: usd=5,tokens=2M,turns=40,wall=1h,restarts=10,output=1GB",
    default: {},
    value: "usd=5,…",
  },
  on_breach: {
    type: "enum",
    help: "once the budget is spent: pause every worker that counts in it until agent answer, or stop them",
    values: ["ask", "stop"],
    default: "ask",
  },
  output_quota_bytes: {
    type: "size",
    help: "stop the worker once this much of its output is unread; 0 means no limit",
    max: OUTPUT_QUOTA_MAX_BYTES,
    default: OUTPUT_QUOTA_DEFAULT_BYTES,
  },
  on_output_quota: {
    type: "enum",
    help: "beyond its output quota, or when the disk is nearly full: end it, or pause it until its output is read",
    values: ["fail", "pause"],
    default: "fail",
  },
  passivate_ms: {
    type: "duration",
    help: "end an agent that has waited this long for a message; the next message starts it again in its session",
    default: 0,
    shown: "0, never",
    value: "10m",
    page: "../explanation/sessions.md",
  },
  priority: {
    type: "enum",
    help: "its rank among the workers that wait to start",
    values: ["critical", "high", "normal", "low", "background"],
    default: "normal",
    value: "P",
  },
  max_depth: {
    type: "int",
    help: "at most this many agents may be above one that it spawns",
    min: 0,
    max: DEPTH_MAX,
    shown: `${DEPTH_DEFAULT}, or the tightest above it`,
  },
  max_concurrency: {
    type: "int",
    help: "how many of the agents that it spawns may run at once",
    min: 0,
    max: WORKERS_LIVE_MAX,
    shown: "no limit of its own",
  },
  /** The worker whose agent requested this one, by its marker. */
  parent: {
    type: "string",
    help: "the worker whose agent asked for this one",
    spelt: [],
    why: "the client finds it",
    isAmbient: true,
  },
  /** From TRACEPARENT and TRACESTATE of the client, for agents and for the spans of the daemon. */
  trace: {
    type: "trace",
    help: "the trace in which it was asked for",
    spelt: [],
    why: "the client finds it",
    isAmbient: true,
  },
} as const satisfies Readonly<Record<string, Field>>;

export type SpecFields = typeof SPEC_FIELDS;
export type FieldName = keyof SpecFields;

type NameWithoutUnit<K> = K extends `${infer Name}_ms`
  ? Name
  : K extends `${infer Name}_bytes`
    ? Name
    : K extends `${infer Name}_at`
      ? Name
      : K;
/** Fields with a single key in a file, named after the field. */
type KeyedField<K extends FieldName> = SpecFields[K] extends
  | { readonly spelt: unknown }
  | { readonly key: null }
  ? never
  : K;
/** The fields of a file's plain keys, by key. */
export type KeyedFields = { [K in FieldName as NameWithoutUnit<KeyedField<K>> & string]: SpecFields[K] };

export const FIELDS: readonly (readonly [FieldName, Field])[] = Object.entries(SPEC_FIELDS) as [
  FieldName,
  Field,
][];

/** The name of a field without its unit. */
const bareOf = (name: string): string => name.replace(/_(ms|bytes|at)$/, "");

/** The schema's default as people write it; undefined if they would write nothing. */
export const writtenDefault = ({ type, default: value }: Field): string | undefined => {
  if (type === "duration") return seconds(value as number);
  if (type === "size") return formatSize(value as number);
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
};

/** The default of a field in words; undefined if there is none. */
export const shownDefault = (field: Field): string | undefined => field.shown ?? writtenDefault(field);

/** The fields whose flag, or key, has the field's name and carries its whole value. */
export const plainFields = (as: "flag" | "key"): readonly (readonly [FieldName, name: string, Field])[] =>
  FIELDS.flatMap(([field, def]) => {
    if (def.spelt !== undefined || def[as] === null) return [];
    const name = bareOf(field);
    return [[field, as === "key" ? name : name.replaceAll("_", "-"), def] as const];
  });

/** Each key of a worker in a file, with its field, its help and its default in words. */
export const specKeys = (): readonly {
  readonly key: string;
  readonly field: Field;
  readonly help: string;
  readonly shown: string | undefined;
}[] =>
  FIELDS.flatMap(([name, field]) => {
    const spelt: readonly Spelling[] = field.spelt ?? (field.key === null ? [] : [{ key: bareOf(name) }]);
    return spelt.flatMap(({ key, help = field.help, default: shown = shownDefault(field) }) =>
      key === undefined ? [] : [{ key, field, help, shown }],
    );
  });
