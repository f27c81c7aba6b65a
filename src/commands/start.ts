/** Commands that start, stop, pause and continue workers. */
import { inGroup } from "./command.ts";
import { dryRun, id, idempotencyKey, ids, labelled } from "./flags.ts";
import { kindsThatTake, kindWords } from "./kinds.ts";
import { SPAWN_FLAGS, spawnFlags } from "./spawn-flags.ts";

/** The flags of spawn that resume and fork also take. */
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

export const START_COMMANDS = inGroup("Start and stop", [
  {
    words: ["demo"],
    danger: "safe",
    stream: true,
    summary: "See supervision at work: no account, no network, under 15 s",
    details:
      "Runs a small tree of scripted agents under a daemon and a state directory of its own, and removes both at the end.",
    examples: ["agent demo"],
  },
  {
    words: ["spawn"],
    request: "agent/spawn",
    danger: "mutating",
    stream: ["watch"],
    exits: [2, 5, 6, 7, 8, 10, 11],
    argv: true,
    summary: "Start a supervised worker and print its id",
    details: `KIND is ${kindWords()}. Starts the daemon if none runs. The child gets a small environment of its own and does not inherit yours; --env and --inherit-env add to it. Pass secrets by reference: --env KEY=@env:NAME or @file:PATH.`,
    args: [
      { name: "KIND", help: "kind of agent", complete: "kind" },
      { name: "PROMPT", help: "the agent's task; - reads stdin" },
    ],
    flags: SPAWN_FLAGS,
    examples: [
      "agent spawn claude 'fix the failing test' --name fixer --watch",
      "agent spawn --name web --restart permanent -- sh -c 'exec my-server'",
      "ID=$(agent spawn codex --prompt-file task.md -o text)",
    ],
  },
  {
    words: ["spawn-many"],
    request: "agent/spawn-many",
    danger: "mutating",
    exits: [1, 2, 5, 6, 8, 10, 11],
    summary: "Start several agents by their roles: all of them, or none",
    details:
      "FILE is YAML or JSON: {epic_id, spawn_reason, requested_subagents: [{role, task, local_max_depth}], wait_for_completion}, or the list of agents alone. All agents are checked first; if one is denied, none starts, and each denial has a code as its reason. The roles are overseer, worker, companion, and the roles of config.yaml. A role inherits everything else from the worker whose agent asks, and its rights only narrow. A role without a kind needs such a worker.",
    args: [{ name: "FILE", help: "the request; - reads stdin", required: true }],
    flags: [
      { name: "epic", type: "string", value: "ID", help: "the epic that they work on, a label of each" },
      { name: "reason", type: "string", value: "TEXT", help: "why they are needed" },
      { name: "wait", type: "bool", help: "wait until all of them have ended" },
      idempotencyKey,
    ],
    examples: [
      "agent spawn-many crew.yaml --wait",
      "echo '[{role: worker, task: Fix the login}]' | agent spawn-many -",
    ],
  },
  {
    words: ["resume"],
    danger: "mutating",
    stream: ["watch"],
    exits: [2, 5, 6, 7, 8, 10, 11],
    summary: "Continue the session of an earlier worker in a new one",
    details:
      "The new worker takes the spec, the name, the labels and the last session of ID; the record of ID itself does not change. A session has at most one living worker; SESSION_IN_USE names it. With --session S or --last (the newest session of the directory) the first argument is a KIND, and the command does what `agent spawn KIND PROMPT --session S` does. An interactive worker needs no PROMPT; it waits for `agent send`. With a PROMPT and --wait the new worker answers it and ends, unless --interactive is given.",
    args: [
      {
        name: "ID",
        help: "the worker to continue; with --session or --last, a KIND",
        required: true,
        complete: "worker",
      },
      { name: "PROMPT", help: "the agent's next task; - reads stdin" },
    ],
    flags: [
      {
        name: "session",
        type: "string",
        value: "S",
        help: "continue this session of the provider, even if no worker had it",
      },
      { name: "last", type: "bool", help: "continue the newest session of the directory" },
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
    request: "agent/fork",
    danger: "mutating",
    stream: ["watch"],
    exits: [2, 5, 6, 7, 8, 10, 11],
    summary: "Branch the session of a worker: a new worker in the branch",
    details: `Like \`agent resume ID\`, but the session itself stays as it is, and its worker may continue in it. The new worker has no name unless --name gives one. Kinds that can fork a session: ${kindsThatTake("fork").join(", ")}.`,
    args: [
      { ...id, help: "the worker whose session is branched" },
      { name: "PROMPT", help: "the agent's next task; - reads stdin" },
    ],
    flags: [...spawnFlags("name"), ...RESUME_FLAGS],
    examples: ["agent fork fixer 'try it without the cache' --name bold"],
  },
  {
    words: ["kill"],
    request: "agent/kill",
    danger: "destructive",
    exits: [2, 5],
    summary: "Stop workers: TERM, grace, KILL, sweep",
    details:
      "Returns once no process of the workers is left. The path of a supervisor stands for all workers below it, which stop in the supervisor's order; --grace and --signal then apply to each of them. A second kill of the same worker ends its grace. Killing a worker that has already ended succeeds with effect noop.",
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
      { name: "subtree", type: "bool", help: "also the workers that these spawned" },
      labelled,
      { name: "all", short: "a", type: "bool", help: "all living workers" },
      { name: "reason", type: "string", value: "TEXT", help: "kept in the log" },
      dryRun,
      idempotencyKey,
    ],
    examples: ["agent kill fixer", "agent kill --label team=a", "agent kill --all --grace 2s"],
  },
  {
    words: ["restart"],
    request: "agent/restart",
    danger: "mutating",
    exits: [2, 5],
    summary: "Start a new incarnation, even of a worker that has ended",
    details:
      "Stops a running worker first, with its own grace. A restart that you ask for counts in no restart window, and empties the worker's window.",
    args: [ids("workers to restart", { required: false })],
    flags: [labelled, dryRun, idempotencyKey],
    examples: ["agent restart web"],
  },
  {
    words: ["pause"],
    request: "agent/pause",
    danger: "mutating",
    exits: [2, 5, 6],
    summary: "Freeze the processes of workers until unpause",
    details:
      "Sends SIGSTOP to the agent and all its descendants. Its timeout, stall, tool and heartbeat clocks stop too. A pause ends with agent unpause, with a kill or a restart, or with the incarnation. The path of a supervisor pauses every worker that runs below it now.",
    args: [ids("workers to pause", { required: false, complete: "living" })],
    flags: [
      labelled,
      { name: "reason", type: "string", value: "TEXT", help: "kept in the log, shown in agent list" },
      dryRun,
      idempotencyKey,
    ],
    examples: ["agent pause fixer --reason 'the laptop is hot'", "agent pause crew"],
  },
  {
    words: ["unpause"],
    request: "agent/unpause",
    danger: "mutating",
    exits: [2, 5],
    summary: "Let paused workers continue, whatever the reason for the pause",
    args: [ids("workers to continue", { required: false, complete: "living" })],
    flags: [labelled, dryRun, idempotencyKey],
    examples: ["agent unpause fixer"],
  },
]);
