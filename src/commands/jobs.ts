/** Commands of jobs. */
import { JOBS_PAGE_DEFAULT, JOBS_PAGE_MAX } from "../base/limits.ts";
import { JOB_STATES } from "../protocol/jobs.ts";
import { inGroup } from "./command.ts";
import { id, idempotencyKey, ids, pageFlags, waitTimeout } from "./flags.ts";
import { spawnFlagsBut } from "./spawn-flags.ts";

/** A job is never restarted. */
const JOB_FLAGS = spawnFlagsBut(
  "restart",
  "max-restarts",
  "backoff",
  "dry-run",
  "watch",
  "wait",
  "detach",
  "verbose",
);

export const JOB_COMMANDS = inGroup("Jobs", [
  {
    words: ["jobs", "submit"],
    request: "jobs/submit",
    danger: "mutating",
    exits: [2, 5, 6, 7, 8, 10, 11],
    argv: true,
    summary: "Start a job, a worker that is never restarted, and print its id",
    details:
      "Takes the arguments and flags of `agent spawn`, except the restart policy. A job queues like every worker, and survives the end of the daemon.",
    args: [
      { name: "KIND", help: "kind of agent", complete: "kind" },
      { name: "PROMPT", help: "the agent's task; - reads stdin" },
    ],
    flags: JOB_FLAGS,
    examples: ["agent jobs submit --name tests -- npm test", "JOB=$(agent jobs submit -o text -- make test)"],
  },
  {
    words: ["jobs", "list"],
    request: "jobs/list",
    danger: "safe",
    summary: "List the jobs, including ended ones, oldest first",
    flags: [
      {
        name: "state",
        type: "list",
        value: "S,…",
        suggests: JOB_STATES,
        help: `only jobs in these states: ${JOB_STATES.join(", ")}`,
      },
      ...pageFlags(JOBS_PAGE_MAX, JOBS_PAGE_DEFAULT),
    ],
    examples: ["agent jobs list", "agent jobs list --state queued,running"],
  },
  {
    words: ["jobs", "info"],
    request: "jobs/info",
    danger: "safe",
    exits: [5],
    summary: "Show the state of one job",
    args: [id],
    examples: ["agent jobs info $JOB"],
  },
  {
    words: ["jobs", "tail"],
    request: "jobs/tail",
    danger: "safe",
    stream: true,
    exits: [5],
    summary: "Follow the steps of a job to its end",
    details:
      "Each step has a stage and a message of at most 1 KB. The last step has the state in which the job ended as its stage; in ndjson, meta.final marks it. `agent watch` shows the records themselves.",
    args: [id],
    flags: [
      { name: "from", type: "int", value: "SEQ", min: 0, help: "only steps after this seq" },
      { name: "no-follow", type: "bool", help: "end with the newest step, even if the job goes on" },
    ],
    examples: ["agent jobs tail $JOB", "agent jobs tail $JOB -o ndjson"],
  },
  {
    words: ["jobs", "wait"],
    request: "jobs/wait",
    danger: "safe",
    exits: [2, 5, 6, 7, 8, 10, 11],
    summary: "Block until jobs have ended",
    args: [ids("jobs to wait for")],
    flags: [waitTimeout],
    examples: ["agent jobs wait $JOB --timeout 10m"],
  },
  {
    words: ["jobs", "result"],
    request: "jobs/result",
    danger: "safe",
    exits: [5],
    summary: "Print the final answer of a job",
    args: [id],
    examples: ["agent jobs result $JOB > answer.md"],
  },
  {
    words: ["jobs", "cancel"],
    request: "jobs/cancel",
    danger: "destructive",
    exits: [2, 5],
    summary: "End jobs: TERM, grace, KILL, sweep",
    args: [ids("jobs to end", { complete: "living" })],
    flags: [
      {
        name: "grace",
        type: "duration",
        value: "10s",
        help: "time between TERM and KILL",
        default: "the worker's own",
      },
      { name: "reason", type: "string", value: "TEXT", help: "kept in the log" },
      idempotencyKey,
    ],
    examples: ["agent jobs cancel $JOB --reason 'not needed any more'"],
  },
]);
