/**
 * The one registry of the `agent` command, as plain data (cli.md, Commands and Flags of spawn). Parsing, help,
 * completion and the manifest are all made from it. It imports nothing that loads code: the client's start-up is
 * its speed.
 */

import { ACP_AGENT, ACP_AGENTS } from "../base/acp-agents.ts";
import { formatSize } from "../base/durations.ts";
import {
  APPROVAL_WITHIN_DEFAULT_MS,
  APPROVALS_PAGE_MAX,
  BACKOFF_MAX_DEFAULT_MS,
  BACKOFF_MIN_DEFAULT_MS,
  DEPTH_DEFAULT,
  GRACE_DEFAULT_MS,
  HEARTBEAT_DEFAULT_MS,
  LIST_PAGE_MAX_WORKERS,
  MCP_TIMEOUT_DEFAULT_MS,
  MESSAGES_PAGE_DEFAULT,
  MESSAGES_PAGE_MAX,
  OUTPUT_QUOTA_DEFAULT_BYTES,
  PRINTED_HEARTBEAT_MS,
  RESTART_PERIOD_DEFAULT_MS,
  RESTARTS_DEFAULT,
  STALL_ASK_MAX_MS,
  STALL_DEFAULT_MS,
  STALL_WARN_MAX_MS,
  TIMEOUT_DEFAULT_MS,
} from "../base/limits.ts";
import type { RequestName } from "../protocol/requests.ts";
import { ANSWERS } from "../protocol/words.ts";

/**
 * How the value of a flag or argument is read. `restarts` is `3/60s`, `backoff` `1s..60s`, `budget`
 * `usd=5,turns=40`, `pair` `KEY=VALUE`, `json-pair` `KEY=JSON`, `cursor` `SEQ` or `EPOCH:SEQ`; durations come out in milliseconds, sizes
 * in bytes.
 */
export type ValueType =
  | "bool"
  | "string"
  | "int"
  | "duration"
  | "size"
  | "enum"
  | "list"
  | "pair"
  | "json-pair"
  | "restarts"
  | "backoff"
  | "budget"
  | "size"
  | "number"
  | "signal"
  | "cursor";

export interface FlagDef {
  readonly name: string;
  readonly short?: string;
  readonly type: ValueType;
  readonly help: string;
  /** The word for the value in help: `DIR`, `10s`. */
  readonly value?: string;
  readonly values?: readonly string[];
  /** Values that the shell offers, where other values are taken too. */
  readonly suggests?: readonly string[];
  readonly repeatable?: boolean;
  /** For help only; the schemas hold the defaults. */
  readonly default?: string;
  readonly complete?: "worker";
  /** Its value may be left out, and comes after `=` then: `--worktree`, `--worktree=BRANCH`. */
  readonly optional?: boolean;
}

export interface ArgDef {
  readonly name: string;
  readonly help: string;
  readonly required?: boolean;
  readonly variadic?: boolean;
  /** The completion of the shell here. */
  readonly complete?: "worker" | "living" | "kind";
  readonly values?: readonly string[];
}

/** In the order in which help shows them. */
export const GROUPS = ["Start and stop", "Look", "Talk", "This machine", "For programs"] as const;

export interface CommandDef {
  /** Words on the command line; their join with "." names the command in the manifest. */
  readonly words: readonly string[];
  readonly alias?: string;
  /** Protocol v1 `namespace/verb`, also in ndjson envelopes. */
  readonly command: string;
  /** The request that carries it over the socket, if exactly one does. */
  readonly request?: RequestName;
  readonly group: (typeof GROUPS)[number];
  readonly summary: string;
  readonly details?: string;
  readonly args: readonly ArgDef[];
  readonly flags: readonly FlagDef[];
  /** `-- ARGV…` is taken. */
  readonly argv?: boolean;
  readonly danger: "safe" | "mutating" | "destructive";
  /** It prints records, then one envelope. A list of flags: only with one of them. */
  readonly stream: boolean | readonly string[];
  /** Exit codes beyond 0, 1, 3, 4, 12, 130 and 143, which every command may give. */
  readonly exits: readonly number[];
  readonly examples: readonly string[];
}

export interface KindDef {
  readonly kind: string;
  readonly short: string;
  /** The program and the variable that names another one; null where argv is the program. */
  readonly binary: string | null;
  readonly variable: string | null;
  /** It works on a prompt, and so needs one. */
  readonly needsPrompt: boolean;
  /** With --interactive it takes messages and answers each in a turn: the first one may come later than its start. */
  readonly converses: boolean;
  /** Flags of spawn that mean nothing to it. */
  readonly refuses: readonly string[];
  /** The part of a spec that the name of a kind with one of its agents stands for. */
  readonly ext?: Readonly<Record<string, string>>;
}

/** Flags of approvals, for a kind that cannot ask for permission. */
const OF_APPROVALS = ["approval-within", "approval-default"] as const;

/** Kinds that may stand on the command line. Their needs and refusals are here too, so that a mistake is told before a daemon is started. */
export const KINDS: readonly KindDef[] = [
  {
    kind: "claude_code",
    short: "claude",
    binary: "claude",
    variable: "CLAUDE_BINARY",
    needsPrompt: true,
    converses: true,
    refuses: [],
  },
  {
    kind: "codex",
    short: "codex",
    binary: "codex",
    variable: "CODEX_BINARY",
    needsPrompt: true,
    converses: true,
    refuses: [],
  },
  {
    kind: "gemini_cli",
    short: "gemini",
    binary: "gemini",
    variable: "GEMINI_BINARY",
    needsPrompt: true,
    converses: false,
    refuses: ["interactive", "fork", ...OF_APPROVALS],
  },
  {
    kind: "opencode",
    short: "opencode",
    binary: "opencode",
    variable: "OPENCODE_BINARY",
    needsPrompt: true,
    converses: false,
    refuses: ["interactive", "add-dir", ...OF_APPROVALS],
  },
  {
    kind: "copilot",
    short: "copilot",
    binary: "copilot",
    variable: "COPILOT_BINARY",
    needsPrompt: true,
    converses: false,
    refuses: ["interactive", "fork", ...OF_APPROVALS],
  },
  {
    kind: "command",
    short: "command",
    binary: null,
    variable: null,
    needsPrompt: false,
    converses: false,
    refuses: ["model", "session", "fork", "add-dir", ...OF_APPROVALS],
  },
  {
    kind: "acp",
    short: "acp",
    binary: null,
    variable: null,
    needsPrompt: true,
    converses: true,
    refuses: ["fork", "add-dir"],
  },
];

/** `acp:gemini` and the others: kind `acp`, with its agent. */
export const NAMED_AGENTS: readonly KindDef[] = ACP_AGENTS.map(({ name, binary, variable }) => ({
  ...KINDS.find(({ kind }) => kind === "acp")!,
  short: `acp:${name}`,
  binary,
  variable,
  ext: { [ACP_AGENT]: name },
}));

const seconds = (ms: number): string =>
  ms % 60_000 === 0 && ms > 60_000 ? `${ms / 60_000}m` : `${ms / 1000}s`;

const idempotencyKey: FlagDef = {
  name: "idempotency-key",
  type: "string",
  value: "K",
  help: "a repeat with the same key does nothing, and tells what became of the first",
};

export const GLOBAL_FLAGS: readonly FlagDef[] = [
  {
    name: "output",
    short: "o",
    type: "enum",
    values: ["text", "json", "ndjson"],
    value: "MODE",
    help: "text, json or ndjson",
    default: "$HOLDFAST_OUTPUT, else text on a terminal, else json",
  },
  {
    name: "state-dir",
    type: "string",
    value: "DIR",
    help: "state directory of the daemon to talk to",
    default: "$HOLDFAST_HOME",
  },
  {
    name: "envelope",
    type: "enum",
    values: ["g1", "g2"],
    value: "G",
    help: "generation of the JSON envelope and of the exit codes",
    default: "g1",
  },
  {
    name: "heartbeat-ms",
    type: "int",
    value: "MS",
    help: "a sign of life after so long a silence, on streams in JSON, else on stderr; 0 is never",
    default: String(PRINTED_HEARTBEAT_MS),
  },
  { name: "no-color", type: "bool", help: "no colours in text" },
  { name: "schema", type: "bool", help: "print the JSON Schemas of this command's input and output" },
  { name: "help", short: "h", type: "bool", help: "show help" },
];

/** Variables that the command itself reads. The daemon's own are told where they belong, in docs/. */
export const ENVIRONMENT: readonly { readonly name: string; readonly help: string }[] = [
  { name: "HOLDFAST_HOME", help: "the state directory, where --state-dir names none" },
  { name: "HOLDFAST_OUTPUT", help: "text, json or ndjson, where --output says nothing" },
  { name: "HOLDFAST_ENVELOPE", help: "g1 or g2, where --envelope says nothing" },
  { name: "HOLDFAST_VALIDATE", help: "1 checks every envelope against its contract before it is printed" },
  { name: "CI", help: "not empty: json where nothing else is asked for, also on a terminal" },
  { name: "NO_COLOR", help: "not empty: no colours" },
  ...[
    ...KINDS,
    ...NAMED_AGENTS.filter(({ variable }) => KINDS.every((kind) => kind.variable !== variable)),
  ].flatMap(({ short, variable }) =>
    variable === null ? [] : [{ name: variable, help: `the program of kind ${short}` }],
  ),
];

const ids = (
  help: string,
  { required = true, complete = "worker" }: Pick<ArgDef, "required" | "complete"> = {},
): ArgDef => ({ name: "ID", help, required, variadic: true, complete });
const id: ArgDef = {
  name: "ID",
  help: "id, unique prefix of one, or name",
  required: true,
  complete: "worker",
};
const verbose: FlagDef = {
  name: "verbose",
  short: "v",
  type: "bool",
  help: "every record as text, also state changes and heartbeats",
};
const since: FlagDef = { name: "since", type: "duration", value: "10m", help: "records of the last so long" };
const dryRun: FlagDef = { name: "dry-run", type: "bool", help: "show what would happen; change nothing" };

const input: FlagDef = { name: "input", type: "string", value: "F", help: "", default: "-" };

const treeFile: FlagDef = {
  name: "file",
  short: "f",
  type: "string",
  value: "F",
  help: "file of the tree",
  default: "holdfast.yaml here",
};
const variable: FlagDef = {
  name: "var",
  type: "pair",
  value: "K=V",
  repeatable: true,
  help: "variable of the file",
};

const digest: ArgDef = { name: "DIGEST", help: "sha256:… as `agent cas put` prints it", required: true };
/** The digest of "hello". */
const EXAMPLE_DIGEST = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
/** Other tools' names for commands of ours: told as a redirect, once and for all (decision 0025). */
export const RENAMED: readonly {
  readonly from: string;
  readonly to: readonly string[];
  /** The command if a word follows it, which names a worker. */
  readonly of?: readonly string[];
}[] = [
  { from: "apply", to: ["up"] },
  { from: "approve", to: ["approvals", "approve"] },
  { from: "attach", to: ["watch"] },
  { from: "cost", to: ["usage"] },
  { from: "deny", to: ["approvals", "deny"] },
  { from: "describe", to: ["info"] },
  { from: "inspect", to: ["info"] },
  { from: "ls", to: ["list"] },
  { from: "run", to: ["spawn"] },
  { from: "stats", to: ["usage"] },
  { from: "status", to: ["daemon", "status"], of: ["info"] },
  { from: "stop", to: ["kill"] },
  { from: "daemon reload", to: ["daemon", "upgrade", "--force"] },
  { from: "daemon restart", to: ["daemon", "upgrade", "--force"] },
  { from: "db vacuum", to: ["db", "gc"] },
  { from: "db verify", to: ["db", "check"] },
];

/** Words of other tools for something that is not done here, and what is done instead. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  delete: "An ended worker leaves agent list by itself, and a running one is stopped with: agent kill ID",
  exec: "A program of its own is started with: agent spawn -- PROGRAM",
  init: "Copy the example of docs/tree.md to holdfast.yaml, then: agent up",
  login: "An agent's own CLI has the login; see what is missing with: agent doctor",
  prune: "An ended worker leaves agent list by itself; old output goes with: agent db gc",
  rename: "A name is given once: agent spawn --name NAME",
  rm: "An ended worker leaves agent list by itself, and a running one is stopped with: agent kill ID",
};

const CHOOSE = "choose from its JSON: agent list --all -o json | jq '.data[] | select(.state == \"failed\")'";

/** Flags of other tools, by command, for something that is done otherwise here. */
export const FLAGS_ELSEWHERE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "agent list": { state: CHOOSE, status: CHOOSE, filter: CHOOSE, label: CHOOSE, kind: CHOOSE },
  "agent spawn": {
    replicas: "spawn each worker, or give each a child of its own in holdfast.yaml",
  },
};

const MCP_DETAILS =
  "Runs the CLI of the kind and tells how it ended and what it printed, at most 64 KB of each stream; that it ended is a success here, whatever its exit code. No daemon is needed.";
const mcpKind: ArgDef = { name: "KIND", help: "kind of agent", required: true, complete: "kind" };
const mcpName: ArgDef = { name: "NAME", help: "name of the server", required: true };
const mcpFlags: readonly FlagDef[] = [
  {
    name: "cwd",
    short: "C",
    type: "string",
    value: "DIR",
    help: "directory in which the CLI runs",
    default: "here",
  },
  {
    name: "env",
    short: "e",
    type: "pair",
    value: "K=V",
    repeatable: true,
    help: "variable of the CLI; V may be @env:NAME or @file:PATH",
  },
  {
    name: "timeout",
    type: "duration",
    value: "60s",
    help: "how long it may take; 0 fails at once",
    default: seconds(MCP_TIMEOUT_DEFAULT_MS),
  },
];

/** The flags of spawn; resume and fork take some of them. */
const SPAWN_FLAGS: readonly FlagDef[] = [
  { name: "name", short: "n", type: "string", value: "NAME", help: "name, unique among living workers" },
  { name: "label", short: "l", type: "pair", value: "K=V", repeatable: true, help: "label" },
  {
    name: "cwd",
    short: "C",
    type: "string",
    value: "DIR",
    help: "directory in which the agent runs",
    default: "here",
  },
  {
    name: "add-dir",
    type: "string",
    value: "DIR",
    repeatable: true,
    help: "one more directory that the agent may work in (claude, codex, copilot, gemini)",
  },
  {
    name: "worktree",
    type: "string",
    value: "BRANCH",
    optional: true,
    help: "it runs in a git worktree of its own, on a new branch",
    default: "no worktree; the branch is named by itself",
  },
  {
    name: "sandbox",
    type: "enum",
    values: ["off", "workspace"],
    value: "off|workspace",
    help: "workspace: its agent may write there alone, and sees no process but its own (bubblewrap)",
    default: "off",
  },
  {
    name: "sandbox-net",
    type: "enum",
    values: ["none", "host"],
    value: "NET",
    help: "the network of its sandbox",
    default: "none for command, host for agents",
  },
  {
    name: "sandbox-writable",
    type: "string",
    value: "DIR",
    repeatable: true,
    help: "a directory that it may write to as well",
  },
  { name: "prompt-file", type: "string", value: "F", help: "read the prompt from a file; - is stdin" },
  { name: "model", short: "m", type: "string", value: "M", help: "model, as the agent names it" },
  { name: "session", type: "string", value: "S", help: "go on in this session of the provider" },
  { name: "fork", type: "bool", help: "branch the session instead of going on in it" },
  {
    name: "env",
    short: "e",
    type: "pair",
    value: "K=V",
    repeatable: true,
    help: "variable of the child; V may be @env:NAME or @file:PATH",
  },
  {
    name: "inherit-env",
    type: "string",
    value: "NAME",
    repeatable: true,
    help: "pass this variable of yours on",
  },
  {
    name: "interactive",
    short: "i",
    type: "bool",
    help: "keep stdin open for `agent send` and `ask` (claude, codex, acp, command)",
  },
  {
    name: "restart",
    type: "enum",
    values: ["permanent", "transient", "temporary"],
    value: "POLICY",
    help: "permanent: always; transient: after a failure; temporary: never",
    default: "transient; temporary for command",
  },
  {
    name: "max-restarts",
    type: "restarts",
    value: "3/60s",
    help: "so many restarts in so long, then the supervisor gives up",
    default: `${RESTARTS_DEFAULT}/${seconds(RESTART_PERIOD_DEFAULT_MS)}`,
  },
  {
    name: "backoff",
    type: "backoff",
    value: "1s..60s",
    help: "wait before a restart: first, longest",
    default: `${seconds(BACKOFF_MIN_DEFAULT_MS)}..${seconds(BACKOFF_MAX_DEFAULT_MS)}`,
  },
  { name: "supervisor", type: "string", value: "PATH", help: "supervisor in the tree", default: "root" },
  {
    name: "grace",
    type: "duration",
    value: "10s",
    help: "time between TERM and KILL",
    default: seconds(GRACE_DEFAULT_MS),
  },
  {
    name: "memory",
    type: "size",
    value: "2G",
    help: "the most that it may take with all that it starts; needs a delegated cgroup",
    default: "no limit",
  },
  {
    name: "pids",
    type: "int",
    value: "N",
    help: "the same of processes and threads",
    default: "no limit",
  },
  { name: "cpu", type: "number", value: "1.5", help: "the same of CPUs", default: "no limit" },
  {
    name: "on-supervisor-death",
    type: "enum",
    values: ["survive", "die"],
    value: "WHAT",
    help: "whether it lives on when the daemon dies and none follows in 5 s",
    default: "survive",
  },
  {
    name: "timeout",
    type: "duration",
    value: "30m",
    help: "longest run of one incarnation; 0 is none",
    default: `${seconds(TIMEOUT_DEFAULT_MS)}; none for command`,
  },
  {
    name: "stall",
    type: "duration",
    value: "10m",
    help: `silent for so long, with no tool at work: a warning; as long again (${seconds(STALL_WARN_MAX_MS)} at most): you are asked, see agent answer; as long without an answer (${seconds(STALL_ASK_MAX_MS)} at most): it is stopped, and --restart decides; 0 is never`,
    default: `${seconds(STALL_DEFAULT_MS)}; never for command`,
  },
  {
    name: "tool-timeout",
    type: "duration",
    value: "20m",
    help: "longest call of a tool; only this applies while one runs",
    default: "none",
  },
  {
    name: "heartbeat",
    type: "duration",
    value: "30s",
    help: "how often the process is looked at",
    default: seconds(HEARTBEAT_DEFAULT_MS),
  },
  {
    name: "budget",
    type: "budget",
    value: "usd=5,…",
    help: "for it and all that its agent spawns: usd=5,tokens=2M,turns=40,wall=1h,restarts=10,output=1GB",
  },
  {
    name: "on-breach",
    type: "enum",
    values: ["ask", "stop"],
    value: "WHAT",
    help: "once the budget is spent: pause all that count in it until agent answer, or stop them",
    default: "ask",
  },
  {
    name: "output-quota",
    type: "size",
    value: "1GB",
    help: "output on the disk that is not read yet, then it is stopped; 0 is none",
    default: formatSize(OUTPUT_QUOTA_DEFAULT_BYTES),
  },
  {
    name: "on-output-quota",
    type: "enum",
    values: ["fail", "pause"],
    value: "WHAT",
    help: "beyond it, end it, or pause it until the rest is read; also when the disk is nearly full",
    default: "fail",
  },
  {
    name: "passivate",
    type: "duration",
    value: "10m",
    help: "end an agent that has waited so long for a message; the next one starts it again in its session",
    default: "never",
  },
  {
    name: "on-unfixable",
    type: "enum",
    values: ["end", "restart"],
    value: "WHAT",
    help: "when it fails so that no restart can mend it (no valid key, a rejected request): end at once, or as --restart says",
    default: "end",
  },
  {
    name: "on-interrupted",
    type: "enum",
    values: ["continue", "ask", "never"],
    value: "WHAT",
    help: "when the agent dies in the middle of a turn: go on in its session, ask first, or end",
    default: "ask where a tool was open that may have changed something, else continue",
  },
  {
    name: "priority",
    type: "enum",
    values: ["critical", "high", "normal", "low", "background"],
    value: "P",
    help: "its rank among the workers that wait for their start",
    default: "normal",
  },
  {
    name: "max-depth",
    type: "int",
    value: "N",
    help: "agents above one, for what this one spawns",
    default: `${DEPTH_DEFAULT}, or the tightest above it`,
  },
  {
    name: "max-concurrency",
    type: "int",
    value: "N",
    help: "how many of those run at once",
    default: "as many as may",
  },
  {
    name: "permission",
    type: "enum",
    values: ["ask", "deny", "allow"],
    value: "P",
    help: "a call that no rule is about is denied, allowed, or put to a person (ask: see agent approvals)",
    default: "deny",
  },
  {
    name: "allow-tool",
    type: "string",
    value: "RULE",
    repeatable: true,
    help: "allow a tool unasked: Bash, or Bash(git status*) of one argument",
  },
  {
    name: "ask-tool",
    type: "string",
    value: "RULE",
    repeatable: true,
    help: "ask a person about this one; wins over --allow-tool",
  },
  {
    name: "deny-tool",
    type: "string",
    value: "RULE",
    repeatable: true,
    help: "never allow this one; wins over both",
  },
  {
    name: "approval-within",
    type: "duration",
    value: "10m",
    help: "how long a request for permission waits for a person; 0 is for ever",
    default: seconds(APPROVAL_WITHIN_DEFAULT_MS),
  },
  {
    name: "approval-default",
    type: "enum",
    values: ["deny", "allow"],
    value: "WHAT",
    help: "answer to it then",
    default: "deny",
  },
  {
    name: "ext",
    type: "json-pair",
    value: "KEY=JSON",
    repeatable: true,
    help: "extension key of the agent API",
  },
  {
    name: "idempotency-key",
    type: "string",
    value: "K",
    help: "the same key again returns the first worker",
  },
  dryRun,
  { name: "watch", short: "w", type: "bool", help: "follow the worker to its end" },
  { name: "wait", type: "bool", help: "block until it has ended; exit as `agent wait` does" },
  { name: "detach", short: "d", type: "bool", help: "return at once (the default)" },
  verbose,
];

const spawnFlags = (...names: readonly string[]): readonly FlagDef[] =>
  SPAWN_FLAGS.filter(({ name }) => names.includes(name));
/** How a worker that goes on in a session is told of. */
const RESUME_FLAGS = spawnFlags(
  "prompt-file",
  "interactive",
  "idempotency-key",
  "dry-run",
  "watch",
  "wait",
  "detach",
  "verbose",
);

export const COMMANDS: readonly CommandDef[] = [
  {
    words: ["demo"],
    command: "agent/demo",
    group: "Start and stop",
    danger: "safe",
    stream: true,
    exits: [],
    summary: "See supervision at work: no account, no network, under 15 s",
    details:
      "Runs a small tree of scripted agents under a daemon and a state directory of its own, and removes both at the end.",
    args: [],
    flags: [],
    examples: ["agent demo"],
  },
  {
    words: ["spawn"],
    command: "agent/spawn",
    request: "agent/spawn",
    group: "Start and stop",
    danger: "mutating",
    stream: ["watch"],
    exits: [2, 5, 6, 7, 8, 10, 11],
    argv: true,
    summary: "Start a supervised worker and print its id",
    details:
      "KIND is claude, codex, gemini, opencode, copilot, acp (any agent of the Agent Client Protocol, its program after --, or one that is known: acp:gemini, acp:opencode, acp:copilot, acp:claude, acp:codex), or command (the default when -- is given). Starts the daemon where none runs. The child's environment is built, never inherited: see --env and --inherit-env. Secrets go by reference: --env KEY=@env:NAME or @file:PATH.",
    args: [
      { name: "KIND", help: "kind of agent", complete: "kind" },
      { name: "PROMPT", help: "task of the agent; - reads stdin" },
    ],
    flags: SPAWN_FLAGS,
    examples: [
      "agent spawn claude 'fix the failing test' --name fixer --watch",
      "agent spawn --name web --restart permanent -- sh -c 'exec my-server'",
      "ID=$(agent spawn codex --prompt-file task.md -o text)",
    ],
  },
  {
    words: ["resume"],
    command: "agent/resume",
    group: "Start and stop",
    danger: "mutating",
    stream: ["watch"],
    exits: [2, 5, 6, 7, 8, 10, 11],
    summary: "Go on in a session: a new worker in that of an earlier one",
    details:
      "The new worker has the spec, the name and the labels of ID, and its last session; what has ended stays as it ended. A session has at most one living worker: SESSION_IN_USE names it. With --session S or --last (the newest session of the directory) the first argument is a KIND, and the rest is as for `agent spawn KIND PROMPT --session S`. An interactive worker needs no PROMPT: it waits for `agent send`.",
    args: [
      {
        name: "ID",
        help: "the worker to go on from; with --session or --last a KIND",
        required: true,
        complete: "worker",
      },
      { name: "PROMPT", help: "next task of the agent; - reads stdin" },
    ],
    flags: [
      {
        name: "session",
        type: "string",
        value: "S",
        help: "this session of the provider, of whoever it was",
      },
      { name: "last", type: "bool", help: "the newest session of the directory" },
      ...spawnFlags("name", "cwd", "env", "model", "permission", "restart"),
      ...RESUME_FLAGS,
    ],
    examples: [
      "agent resume fixer 'now write the changelog' --watch",
      "agent resume claude --last 'where were we?'",
    ],
  },
  {
    words: ["fork"],
    command: "agent/fork",
    request: "agent/fork",
    group: "Start and stop",
    danger: "mutating",
    stream: ["watch"],
    exits: [2, 5, 6, 7, 8, 10, 11],
    summary: "Branch the session of a worker: a new worker in the branch",
    details:
      "As `agent resume ID`, but the session itself stays as it is: its worker may go on in it meanwhile. The new worker has no name unless --name gives one. Kinds that can fork a session: claude.",
    args: [
      { ...id, help: "the worker whose session is branched" },
      { name: "PROMPT", help: "next task of the agent; - reads stdin" },
    ],
    flags: [...spawnFlags("name"), ...RESUME_FLAGS],
    examples: ["agent fork fixer 'try it without the cache' --name bold"],
  },
  {
    words: ["kill"],
    command: "agent/kill",
    request: "agent/kill",
    group: "Start and stop",
    danger: "destructive",
    stream: false,
    exits: [2, 5],
    summary: "Stop workers: TERM, grace, KILL, sweep",
    details:
      "Returns when nothing of the workers is left. The path of a supervisor stands for all below it, in the order in which it stops them; --grace and --signal then hold for each of them. A second kill of the same worker ends its grace. A worker that has ended already is a success with effect noop.",
    args: [ids("workers to stop", { required: false, complete: "living" })],
    flags: [
      {
        name: "grace",
        type: "duration",
        value: "10s",
        help: "time between TERM and KILL",
        default: "the worker's own",
      },
      { name: "signal", short: "s", type: "signal", value: "SIG", help: "first signal", default: "TERM" },
      { name: "subtree", type: "bool", help: "also the workers that these have spawned" },
      { name: "all", short: "a", type: "bool", help: "all living workers" },
      { name: "reason", type: "string", value: "TEXT", help: "kept in the log" },
      dryRun,
      idempotencyKey,
    ],
    examples: ["agent kill fixer", "agent kill --all --grace 2s"],
  },
  {
    words: ["restart"],
    command: "agent/restart",
    request: "agent/restart",
    group: "Start and stop",
    danger: "mutating",
    stream: false,
    exits: [2, 5],
    summary: "Start a new incarnation, also of what has ended",
    details:
      "A worker that runs is stopped first, with its own grace. A restart asked for counts in no window, and the worker begins with an empty one.",
    args: [ids("workers to restart")],
    flags: [dryRun, idempotencyKey],
    examples: ["agent restart web"],
  },
  {
    words: ["pause"],
    command: "agent/pause",
    request: "agent/pause",
    group: "Start and stop",
    danger: "mutating",
    stream: false,
    exits: [2, 5, 6],
    summary: "Stop the processes of workers where they are, until unpause",
    details:
      "SIGSTOP to the agent and all that descends from it; its timeout, stall, tool and heartbeat clocks stand still too. A pause ends with agent unpause, with a kill or a restart, and with the incarnation. A supervisor's path pauses all that run below it now.",
    args: [ids("workers to pause", { complete: "living" })],
    flags: [
      { name: "reason", type: "string", value: "TEXT", help: "kept in the log, shown in agent list" },
      dryRun,
      idempotencyKey,
    ],
    examples: ["agent pause fixer --reason 'the laptop is hot'", "agent pause crew"],
  },
  {
    words: ["unpause"],
    command: "agent/unpause",
    request: "agent/unpause",
    group: "Start and stop",
    danger: "mutating",
    stream: false,
    exits: [2, 5],
    summary: "Let paused workers go on, whatever they were paused for",
    args: [ids("workers to let go on", { complete: "living" })],
    flags: [dryRun, idempotencyKey],
    examples: ["agent unpause fixer"],
  },
  {
    words: ["up"],
    command: "agent/up",
    request: "tree/apply",
    group: "Start and stop",
    danger: "mutating",
    stream: false,
    exits: [2, 5, 6, 8, 10, 11],
    summary: "Bring a tree in line with its file: holdfast.yaml",
    details:
      "Starts what is new, restarts what runs differently now, stops what is in the file no more, and leaves the rest alone. Returns when the tree runs, or with the first worker that does not. Starts the daemon where none runs. See docs/tree.md.",
    args: [],
    flags: [
      treeFile,
      variable,
      dryRun,
      { name: "wait", type: "bool", help: "return when the tree runs (the default)" },
      { name: "detach", short: "d", type: "bool", help: "return as soon as the changes are on record" },
      idempotencyKey,
    ],
    examples: ["agent up", "agent up -f crew/holdfast.yaml --var REGION=eu"],
  },
  {
    words: ["diff"],
    command: "agent/diff",
    request: "tree/apply",
    group: "Start and stop",
    danger: "safe",
    stream: false,
    exits: [6],
    summary: "Show what agent up would change",
    details: "Exits with 0 whether or not there are changes; in JSON, changes has each with its action.",
    args: [],
    flags: [treeFile, variable],
    examples: ["agent diff", "agent diff -o json | jq '.data.changes[].path'"],
  },
  {
    words: ["down"],
    command: "agent/down",
    request: "tree/down",
    group: "Start and stop",
    danger: "destructive",
    stream: false,
    exits: [5, 6],
    summary: "Stop a tree in order, and forget it",
    details: "Returns when nothing of the tree is left.",
    args: [{ name: "NAME", help: "name of a tree, where its file is not at hand" }],
    flags: [treeFile, dryRun, idempotencyKey],
    examples: ["agent down", "agent down shop"],
  },
  {
    words: ["list"],
    alias: "ps",
    command: "agent/list",
    request: "agent/list",
    group: "Look",
    danger: "safe",
    stream: false,
    exits: [],
    summary: "List the workers",
    args: [],
    flags: [
      { name: "all", short: "a", type: "bool", help: "also what has ended" },
      { name: "quiet", short: "q", type: "bool", help: "whole ids alone, one a line" },
      {
        name: "limit",
        type: "int",
        value: "N",
        help: "at most so many, in order of their ids; 0 is all",
        default: String(LIST_PAGE_MAX_WORKERS),
      },
      {
        name: "cursor",
        type: "string",
        value: "C",
        help: "the page after the one whose meta.cursor this is",
      },
    ],
    examples: ["agent list", "agent list --all -o json | jq '.data[].name'", "agent list --limit 20"],
  },
  {
    words: ["tree"],
    command: "agent/tree",
    request: "agent/tree",
    group: "Look",
    danger: "safe",
    stream: ["follow"],
    exits: [],
    summary: "Show the supervision tree: strategies, windows used, states and reasons",
    args: [],
    flags: [
      { name: "follow", short: "f", type: "bool", help: "again whenever it changes" },
      { name: "fibers", type: "bool", help: "show the fiber of each worker and supervisor in the daemon" },
    ],
    examples: ["agent tree", "agent tree -f", "agent tree --fibers"],
  },
  {
    words: ["why"],
    command: "agent/why",
    request: "agent/why",
    group: "Look",
    danger: "safe",
    stream: false,
    exits: [5],
    summary: "Explain the state of a worker: the supervisor's decisions in order",
    details:
      "From records alone: ends, restarts counted in which window, stops and who asked for them, what the supervisors above decided.",
    args: [{ ...id, help: "worker, or path of a supervisor" }],
    flags: [],
    examples: ["agent why fixer", "agent why crew/fixer"],
  },
  {
    words: ["info"],
    command: "agent/info",
    request: "agent/info",
    group: "Look",
    danger: "safe",
    stream: false,
    exits: [5],
    summary: "Show all that is known of one worker",
    args: [id],
    flags: [],
    examples: ["agent info fixer"],
  },
  {
    words: ["usage"],
    command: "agent/usage",
    request: "agent/usage",
    group: "Look",
    danger: "safe",
    stream: false,
    exits: [5],
    summary: "Sum up tokens, cost, turns, tool calls and time: by day, kind, model, worker or label",
    details:
      "Counts completed turns, also those of workers that have ended. Without an ID, and for `root`: every worker there ever was. For a supervisor: everything below it. Days are those of UTC. IN counts tokens that were neither read from the provider's cache nor counted in CACHED, whatever the agent's CLI counts where; REASONING is a part of OUT. COST is what agents reported. ESTIMATE is by a list of prices, for turns without a reported cost; it is no part of COST. A model without a price is in neither, and a warning names it. For prices of your own, set HOLDFAST_PRICES=FILE in the daemon's environment (docs/usage.md).",
    args: [ids("workers, or paths of supervisors", { required: false })],
    flags: [
      {
        name: "by",
        type: "string",
        value: "WHAT",
        suggests: ["day", "kind", "model", "worker", "label:"],
        help: "day, kind, model, worker or label:KEY",
        default: "day",
      },
      { name: "since", type: "duration", value: "7d", help: "turns that were completed in the last so long" },
      { name: "subtree", type: "bool", help: "and all that their agents have spawned" },
    ],
    examples: [
      "agent usage --since 7d",
      "agent usage --by model",
      "agent usage --by label:team",
      "agent usage fixer --subtree --by worker",
    ],
  },
  {
    words: ["watch"],
    command: "agent/watch",
    request: "agent/watch",
    group: "Look",
    danger: "safe",
    stream: true,
    exits: [5],
    summary: "Follow records; ends with the workers named",
    details:
      "With --all, or with no ID, it goes on until Ctrl-C, which leaves the workers running. A cursor is the seq of the last record seen, or EPOCH:SEQ, as the reply and the hints have it. After an older copy of the log was put back, a cursor with the epoch is refused, and one without it may be misread.",
    args: [ids("workers to follow", { required: false })],
    flags: [
      { name: "all", short: "a", type: "bool", help: "every worker, and do not end" },
      {
        name: "from",
        type: "cursor",
        value: "SEQ",
        help: "records after this seq, or EPOCH:SEQ, then the live ones",
      },
      since,
      {
        name: "kinds",
        type: "list",
        value: "K,…",
        help: "record types, or kinds of agent events (TextOutput, ToolCall, …)",
      },
      verbose,
    ],
    examples: ["agent watch fixer", "agent watch --all --since 10m", "agent watch --from 812 -o ndjson"],
  },
  {
    words: ["logs"],
    command: "agent/logs",
    group: "Look",
    danger: "safe",
    stream: true,
    exits: [5],
    summary: "Show what a worker said and what happened to it",
    details:
      "--raw prints the bytes that it wrote, as long as they are kept (of a long output the newest, while it runs); control characters are made harmless when stdout is a terminal.",
    args: [id],
    flags: [
      { name: "follow", short: "f", type: "bool", help: "go on until the worker ends" },
      { name: "tail", type: "int", value: "N", help: "the newest N records only; in text, of those shown" },
      since,
      {
        name: "raw",
        type: "bool",
        help: "the raw stdout of the newest incarnation, as bytes, also to a file or a pipe",
      },
      { name: "stderr", type: "bool", help: "with --raw: its stderr instead" },
      verbose,
    ],
    examples: ["agent logs fixer --tail 20", "agent logs -f fixer"],
  },
  {
    words: ["output"],
    command: "agent/output",
    request: "agent/output",
    group: "Look",
    danger: "safe",
    stream: false,
    exits: [5],
    summary: "Print the final answer, and nothing else",
    details: "Prints text unless -o or HOLDFAST_OUTPUT says otherwise, also to a file or a pipe.",
    args: [id],
    flags: [],
    examples: ["agent output fixer > answer.md"],
  },
  {
    words: ["changes"],
    command: "agent/changes",
    request: "agent/changes",
    group: "Look",
    danger: "safe",
    stream: false,
    exits: [5, 6],
    summary: "Show what a worker's agents have changed in its worktree, as a diff",
    details:
      "For a worker that was spawned with --worktree: from the commit that it was made at to what is there now, committed or not, with files that git does not know yet. The diff is kept as an artifact. Secrets in it are masked. Prints the diff as text unless -o or HOLDFAST_OUTPUT says otherwise, also to a file or a pipe.",
    args: [id],
    flags: [
      { name: "stat", type: "bool", help: "in text: the files and how many lines, and not the diff" },
      { name: "name-only", type: "bool", help: "in text: the names of the files alone" },
    ],
    examples: ["agent changes fixer --stat", "agent changes fixer -o text | git apply"],
  },
  {
    words: ["worktree", "remove"],
    command: "worktree/remove",
    request: "worktree/remove",
    group: "Start and stop",
    danger: "destructive",
    stream: false,
    exits: [2, 5, 6],
    summary: "Remove the worktrees of workers that have ended, where nothing would be lost",
    details:
      "One with changes that are not committed, with files that git does not know, or with commits on no branch is kept, and told with its path. Ignored files go. The branch stays.",
    args: [ids("workers that have ended")],
    flags: [],
    examples: ["agent worktree remove fixer"],
  },
  {
    words: ["wait"],
    command: "agent/wait",
    request: "agent/wait",
    group: "Look",
    danger: "safe",
    stream: false,
    exits: [2, 5, 6, 7, 8, 10, 11],
    summary: "Block until workers have ended; the exit code says how it went",
    details:
      "Completed is 0, its own timeout 10. A worker that failed gives its own code: credentials 8, a provider's limit 11, a time that was up 10, a spent restart window 12, its program 2, killed by a user 1 (WORKER_CANCELLED). Some failed is 2; all failed, not all alike, is 1.",
    args: [ids("workers to wait for", { complete: "living" })],
    flags: [
      {
        name: "timeout",
        type: "duration",
        value: "10m",
        help: "wait no longer than this",
        default: "for ever",
      },
      {
        name: "exit-code-from",
        type: "string",
        value: "ID",
        complete: "worker",
        help: "exit with the code of this worker's program",
      },
    ],
    examples: ["agent wait fixer --timeout 10m", "agent wait a b --exit-code-from b"],
  },
  {
    words: ["answer"],
    command: "agent/answer",
    request: "agent/answer",
    group: "Talk",
    danger: "mutating",
    stream: false,
    exits: [5, 6],
    summary: "Answer a worker that asks: stuck, out of budget, or interrupted",
    details:
      "A worker that may be stuck: wait gives it its stall time once more, restart and kill do what the commands do; without an answer it is stopped, and its restart policy decides. A spent budget: continue grants as much again, stop ends all that count in it; without an answer they stay paused. An interrupted turn: continue goes on in the session (the open tool may run again), fresh begins anew, stop ends the worker; without an answer it waits. ID is a worker, or the path of a supervisor.",
    args: [
      { ...id, complete: "living" },
      {
        name: "ANSWER",
        help: "wait, restart or kill; continue or stop; fresh",
        required: true,
        values: ANSWERS,
      },
    ],
    flags: [idempotencyKey],
    examples: ["agent answer fixer wait", "agent answer crew continue"],
  },
  {
    words: ["send"],
    command: "agent/send",
    request: "agent/send",
    group: "Talk",
    danger: "mutating",
    stream: false,
    exits: [5, 6, 11],
    summary: "Send a message to an agent that reads its input",
    details:
      "The worker was spawned with --interactive. The message is durable once this returns; it waits where no agent runs. TEXT is sent as a line. Text that - reads from stdin is sent as it is.",
    args: [
      { ...id, complete: "living" },
      { name: "TEXT", help: "the message; - reads stdin" },
    ],
    flags: [
      { name: "close", type: "bool", help: "nothing comes after it: the agent's input ends" },
      idempotencyKey,
    ],
    examples: ["agent send fixer 'also run the linter'", "agent send fixer --close"],
  },
  {
    words: ["ask"],
    command: "agent/ask",
    request: "agent/ask",
    group: "Talk",
    danger: "mutating",
    stream: false,
    exits: [2, 5, 6, 7, 8, 10, 11],
    summary: "Send a message, wait for the turn that answers it, and print the answer",
    details:
      "Only kinds that tell their turns can be asked: claude, codex and acp. The agent keeps the question when --timeout is over.",
    args: [
      { ...id, complete: "living" },
      { name: "TEXT", help: "the question; - reads stdin", required: true },
    ],
    flags: [
      {
        name: "timeout",
        type: "duration",
        value: "10m",
        help: "wait no longer than this",
        default: "for ever",
      },
      idempotencyKey,
    ],
    examples: ["agent ask fixer 'which tests fail?' --timeout 10m"],
  },
  {
    words: ["approvals", "approve"],
    command: "approvals/approve",
    group: "Talk",
    danger: "mutating",
    stream: false,
    exits: [5, 6],
    summary: "Allow an agent what it asks for, this once",
    args: [
      {
        name: "ID",
        help: "the request, a unique beginning of its id, or the worker that asks nothing else",
        required: true,
        complete: "living",
      },
    ],
    flags: [idempotencyKey],
    examples: ["agent approvals approve fixer"],
  },
  {
    words: ["approvals", "deny"],
    command: "approvals/deny",
    group: "Talk",
    danger: "mutating",
    stream: false,
    exits: [5, 6],
    summary: "Deny an agent what it asks for; it goes on without",
    args: [
      {
        name: "ID",
        help: "the request, a unique beginning of its id, or the worker that asks nothing else",
        required: true,
        complete: "living",
      },
    ],
    flags: [
      { name: "reason", type: "string", value: "TEXT", help: "for the agent: why not" },
      idempotencyKey,
    ],
    examples: ["agent approvals deny fixer --reason 'use the test database'"],
  },
  {
    words: ["approvals"],
    command: "agent/approvals",
    request: "agent/approvals",
    group: "Talk",
    danger: "safe",
    stream: false,
    exits: [5],
    summary: "List what agents ask permission for",
    details:
      "Requests come from workers with --permission ask, and from calls of tools that --ask-tool names. A request that nobody answers is denied once --approval-within is over, unless --approval-default says otherwise.",
    args: [
      {
        name: "ID",
        help: "one request, answered or not, or a worker: what it asks; `list` is all of them",
        complete: "living",
      },
    ],
    flags: [
      { name: "all", short: "a", type: "bool", help: "also those that are answered" },
      {
        name: "limit",
        type: "int",
        value: "N",
        help: `so many at most, up to ${APPROVALS_PAGE_MAX}`,
        default: String(APPROVALS_PAGE_MAX),
      },
      { name: "cursor", type: "string", value: "C", help: "those after an earlier page" },
    ],
    examples: ["agent approvals", "agent approvals fixer --all"],
  },
  {
    words: ["cancel"],
    command: "agent/cancel",
    request: "agent/cancel",
    group: "Talk",
    danger: "mutating",
    stream: false,
    exits: [5, 6],
    summary: "End the turn of an interactive agent and keep it",
    args: [{ ...id, complete: "living" }],
    flags: [idempotencyKey],
    examples: ["agent cancel fixer"],
  },
  {
    words: ["messages"],
    command: "agent/messages",
    request: "agent/messages",
    group: "Talk",
    danger: "safe",
    stream: false,
    exits: [5],
    summary: "List the messages to an agent, and how far each has come",
    details:
      "accepted: it waits for an agent. delivered: it is in the agent's input. acknowledged: the agent has shown that it has it. undeliverable: the worker ended before. unknown: the agent ended before it acknowledged it. The newest ones are shown; where there are older ones, a cursor for them is told (in JSON: meta.truncated, meta.cursor).",
    args: [id],
    flags: [
      {
        name: "limit",
        type: "int",
        value: "N",
        help: `so many at most, up to ${MESSAGES_PAGE_MAX}`,
        default: String(MESSAGES_PAGE_DEFAULT),
      },
      { name: "cursor", type: "string", value: "C", help: "those before an earlier page" },
    ],
    examples: ["agent messages fixer", "agent messages fixer --limit 20"],
  },
  {
    words: ["capabilities"],
    command: "agent/capabilities",
    request: "agent/capabilities",
    group: "This machine",
    danger: "safe",
    stream: false,
    exits: [],
    summary: "Show what each kind of agent can do here",
    args: [{ name: "KIND", help: "one kind alone", complete: "kind" }],
    flags: [],
    examples: ["agent capabilities claude"],
  },
  {
    words: ["mcp", "list"],
    command: "mcp/list",
    group: "This machine",
    danger: "safe",
    stream: false,
    exits: [7, 10],
    summary: "List the MCP servers of an agent's own CLI",
    details: MCP_DETAILS,
    args: [mcpKind],
    flags: mcpFlags,
    examples: ["agent mcp list codex"],
  },
  {
    words: ["mcp", "get"],
    command: "mcp/get",
    group: "This machine",
    danger: "safe",
    stream: false,
    exits: [7, 10],
    summary: "Show one MCP server of an agent's own CLI",
    details: MCP_DETAILS,
    args: [mcpKind, mcpName],
    flags: mcpFlags,
    examples: ["agent mcp get codex docs"],
  },
  {
    words: ["mcp", "add"],
    command: "mcp/add",
    group: "This machine",
    danger: "mutating",
    stream: false,
    exits: [7, 10],
    argv: true,
    summary: "Add an MCP server to an agent's own CLI",
    details: `The server is a command after --, or an address with --url. ${MCP_DETAILS} Must be allowed: allow_mcp_write of the kind in config.yaml (docs/daemon.md).`,
    args: [mcpKind, mcpName],
    flags: [
      ...mcpFlags,
      { name: "url", type: "string", value: "URL", help: "address of a server over HTTP" },
      {
        name: "bearer-env-var",
        type: "string",
        value: "NAME",
        help: "variable in which the CLI finds the token for --url (codex)",
      },
      {
        name: "server-env",
        type: "pair",
        value: "K=V",
        repeatable: true,
        help: "variable of the server's command, as the CLI keeps it",
      },
    ],
    examples: [
      "agent mcp add codex docs -- docs-server --stdio",
      "agent mcp add claude docs --url https://docs.example/mcp",
    ],
  },
  {
    words: ["mcp", "remove"],
    command: "mcp/remove",
    group: "This machine",
    danger: "mutating",
    stream: false,
    exits: [7, 10],
    summary: "Remove an MCP server from an agent's own CLI",
    details: `${MCP_DETAILS} Must be allowed: allow_mcp_write of the kind in config.yaml (docs/daemon.md).`,
    args: [mcpKind, mcpName],
    flags: mcpFlags,
    examples: ["agent mcp remove codex docs"],
  },
  {
    words: ["doctor"],
    command: "agent/doctor",
    group: "This machine",
    danger: "safe",
    stream: false,
    exits: [],
    summary: "Find what is missing on this machine, and how to fix it",
    args: [],
    flags: [],
    examples: ["agent doctor"],
  },
  {
    words: ["daemon", "run"],
    command: "daemon/run",
    group: "This machine",
    danger: "mutating",
    stream: false,
    exits: [6],
    summary: "Run the daemon in the foreground",
    args: [],
    flags: [],
    examples: ["agent daemon run"],
  },
  {
    words: ["daemon", "start"],
    command: "daemon/start",
    group: "This machine",
    danger: "mutating",
    stream: false,
    exits: [6],
    summary: "Start the daemon in the background",
    args: [],
    flags: [],
    examples: ["agent daemon start"],
  },
  {
    words: ["daemon", "stop"],
    command: "daemon/stop",
    request: "daemon/stop",
    group: "This machine",
    danger: "destructive",
    stream: false,
    exits: [],
    summary: "Stop the daemon; refuses while agents run",
    args: [],
    flags: [
      { name: "keep-agents", type: "bool", help: "leave them running for the next daemon to adopt" },
      { name: "kill-agents", type: "bool", help: "stop them first, in reverse order of their start" },
      dryRun,
    ],
    examples: ["agent daemon stop --keep-agents"],
  },
  {
    words: ["daemon", "status"],
    command: "daemon/status",
    request: "daemon/status",
    group: "This machine",
    danger: "safe",
    stream: false,
    exits: [],
    summary: "Tell whether the daemon runs, and what it costs",
    args: [],
    flags: [],
    examples: ["agent daemon status"],
  },
  {
    words: ["daemon", "upgrade"],
    command: "daemon/upgrade",
    group: "This machine",
    danger: "mutating",
    stream: false,
    exits: [1, 6, 12],
    summary: "Let the daemon of this version take over; agents notice nothing",
    args: [],
    flags: [{ name: "force", type: "bool", help: "also where the daemon has this version already" }],
    examples: ["agent daemon upgrade"],
  },
  {
    words: ["daemon", "install"],
    command: "daemon/install",
    group: "This machine",
    danger: "mutating",
    stream: false,
    exits: [6],
    summary: "Write the daemon as a service of the user (systemd, launchd)",
    args: [],
    flags: [
      { name: "now", type: "bool", help: "enable and start it, where a manager of the user answers" },
      { name: "force", type: "bool", help: "write over a file that somebody has edited" },
      { name: "dry-run", type: "bool", help: "print what would be written" },
    ],
    examples: ["agent daemon install --now"],
  },
  {
    words: ["daemon", "uninstall"],
    command: "daemon/uninstall",
    group: "This machine",
    danger: "mutating",
    stream: false,
    exits: [6],
    summary: "Remove the service that daemon install wrote; agents go on",
    args: [],
    flags: [
      { name: "now", type: "bool", help: "disable and stop it first" },
      { name: "force", type: "bool", help: "remove a file that somebody has edited" },
      { name: "dry-run", type: "bool", help: "say what would be removed" },
    ],
    examples: ["agent daemon uninstall --now"],
  },
  {
    words: ["db", "check"],
    command: "db/check",
    request: "db/check",
    group: "This machine",
    danger: "safe",
    stream: false,
    exits: [],
    summary: "Check the whole event log",
    args: [],
    flags: [],
    examples: ["agent db check"],
  },
  {
    words: ["db", "rebuild"],
    command: "db/rebuild",
    request: "db/rebuild",
    group: "This machine",
    danger: "mutating",
    stream: false,
    exits: [],
    summary: "Fold all tables again from the log",
    args: [],
    flags: [],
    examples: ["agent db rebuild"],
  },
  {
    words: ["db", "gc"],
    command: "db/gc",
    request: "db/gc",
    group: "This machine",
    danger: "mutating",
    stream: false,
    exits: [],
    summary: "Move old output to archives, and give its space back",
    details:
      "Only the output of incarnations that have ended; what was decided, used and spent stays. The daemon does the same by itself, after HOLDFAST_RETENTION (30d), and where the log takes more than HOLDFAST_RETENTION_SIZE (no bound). --vacuum is for a database that an early version made, and for a stopped daemon; it needs as much free disk again, twice.",
    args: [],
    flags: [
      { name: "older-than", type: "duration", value: "7d", help: "output recorded so long ago, or longer" },
      {
        name: "max-size",
        type: "size",
        value: "5G",
        help: "and the oldest output, until the log takes no more than this",
      },
      { name: "dry-run", type: "bool", help: "only say how much it would be" },
      { name: "vacuum", type: "bool", help: "then write the database anew, without its free pages" },
      { name: "no-archive", type: "bool", help: "remove it for good" },
    ],
    examples: ["agent db gc --dry-run", "agent db gc --older-than 7d"],
  },
  {
    words: ["db", "export"],
    command: "db/export",
    group: "This machine",
    danger: "safe",
    stream: true,
    exits: [],
    summary: "Print the whole log with its archives, one JSON record a line",
    args: [],
    details:
      "--format v2 prints the run and worker events of the runtime architecture instead: a stream for each worker and for each of its runs. Prints text unless -o or HOLDFAST_OUTPUT says otherwise, also to a file or a pipe.",
    flags: [
      {
        name: "format",
        type: "enum",
        values: ["records", "v2"],
        value: "FORMAT",
        help: "records of the log, or run and worker events",
        default: "records",
      },
      { name: "from", type: "int", value: "SEQ", help: "the first record" },
      { name: "to", type: "int", value: "SEQ", help: "the last record" },
    ],
    examples: ["agent db export | gzip > log.ndjson.gz", "agent db export --format v2 > events.ndjson"],
  },
  {
    words: ["cas", "put"],
    command: "cas/put",
    group: "For programs",
    danger: "mutating",
    stream: false,
    exits: [7],
    summary: "Keep a file as an artifact, and print its digest",
    details:
      "The same content is kept once. An artifact that nobody pins and no record names is removed 30 days after it was put last. A file with something that looks like a secret is refused.",
    args: [{ name: "FILE", help: "the file; - reads stdin", required: true }],
    flags: [
      { name: "mask", type: "bool", help: "keep it with *** in the place of what looks like a secret" },
    ],
    examples: ["agent cas put report.json", "make 2>&1 | agent cas put - --mask"],
  },
  {
    words: ["cas", "get"],
    command: "cas/get",
    group: "For programs",
    danger: "safe",
    stream: false,
    exits: [5, 7],
    summary: "Print the bytes of an artifact, verified",
    details: "Prints text unless -o or HOLDFAST_OUTPUT says otherwise, also to a file or a pipe.",
    args: [digest],
    flags: [{ name: "out", type: "string", value: "F", help: "write them to this file" }],
    examples: [`agent cas get ${EXAMPLE_DIGEST} --out report.json`],
  },
  {
    words: ["cas", "pin"],
    command: "cas/pin",
    group: "For programs",
    danger: "mutating",
    stream: false,
    exits: [5, 7],
    summary: "Keep an artifact until it is unpinned",
    args: [digest],
    flags: [],
    examples: [`agent cas pin ${EXAMPLE_DIGEST}`],
  },
  {
    words: ["cas", "unpin"],
    command: "cas/unpin",
    group: "For programs",
    danger: "mutating",
    stream: false,
    exits: [5, 7],
    summary: "Let an artifact be removed again",
    args: [digest],
    flags: [],
    examples: [`agent cas unpin ${EXAMPLE_DIGEST}`],
  },
  {
    words: ["cas", "list"],
    command: "cas/list",
    group: "For programs",
    danger: "safe",
    stream: false,
    exits: [7],
    summary: "List the artifacts, the newest first",
    args: [],
    flags: [],
    examples: ["agent cas list"],
  },
  {
    words: ["cas", "gc"],
    command: "cas/gc",
    group: "For programs",
    danger: "destructive",
    stream: false,
    exits: [7],
    summary: "Remove artifacts that are old, not pinned, and named by no record",
    details: "Never one that was put within the last hour. The daemon does the same by itself after 30 days.",
    args: [],
    flags: [
      {
        name: "older-than",
        type: "duration",
        value: "7d",
        help: "put so long ago, or longer",
        default: "30d",
      },
      { name: "dry-run", type: "bool", help: "only say how much it would be" },
    ],
    examples: ["agent cas gc --dry-run", "agent cas gc --older-than 7d"],
  },
  {
    words: ["proto", "validate"],
    command: "proto/validate",
    group: "For programs",
    danger: "safe",
    stream: false,
    exits: [],
    summary: "Check a Protocol v1 envelope, or a stream of them",
    details:
      "Each finding tells the rule that is broken, the place and what to do. Without --stream the first JSON value of the input is checked, as the originals do. No daemon is needed.",
    args: [],
    flags: [
      { ...input, help: "file to check; - is stdin" },
      {
        name: "level",
        type: "enum",
        values: ["wire", "spec"],
        value: "LEVEL",
        help: "wire: what the originals accept; spec: every rule of the document",
        default: "spec",
      },
      { name: "strict", type: "bool", help: "refuse unknown members too, and anything after the envelope" },
      { name: "stream", type: "bool", help: "one envelope a line: progress, then exactly one ok or error" },
    ],
    examples: [
      "agent proto validate --input envelope.json",
      "agent list -o ndjson | agent proto validate --stream",
    ],
  },
  {
    words: ["event", "validate"],
    command: "event/validate",
    group: "For programs",
    danger: "safe",
    stream: false,
    exits: [],
    summary: "Check AgentEvents, one JSON object a line",
    details: "Checks the six fields, the kinds and the bounds of agent-event.txt. No daemon is needed.",
    args: [],
    flags: [
      { ...input, help: "file to check; - is stdin" },
      { name: "strict", type: "bool", help: "each kind of event has the members that belong to it, too" },
    ],
    examples: ["agent event validate --input events.ndjson"],
  },
  {
    words: ["completion"],
    command: "agent/completion",
    group: "For programs",
    danger: "safe",
    stream: false,
    exits: [],
    summary: "Print a completion script for your shell",
    details: "Text unless -o says otherwise, whatever HOLDFAST_OUTPUT says.",
    args: [
      {
        name: "SHELL",
        help: "bash, zsh or fish",
        required: true,
        values: ["bash", "zsh", "fish"],
      },
    ],
    flags: [],
    examples: [
      'eval "$(agent completion bash)"',
      "agent completion fish -o text > ~/.config/fish/completions/agent.fish",
    ],
  },
  {
    words: ["manifest"],
    command: "agent/manifest",
    group: "For programs",
    danger: "safe",
    stream: false,
    exits: [],
    summary: "Print every command with its flags, exit codes and schemas, as JSON",
    args: [],
    flags: [
      {
        name: "etag",
        type: "string",
        value: "E",
        help: "the etag of the manifest that you have: if it is still this one, data is null",
      },
    ],
    examples: ["agent manifest -o json"],
  },
  {
    words: ["version"],
    command: "agent/version",
    group: "For programs",
    danger: "safe",
    stream: false,
    exits: [],
    summary: "Print the version of this command",
    args: [],
    flags: [],
    examples: ["agent version"],
  },
];
