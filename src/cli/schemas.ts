/** The `data` of each command in JSON, as zod schemas. Only the manifest and --schema load them, never the client's quick path. */
import * as z from "zod";
import type { Replies } from "../daemon/replies.ts";
import { ClaimReply, ItemView, PostReply, ReleaseReply } from "../protocol/replies/blackboard.ts";
import { BoardReply, CardInfo, CardMoved, CardsAdded, DispatchSet } from "../protocol/replies/board.ts";
import { PruneResult, RenameReply } from "../protocol/replies/care.ts";
import {
  ClusterChange,
  ClusterMade,
  ClusterStatus,
  CopySource,
  ElsewhereWorker,
  NodeChange,
  NodeDrained,
} from "../protocol/replies/cluster.ts";
import { JobView, SubmittedJob } from "../protocol/replies/jobs.ts";
import {
  MailAckReply,
  MailChangedReply,
  MailLeaseReply,
  MailSentReply,
  MailView,
  PolledMail,
} from "../protocol/replies/mail.ts";
import { NotifyListReply, NotifyResendReply, NotifyTestReply } from "../protocol/replies/notify.ts";
import { AuditPage, AuditVerified, PeerChange, PeerView } from "../protocol/replies/peers.ts";
import { effect, id, time } from "../protocol/replies/reply.ts";
import {
  NextTimes,
  ScheduleChange,
  ScheduleInfo,
  ScheduleRunReply,
  ScheduleView,
} from "../protocol/replies/schedules.ts";
import { SearchHit } from "../protocol/replies/search.ts";
import { SkillView } from "../protocol/replies/skills.ts";
import { SpawnManyReply } from "../protocol/replies/spawn-many.ts";
import {
  Answered,
  AnswerReply,
  ApprovalView,
  ApprovedReply,
  HoldView,
  MessageReply,
  message,
  OutputReply,
} from "../protocol/replies/talk.ts";
import { TokenChange, TokenView } from "../protocol/replies/tokens.ts";
import { AppliedReply, TreeSupervisor } from "../protocol/replies/trees.ts";
import { UsageReply } from "../protocol/replies/usage.ts";
import { workerError } from "../protocol/replies/worker-error.ts";
import {
  ChangesReply,
  PerWorker,
  SpawnReply,
  WaitReply,
  WorkerInfo,
  WorkerView,
} from "../protocol/replies/workers.ts";
import { SupervisorPhase } from "../protocol/tree.ts";
import { WorkerState } from "../protocol/worker.ts";
import type { DoctorReport } from "./reports.ts";
import { LOCAL_OUTPUTS, ResolvedDefaultView } from "./schemas-local.ts";

const perWorkers = z.object({ effect, results: z.array(PerWorker) });
const applied = z.object({ effect, ...AppliedReply.shape });
/** With --wait and --watch, the result of the worker too. */
const spawned = z.union([
  SpawnReply.extend({ defaults: z.array(ResolvedDefaultView).optional().describe("with --dry-run") }),
  SpawnReply.extend(WaitReply.shape),
]);
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
  store_error: workerError.extend({ suggestion: z.string() }).nullable(),
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
  runtimes: z
    .array(
      z.object({
        name: z.string(),
        backend_kind: z.string(),
        trouble: z
          .object({ since: time, message: z.string(), suggestion: z.string() })
          .nullable()
          .describe("why it cannot be used now"),
      }),
    )
    .describe("the built-in one first"),
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
  served_by: z.enum(["daemon", "program"]).describe("program: one that embeds the runtime"),
  configuration_changed: z.boolean().describe("config.yaml has changed since the daemon read it"),
  http: z
    .object({ url: z.string().nullable(), trouble: z.string().nullable() })
    .nullable()
    .describe("the URL of HTTP, or why it is not served now; null if nobody asked for it"),
  telemetry: z
    .object({
      endpoint: z.string().nullable().describe("the collector's host and port"),
      spans_sent: z.int(),
      spans_dropped: z.int().describe("they found no room, or the collector refused them"),
      spans_waiting: z.int(),
      failing: z.string().nullable().describe("why the newest post failed"),
    })
    .nullable()
    .describe("OpenTelemetry; null if nobody asked for it"),
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

const cancelledTurn = z.object({ id, effect: z.enum(["updated", "noop"]) });
const checked = z.object({
  ok: z.boolean(),
  records: z.int(),
  head: z.int(),
  findings: z.array(z.string()),
  notes: z.array(z.string()),
});
/** One record of a stream, printed as a line before the envelope (docs/reference/records.md). */
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
  host: z.string().optional(),
  cursor: z.string().optional().describe("for --from"),
});

export const why = z.object({
  id: z.string(),
  name: z.string().nullable(),
  type: z.enum(["worker", "supervisor"]),
  state: z.union([WorkerState, SupervisorPhase]),
  reason: z.string(),
  suggestion: z.string().nullable().describe("the step that lets a paused worker continue"),
  denied: WorkerView.shape.denied,
  records: z.array(record),
  omitted: z.int(),
  names: z.record(z.string(), z.string()).describe("names of the workers that the records are about, by id"),
});
const text = z.object({ text: z.string() });
const installed = z.object({
  path: z.string(),
  text: z.string(),
  commands: z.array(z.string()).describe("commands that were run, or that the user should run"),
  ran: z.boolean(),
  effect,
});

/** Answers that are printed as they come over the wire. */
export const PRINTED_AS_SENT = {
  "agent/spawn-many": SpawnManyReply,
  "agent/rename": RenameReply,
  "agent/prune": PruneResult,
  "agent/answer": Answered,
  "agent/send": MessageReply,
  "agent/cancel": cancelledTurn,
  "agent/info": WorkerInfo,
  "mailbox/send": MailSentReply,
  "mailbox/ack": MailAckReply,
  "mailbox/nack": MailLeaseReply,
  "mailbox/extend": MailLeaseReply,
  "mailbox/show": MailView,
  "mailbox/resend": MailChangedReply,
  "mailbox/drop": MailChangedReply,
  "jobs/submit": SubmittedJob,
  "jobs/info": JobView,
  "jobs/tail": JobView,
  "agent/usage": UsageReply,
  "agent/watch": followed,
  "agent/output": OutputReply,
  "agent/changes": ChangesReply,
  "bb/post": PostReply,
  "bb/watch": followed,
  "bb/claim": ClaimReply,
  "bb/release": ReleaseReply,
  "schedule/add": ScheduleChange,
  "schedule/show": ScheduleInfo,
  "schedule/remove": ScheduleChange,
  "schedule/pause": ScheduleChange,
  "schedule/resume": ScheduleChange,
  "schedule/run": ScheduleRunReply,
  "schedule/next": NextTimes,
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
  "notify/list": NotifyListReply,
  "notify/resend": NotifyResendReply,
  "notify/test": NotifyTestReply,
  "token/revoke": TokenChange,
  "cluster/init": ClusterMade,
  "cluster/join": ClusterChange,
  "cluster/leave": NodeChange,
  "agent/drain": NodeDrained,
  "cluster/status": ClusterStatus,
  "peer/add": PeerChange,
  "peer/show": PeerView,
  "peer/trust": PeerChange,
  "peer/revoke": PeerChange,
  "audit/list": AuditPage,
  "daemon/status": status,
  "db/check": checked,
} as const;

export const OUTPUTS: Readonly<Record<string, z.ZodType>> = {
  ...PRINTED_AS_SENT,
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
  "agent/unpause": perWorkers,
  "agent/archive": perWorkers,
  "agent/up": applied,
  "agent/diff": applied,
  "agent/down": applied,
  "agent/list": z.array(WorkerView),
  "agent/info": z.union([WorkerInfo, ElsewhereWorker]),
  "agent/top": z.object({}),
  "mcp/serve": z.object({}),
  "peer/connect": PeerChange.pick({
    hub_id: true,
    tier: true,
    public_key: true,
    capabilities: true,
    effect: true,
  }),
  "peer/task": z.object({
    hub_id: z.string(),
    task_id: z.string().describe("32 hexadecimal digits"),
    capability: z.string(),
    output: z.record(z.string(), z.unknown()).describe("members that the boundary let in"),
    stripped: z.array(z.string()).describe("names of members that did not leave, or did not come in"),
    duration_ms: z.int(),
  }),
  "weblisk/serve": z.object({}),
  "weblisk/grant": z.object({
    name: z.string(),
    agent_id: z.string(),
    algorithm: z.string(),
    public_key: z.string(),
    fingerprint: z.string().describe("SHA-256 of the bytes of the public key"),
    asked: z.array(z.string()).describe("capabilities of its manifest"),
    granted: z
      .array(z.string())
      .describe("capabilities that its key has; its next token names those that it asked for"),
    effect,
  }),
  "weblisk/register": z.object({
    url: z.string(),
    name: z.string().describe("its name there"),
    agent_id: z.string(),
    fingerprint: z.string().describe("SHA-256 of the bytes of its public key"),
    capabilities: z.array(z.string()).describe("for which it asks"),
    orchestrator_key: z.string().nullable().describe("the key that was seen first"),
    expires_at: z.string(),
    effect,
  }),
  "weblisk/task": z.object({
    url: z.string(),
    agent: z.string(),
    task_id: z.string().describe("32 hexadecimal digits"),
    output: z.record(z.string(), z.unknown()).describe("signed by the agent"),
    changes: z.array(z.looseObject({})),
    observations: z.array(z.looseObject({})),
    duration_ms: z.int(),
  }),
  "agent/acp": z.object({}),
  "agent/relay": z.object({}),
  "agent/attach": z.object({}),
  "agent/tree": z.union([
    TreeSupervisor.extend({
      elsewhere: z.array(ElsewhereWorker).optional().describe("placed workers of other nodes of the cluster"),
    }),
    z.object({ trees: z.int().describe("with --follow: how many trees were shown") }),
  ]),
  "agent/why": why,
  "agent/watch": z.union([followed, followed.extend(CopySource.shape)]),
  "agent/logs": z.union([
    followed,
    CopySource.extend({ records: z.int().describe("how many came from the cluster's copy") }),
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
  "jobs/list": z.array(JobView),
  "jobs/wait": z.array(JobView),
  "jobs/result": OutputReply.omit({ id: true }).extend({ job_id: id }),
  "jobs/cancel": perWorkers,
  "worktree/remove": perWorkers,
  "agent/wait": z.object({ results: z.array(WaitReply) }),
  "agent/ask": AnswerReply.extend({ effect }),
  "agent/messages": z.array(message),
  "agent/inbox": z.array(HoldView),
  "mailbox/reply": MailSentReply,
  "mailbox/poll": z.object({ effect: z.enum(["updated", "noop"]), messages: z.array(PolledMail) }),
  "mailbox/list": z.array(MailView),
  "agent/approvals": z.array(ApprovalView),
  "approvals/approve": ApprovedReply,
  "approvals/deny": ApprovedReply,
  "bb/list": z.array(ItemView),
  "bb/search": z.array(ItemView),
  "skill/run": z.record(z.string(), z.json()).describe("as the skill answers"),
  "skill/list": z.array(SkillView),
  "token/create": TokenChange.extend({
    file: z.string().nullable().describe("the file with its secret; null: it was printed, in text"),
  }),
  "agent/dashboard": TokenChange.extend({
    url: z.string().describe("the address, without the secret"),
    file: z.string().nullable().describe("the file with the whole address; null: it was printed, in text"),
  }),
  "token/list": z.array(TokenView),
  "peer/list": z.array(PeerView),
  "audit/verify": AuditVerified,
  "schedule/list": z.array(ScheduleView),
  "agent/capabilities": kinds,
  "agent/doctor": doctor,
  "daemon/run": z.object({}),
  "daemon/start": status.extend({ effect }),
  "daemon/stop": z.object({
    agents: z.enum(["refuse", "kill", "keep"]),
    live: z.int(),
    effect,
  }),
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
