/** The `data` of each command in JSON, as zod schemas. Only the manifest and --schema load them, never the client's quick path. */
import * as z from "zod";
import type { Replies } from "../daemon/replies.ts";
import { AgentCompletion } from "../protocol/completion.ts";
import { ANSWERS, HOLD_REASONS } from "../protocol/holds.ts";
import { JOB_STATES, type JobStep } from "../protocol/jobs.ts";
import type { ModelUsage, Usage, WorkerError } from "../protocol/records.ts";
import { ClaimReply, ItemView, PostReply, ReleaseReply } from "../protocol/replies/blackboard.ts";
import { BoardReply, CardInfo, CardMoved, CardsAdded, DispatchSet } from "../protocol/replies/board.ts";
import { PruneResult, RenameReply } from "../protocol/replies/care.ts";
import {
  MailAckReply,
  MailChangedReply,
  MailLeaseReply,
  MailSentReply,
  MailView,
  PolledMail,
} from "../protocol/replies/mail.ts";
import { code, digest, effect, id, time } from "../protocol/replies/reply.ts";
import {
  NextTimes,
  ScheduleChange,
  ScheduleInfo,
  ScheduleLine,
  ScheduleRunReply,
  ScheduleView,
} from "../protocol/replies/schedules.ts";
import { SearchHit } from "../protocol/replies/search.ts";
import { SkillView } from "../protocol/replies/skills.ts";
import { SpawnManyReply } from "../protocol/replies/spawn-many.ts";
import { TokenChange, TokenView } from "../protocol/replies/tokens.ts";
import { workspace } from "../protocol/replies/workspace.ts";
import { Strategy, SupervisorPhase } from "../protocol/tree.ts";
import { Budget, Priority, WorkerSpec, WorkerState, WorkerStatus } from "../protocol/worker.ts";
import type { AppliedReply, PerWorker, TreeNode, WaitReply, WorkerInfo, WorkerView } from "../runtime/api.ts";
import type { JobView } from "../runtime/job-replies.ts";
import type { BudgetView, UsageReply } from "../runtime/replies.ts";
import type { TurnRow } from "../store/views.ts";
import type { DoctorReport } from "./reports.ts";
import { LOCAL_OUTPUTS } from "./schemas-local.ts";

const workerErrorFields = z.object({
  code,
  message: z.string(),
  retry_after_s: z.number().optional(),
  reset_at: z.string().optional().describe("when the provider's limit resets"),
  resets: z
    .object({
      year: z.int().optional(),
      month: z.int().optional(),
      day: z.int().optional(),
      hour: z.int(),
      minute: z.int(),
      zone: z.string().optional(),
    })
    .optional()
    .describe("the same as its CLI printed it; without a zone, in the machine's zone"),
});
const workerError: z.ZodType<WorkerError> = workerErrorFields;
const usage: z.ZodType<Usage> = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_tokens: z.int(),
  reasoning_tokens: z.int(),
  cost_usd: z.number().nullable().describe("dollars as the agent reports them"),
  estimated_usd: z
    .number()
    .optional()
    .describe("dollars by the price list, for usage without a reported cost"),
});
const modelUsage: z.ZodType<ModelUsage> = z.object({
  model: z.string().nullable(),
  input_tokens: z.int().describe("without tokens read from the cache or written to it"),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int().describe("including the reasoning tokens"),
  reasoning_tokens: z.int(),
  cost_usd: z.number().nullable(),
  estimated_usd: z.number().optional(),
  price_as_of: z.string().optional().describe("the day on which its price was looked up"),
});
const window = z.object({ used: z.int(), max: z.int(), period_ms: z.int() });

const paused = z.array(
  z.object({
    reason: z.enum(["operator", "budget", "output", "disk"]),
    detail: z.string(),
    question_id: z.string().optional(),
  }),
);

const questionShape = { question_id: z.string(), about: z.enum(["stall", "budget", "interrupted"]) };
const budget: z.ZodType<BudgetView> = z.object({
  owner: z.string().describe("id of a worker, or path of a supervisor"),
  state: z.enum(["open", "asked", "stopped"]),
  spent: z.object({
    turns: z.int(),
    tokens: z.int(),
    usd: z.number(),
    wall_ms: z.number(),
    restarts: z.int(),
    output_bytes: z.int(),
  }),
  bounds: Budget,
  unpriced: z.boolean().describe("some of the usage has no known cost and counts as no dollars"),
  estimated: z.boolean().describe("some of the dollars are estimated by the price list"),
  question_id: z.string().optional(),
});

const changes: z.ZodType<Replies["agent/changes"]> = z.object({
  id,
  workspace,
  files: z.array(
    z.object({
      path: z.string(),
      change: z.enum(["added", "modified", "deleted", "renamed", "type_changed"]),
      from: z.string().optional().describe("old path of a renamed file"),
      insertions: z.int().nullable().describe("null for a binary file"),
      deletions: z.int().nullable(),
    }),
  ),
  omitted: z.int().describe("changed files that are not listed here"),
  totals: z.object({ files: z.int(), insertions: z.int(), deletions: z.int(), binary: z.int() }),
  diff: z
    .object({
      digest: digest.describe("for agent cas get"),
      size_bytes: z.int(),
      masked: z.boolean().describe("its secrets are masked, and those places cannot be applied"),
    })
    .nullable()
    .describe("null if nothing has changed, or if the diff is too large to keep"),
});

const denied = z
  .array(z.object({ tool: z.string().nullable(), calls: z.int() }))
  .optional()
  .describe("tool calls that were denied for lack of permission");
const viewShape = {
  id,
  name: z.string().nullable(),
  kind: z.string(),
  task: z.string().describe("the command line, or the beginning of the prompt"),
  status: WorkerStatus,
  state: WorkerState,
  reason: z.string(),
  incarnation: z.int(),
  restarts: z.int(),
  pid: z.int().nullable(),
  pgid: z.int().nullable(),
  supervisor: z.string(),
  parent: z.string().nullable(),
  session_id: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  created_at: time,
  started_at: time.nullable(),
  ended_at: time.nullable(),
  heartbeat_at: time
    .nullable()
    .describe("when its process was last checked; a paused worker's is not checked"),
  archived: z.literal(true).optional().describe("it is only in the list of --archived"),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  error: workerError.nullable(),
  turns: z.int(),
  usage,
  tool_calls: z.int(),
  denied,
  turn_ms: z.number().describe("time of all its turns together"),
  unpriced_turns: z.int().describe("turns with neither a reported cost nor an estimate"),
  queue: z
    .object({ place: z.int(), priority: Priority, waits_for: z.enum(["slot", "memory", "disk"]) })
    .optional()
    .describe("its place among the workers that wait to start"),
  question: z.object(questionShape).optional().describe("its open question; see agent answer"),
  approvals: z.int().optional().describe("permission requests that wait for a person; see agent approvals"),
  paused: paused.optional().describe("the reasons for which it is paused; see agent unpause"),
};
const view: z.ZodType<WorkerView> = z.object(viewShape);
const turn: z.ZodType<TurnRow> = z.object({
  worker_id: id,
  incarnation: z.int(),
  turn: z.int(),
  started_at: time,
  ended_at: time.nullable(),
  duration_ms: z.number().nullable(),
  usage: usage.nullable(),
  models: z.array(modelUsage).nullable(),
  tool_calls: z.int().nullable(),
  error: workerError.nullable(),
});
const info: z.ZodType<WorkerInfo> = z.object({
  ...viewShape,
  spec: WorkerSpec,
  completion: AgentCompletion.nullable(),
  budgets: z.array(budget).describe("the budgets in which it counts: its own, and those above it"),
  subtree: z
    .object({
      workers: z.int(),
      turns: z.int(),
      tool_calls: z.int(),
      turn_ms: z.number(),
      unpriced_turns: z.int(),
      usage,
    })
    .nullable()
    .optional()
    .describe(
      "usage of the worker and all workers that its agent spawned; null if they are too many, see agent usage --subtree",
    ),
  turn_list: z.array(turn),
  run_dir: z.string().nullable(),
  run_findings: z
    .array(
      z.object({
        incarnation: z.int(),
        file: z.string(),
        what: z.enum(["not_a_file", "contradicts_the_log", "forged"]),
        detail: z.string(),
      }),
    )
    .optional()
    .describe("files in its run directories that the runtime did not write"),
  workspace: workspace.nullable().describe("its own worktree, from its first start on"),
  last_seq: z.int(),
  last_event_at: time.nullable(),
  moved_output: z
    .object({ records: z.int(), archives: z.array(z.string()), from_seq: z.int(), to_seq: z.int() })
    .nullable(),
  window,
});
const perWorker: z.ZodType<PerWorker> = z.object({
  id,
  name: z.string().nullable(),
  ok: z.boolean(),
  effect,
  status: WorkerStatus.nullable(),
  checked_by: z.array(z.enum(["cgroup", "group", "marker", "output", "descent"])).optional(),
  error: workerErrorFields.extend({ suggestion: z.string().optional() }).nullable(),
});
const perWorkers = z.object({ effect, results: z.array(perWorker) });
const waitedFields = z.object({
  id,
  name: z.string().nullable(),
  status: WorkerStatus,
  reason: z.string(),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  error: workerError.nullable(),
  denied,
  end_cause: z
    .enum(["policy", "unfixable", "gave_up", "rate_limited"])
    .nullable()
    .optional()
    .describe("why no further incarnation follows; null if something else than its own end decided that"),
  attempts: z.int().optional().describe("number of incarnations"),
  backoff: z.string().optional().describe("the wait between them"),
  retry_after_s: z.number().optional().describe("seconds until the provider's limit resets, if known"),
});
const waited: z.ZodType<WaitReply> = waitedFields;
const node: z.ZodType<TreeNode> = z.lazy(() =>
  z.object({
    id: z.string(),
    name: z.string().nullable(),
    type: z.enum(["supervisor", "worker"]),
    strategy: Strategy.optional(),
    phase: SupervisorPhase.optional(),
    file: z.string().optional(),
    scope: z.array(z.string()).optional(),
    tombstone: z.boolean().optional(),
    kind: z.string().optional(),
    task: z.string().optional(),
    status: WorkerStatus.optional(),
    state: WorkerState.optional(),
    reason: z.string().optional(),
    pid: z.int().nullable().optional(),
    incarnation: z.int().optional(),
    restarts: z.int().optional(),
    paused: paused.optional(),
    question: z.object(questionShape).optional(),
    budget: budget.optional(),
    window: window.optional(),
    fiber: z.int().optional().describe("the id of its fiber in the daemon, if it has one"),
    schedules: z
      .array(ScheduleLine)
      .optional()
      .describe("those of its file; for the root, those that commands have added"),
    children: z.array(node),
  }),
);
const applied = z.object({
  effect,
  tree: z.string().describe("name of the tree"),
  changes: z.array(
    z.object({
      path: z.string(),
      action: z.enum(["create", "update", "restart", "remove", "start", "unchanged", "kept_dead"]),
      reason: z.string(),
      fields: z
        .array(z.string())
        .optional()
        .describe("fields of the worker's spec or the supervisor's configuration"),
    }),
  ),
  state: SupervisorPhase,
}) satisfies z.ZodType<AppliedReply>;
const plan = z.object({
  argv: z.array(z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
  stdin: z.string(),
  worktree: z
    .object({ repository: z.string(), base_commit: z.string(), branch: z.string().nullable() })
    .optional()
    .describe("its origin"),
  sandbox: z
    .object({ program: z.string(), net: z.enum(["none", "host"]), writable: z.array(z.string()) })
    .optional(),
});
const spawnedFields = z.object({
  id,
  name: z.string().nullable(),
  kind: z.string(),
  status: WorkerStatus,
  effect,
  plan: plan.optional(),
});
const spawnReply: z.ZodType<Replies["agent/spawn"]> = spawnedFields;
/** With --wait and --watch, the result of the worker too. */
const spawned = z.union([spawnReply, spawnedFields.extend(waitedFields.shape)]);
const kinds = z.array(
  z.object({
    kind: z.string(),
    aliases: z.array(z.string()),
    summary: z.string(),
    capabilities: z.array(z.string()),
    binary: z.string().nullable(),
    path: z.string().nullable().describe("path at which agent spawn would find the program now"),
    origin: z.enum(["built_in", "user"]),
    module: z.string().nullable().describe("the file of a user's adapter"),
  }),
);
const doctor: z.ZodType<DoctorReport> = z.object({
  checks: z.array(
    z.object({
      name: z.string(),
      result: z.enum(["ok", "warn", "fail"]),
      finding: z.string(),
      fix: z.string().optional(),
    }),
  ),
});
const status = z.object({
  version: z.string(),
  pid: z.int(),
  node: z.string(),
  store_id: z.string(),
  epoch: z.string(),
  restored: z.object({ at: time, sentence: z.string() }).nullable(),
  state_dir: z.string(),
  started_at: time,
  head: z.int(),
  store_error: workerErrorFields.extend({ suggestion: z.string() }).nullable(),
  workers: z.object({
    live: z.int(),
    total: z.int(),
    polled: z.int(),
    tampered: z.int().describe("living workers with a finding about their run directory"),
    heartbeats: z.object({
      late: z.int().describe("living workers that were not checked for three of their heartbeats"),
      oldest_ms: z.int().nullable(),
    }),
  }),
  disk: z.object({ free_bytes: z.int().nullable(), floor_bytes: z.int(), low: z.boolean() }),
  rss_bytes: z.int(),
  heap_bytes: z.int(),
  socket: z.string(),
  connections: z.int(),
  requests_in_flight: z.int(),
  loop_lag_ms: z.object({ p50: z.number(), p99: z.number(), max: z.number() }),
  health: z.object({
    ok: z.boolean().describe("false: the supervisor's tick has stopped"),
    tick_age_ms: z.int(),
    stalls: z.object({ count: z.int(), longest_ms: z.int() }),
  }),
  defects: z.object({
    count: z.int(),
    newest: z.object({ at: time, where: z.string(), error: z.string() }).nullable(),
  }),
  configuration_changed: z.boolean().describe("config.yaml has changed since the daemon read it"),
  callers: z.object({
    from: z
      .enum(["kernel", "claims"])
      .describe("kernel: the kernel identifies callers; claims: callers identify themselves"),
    reason: z.string().optional(),
  }),
}) satisfies z.ZodType<Replies["daemon/status"]>;
const followed = z.object({
  next: z.int().describe("seq to continue from: --from"),
  records: z.int(),
  cursor: z
    .string()
    .describe("the same with the log's epoch; --from refuses it after an older copy of the log was restored"),
});

/** One record of a stream, printed as a line before the envelope (cli.md, One record). */
export const record = z.object({
  seq: z.int(),
  id,
  stream: z.string(),
  version: z.int(),
  type: z.string(),
  recorded_at: time,
  worker_id: id.optional(),
  incarnation: z.int().optional(),
  correlation_id: z.string(),
  causation_id: z.string(),
  payload: z.record(z.string(), z.json()),
});

const text = z.object({ text: z.string() });
const installed = z.object({
  path: z.string(),
  text: z.string(),
  commands: z.array(z.string()).describe("commands that were run, or that the user should run"),
  ran: z.boolean(),
  effect,
});

const messageState = z.enum(["accepted", "delivered", "acknowledged", "undeliverable", "unknown"]);

const message = z.object({
  worker_id: id,
  message_id: id,
  seq: z.int(),
  bytes: z.int(),
  masked: z.boolean().describe("it holds a secret, so its text is shown only masked"),
  closes: z.boolean().describe("it closes the agent's input"),
  state: messageState,
  line: z.boolean().describe("it is a line of the agent's protocol, not a person's words"),
  bound: z.int().nullable().describe("the only incarnation that may get it"),
  open: z.boolean().describe("the message or its acknowledgement is still awaited"),
  deliveries: z.int(),
  incarnation: z.int().nullable(),
  end: z.int().nullable().describe("bytes of the agent's stdin up to the end of this message"),
  turn: z.int().nullable(),
  reason: z.string().nullable(),
  accepted_at: time,
  changed_at: time,
});

const usageSum = z.object({
  workers: z.int().describe("workers that have completed a turn"),
  turns: z.int(),
  tool_calls: z.int(),
  input_tokens: z.int().describe("neither read from the provider's cache nor written to it"),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int().describe("including the reasoning tokens"),
  reasoning_tokens: z.int(),
  cost_usd: z.number().nullable().describe("as agents reported it"),
  estimated_usd: z.number().nullable().describe("by the price list, for usage without a reported cost"),
  unpriced: z.int().describe("turns, or parts of turns, with neither cost nor estimate"),
  duration_ms: z.int(),
});
const usageReply: z.ZodType<UsageReply> = z.object({
  by: z.string(),
  since: time.nullable(),
  rows: z.array(
    usageSum.extend({
      key: z.string().nullable().describe("a day in UTC, a kind, a model, a worker's id, a label's value"),
      name: z.string().optional(),
    }),
  ),
  total: usageSum,
  omitted: z.int().describe("rows that are not shown; the total has them"),
  unpriced_models: z.array(z.string().nullable()),
});

/** By Protocol v1 command. */
const approval = z.object({
  approval_id: id,
  worker_id: id,
  worker: z.string().nullable(),
  seq: z.int(),
  incarnation: z.int(),
  tool: z.string().nullable(),
  tool_use_id: z.string().nullable(),
  title: z.string(),
  input: z.json().describe("the tool's input, secrets masked"),
  state: z.enum(["open", "allowed", "denied", "withdrawn"]),
  by: z.string().nullable(),
  message: z.string().nullable(),
  requested_at: z.string(),
  answered_at: z.string().nullable(),
  expires_at: z.string().nullable().describe("when it is answered without a person"),
  otherwise: z.enum(["deny", "allow"]).describe("the answer at that time"),
});
const approved = z.object({
  approval_id: id,
  worker_id: id,
  decision: z.enum(["allow", "deny"]),
  tool: z.string().nullable(),
  what: z.string(),
  effect: z.enum(["updated", "noop"]),
});

const hold = z.object({
  id: z.string().describe("as agent answer takes it"),
  reason: z.enum(HOLD_REASONS),
  worker_id: id.nullable(),
  worker: z.string().nullable(),
  supervisor: z.string().nullable().describe("path of the supervisor, for the budget of a supervisor"),
  incarnation: z.int().nullable(),
  question: z.string(),
  answers: z.array(z.enum(ANSWERS)),
  since: z.string(),
  expires_at: z.string().nullable().describe("when it is answered without a person"),
  otherwise: z.enum(["allow", "deny", "stop"]).nullable().describe("the answer at that time"),
  tool: z.string().nullable().optional(),
  input: z.json().optional().describe("the tool's input, secrets masked"),
});

const answerShape = {
  text: z.string(),
  truncated: z.boolean(),
  omitted_bytes: z.int().describe("bytes of the answer that are missing in its text"),
  artifact: digest.optional().describe("the same text, for agent cas get"),
};

const jobShape = {
  job_id: id.describe("ULID of its worker"),
  state: z.enum(JOB_STATES),
  submitted_at: time,
  name: viewShape.name,
  kind: viewShape.kind,
  task: viewShape.task,
  reason: viewShape.reason,
  started_at: viewShape.started_at,
  ended_at: viewShape.ended_at,
  exit_code: viewShape.exit_code,
  signal: viewShape.signal,
  error: viewShape.error,
  usage,
  labels: viewShape.labels,
  queue: viewShape.queue,
};
const job: z.ZodType<JobView> = z.object(jobShape);

/** One line of `agent jobs tail`, before the envelope. */
export const jobStep: z.ZodType<JobStep> = z.object({
  job_id: id,
  seq: z.int().describe("seq of its record: --from goes on after it"),
  at: time,
  stage: z.enum([...JOB_STATES, "waiting", "started", "turn", "text", "tool", "note", "stopping"]),
  pct: z.literal(100).optional().describe("at the end of a job that went well"),
  message: z.string(),
  final: z.literal(true).optional().describe("the job has ended in this stage"),
});
export const OUTPUTS: Readonly<Record<string, z.ZodType>> = {
  "agent/demo": z.object({
    records: z.int(),
    gaps: z.int(),
    started: z.int(),
    exited: z.int(),
    restarts: z.int(),
    left_behind: z.int(),
  }),
  "agent/spawn": spawned,
  "agent/resume": spawned,
  "agent/fork": spawned,
  "agent/kill": perWorkers,
  "agent/restart": perWorkers,
  "agent/pause": perWorkers,
  "agent/spawn-many": SpawnManyReply,
  "agent/unpause": perWorkers,
  "agent/archive": perWorkers,
  "agent/rename": RenameReply,
  "agent/prune": PruneResult,
  "agent/up": applied,
  "agent/diff": applied,
  "agent/down": applied,
  "agent/list": z.array(view),
  "agent/tree": z.union([
    node,
    z.object({ trees: z.int().describe("with --follow: how many trees were shown") }),
  ]),
  "agent/why": z.object({
    id: z.string(),
    name: z.string().nullable(),
    type: z.enum(["worker", "supervisor"]),
    state: z.union([WorkerState, SupervisorPhase]),
    reason: z.string(),
    suggestion: z.string().nullable().describe("the step that lets a paused worker continue"),
    denied,
    records: z.array(record),
    omitted: z.int(),
    names: z
      .record(z.string(), z.string())
      .describe("names of the workers that the records are about, by id"),
  }),
  "agent/info": info,
  "agent/usage": usageReply,
  "agent/watch": followed,
  "agent/logs": z.union([
    followed,
    z.object({
      id: z.string(),
      stream: z.string(),
      base64: z.string(),
      bytes: z.int(),
      released: z.int().describe("bytes that are in the log but no longer kept raw"),
      truncated: z.boolean(),
    }),
  ]),
  "agent/search": z.array(SearchHit),
  "agent/output": z.object({ id, ...answerShape }),
  "jobs/submit": z.object({ ...jobShape, effect: z.enum(["created", "noop"]) }),
  "jobs/list": z.array(job),
  "jobs/info": job,
  "jobs/tail": job,
  "jobs/wait": z.array(job),
  "jobs/result": z.object({ job_id: id, ...answerShape }),
  "jobs/cancel": perWorkers,
  "agent/changes": changes,
  "worktree/remove": perWorkers,
  "agent/wait": z.object({ results: z.array(waited) }),
  "agent/answer": z.object({ id, question_id: z.string(), answer: z.enum(ANSWERS), effect }),
  "agent/send": z.object({ message_id: id, state: messageState, effect: z.enum(["created", "noop"]) }),
  "agent/ask": z.object({
    id,
    message_id: id,
    effect,
    turn: z.int().nullable().describe("null for a reply out of a mailbox, as its usage"),
    text: z.string(),
    truncated: z.boolean(),
    usage: usage.nullable(),
    artifact: digest.optional(),
    duration_ms: z.number().nullable(),
  }),
  "agent/messages": z.array(message),
  "agent/inbox": z.array(hold),
  "mailbox/send": MailSentReply,
  "mailbox/reply": MailSentReply,
  "mailbox/poll": z.object({ effect: z.enum(["updated", "noop"]), messages: z.array(PolledMail) }),
  "mailbox/ack": MailAckReply,
  "mailbox/nack": MailLeaseReply,
  "mailbox/extend": MailLeaseReply,
  "mailbox/list": z.array(MailView),
  "mailbox/show": MailView,
  "mailbox/resend": MailChangedReply,
  "mailbox/drop": MailChangedReply,
  "agent/approvals": z.array(approval),
  "approvals/approve": approved,
  "approvals/deny": approved,
  "agent/cancel": z.object({ id, effect: z.enum(["updated", "noop"]) }),
  "bb/post": PostReply,
  "bb/list": z.array(ItemView),
  "bb/search": z.array(ItemView),
  "bb/watch": followed,
  "bb/claim": ClaimReply,
  "skill/run": z.record(z.string(), z.json()).describe("as the skill answers"),
  "skill/list": z.array(SkillView),
  "skill/info": SkillView,
  "skill/check": SkillView,
  "board/add": CardsAdded,
  "board/list": BoardReply,
  "board/show": CardInfo,
  "board/claim": CardMoved,
  "board/release": CardMoved,
  "board/retry": CardMoved,
  "board/block": CardMoved,
  "board/handoff": CardMoved,
  "board/done": CardMoved,
  "board/dispatch": DispatchSet,
  "board/watch": followed,
  "bb/release": ReleaseReply,
  "token/create": TokenChange.extend({
    file: z.string().nullable().describe("the file with its secret; null: it was printed, in text"),
  }),
  "token/list": z.array(TokenView),
  "token/revoke": TokenChange,
  "schedule/add": ScheduleChange,
  "schedule/list": z.array(ScheduleView),
  "schedule/show": ScheduleInfo,
  "schedule/next": NextTimes,
  "schedule/pause": ScheduleChange,
  "schedule/resume": ScheduleChange,
  "schedule/run": ScheduleRunReply,
  "schedule/remove": ScheduleChange,
  "agent/capabilities": kinds,
  "agent/doctor": doctor,
  "daemon/run": z.object({}),
  "daemon/start": status.extend({ effect }),
  "daemon/stop": z.object({
    agents: z.enum(["refuse", "kill", "keep"]),
    live: z.int(),
    effect,
  }),
  "daemon/status": status,
  "daemon/upgrade": z.object({
    from: z.string(),
    to: z.string(),
    pid: z.int(),
    workers: z.int(),
    gap_ms: z.int().describe("how long no daemon answered, in milliseconds"),
    effect,
  }),
  "daemon/install": installed,
  "daemon/uninstall": installed,
  "db/check": z.object({
    ok: z.boolean(),
    records: z.int(),
    head: z.int(),
    findings: z.array(z.string()),
    notes: z.array(z.string()),
  }),
  "db/rebuild": z.object({ records: z.int(), effect }),
  "db/gc": z.object({
    records: z.int(),
    settled_records: z
      .int()
      .describe("those of them that are no output: of items, messages, schedules and tokens that are gone"),
    archives: z.array(z.string()),
    freed_bytes: z.int(),
    reusable_bytes: z.int(),
    needs_vacuum: z.boolean(),
    effect,
  }),
  "db/export": z.object({ records: z.int() }),
  ...LOCAL_OUTPUTS,
  "agent/completion": text,
  "agent/manifest": z.record(z.string(), z.json()),
  "agent/version": z.object({ version: z.string(), node: z.string() }),
};
