/** The answer of each request on the wire, as zod schemas: for the OpenAPI document. The compiler compares them with the replies. */
import * as z from "zod";
import { PRINTED_AS_SENT, record, why } from "../../src/cli/schemas.ts";
import type { Replies } from "../../src/daemon/replies.ts";
import type { LogRecord } from "../../src/protocol/records.ts";
import { ItemView } from "../../src/protocol/replies/blackboard.ts";
import {
  ClusterChange,
  ClusterMade,
  ClusterStatus,
  CopySource,
  ElsewhereHits,
  ElsewherePage,
  NodeChange,
  NodeDrained,
} from "../../src/protocol/replies/cluster.ts";
import { JobView } from "../../src/protocol/replies/jobs.ts";
import { MailView, PolledMail } from "../../src/protocol/replies/mail.ts";
import { AuditPage, PeerChange, PeerView } from "../../src/protocol/replies/peers.ts";
import { id, json } from "../../src/protocol/replies/reply.ts";
import { ScheduleView } from "../../src/protocol/replies/schedules.ts";
import { SearchHit } from "../../src/protocol/replies/search.ts";
import { SkillView } from "../../src/protocol/replies/skills.ts";
import {
  AnswerReply,
  ApprovalView,
  ApprovedReply,
  HoldView,
  message,
  OutputReply,
} from "../../src/protocol/replies/talk.ts";
import { TokenChange, TokenView } from "../../src/protocol/replies/tokens.ts";
import { AppliedReply, TreeSupervisor } from "../../src/protocol/replies/trees.ts";
import { PerWorker, SpawnReply, WaitReply, WorkerView } from "../../src/protocol/replies/workers.ts";
import { type RequestName, Requests } from "../../src/protocol/requests.ts";
import { RestartPolicy } from "../../src/protocol/worker.ts";

const page = <V extends z.ZodRawShape>(shape: V) => z.object({ ...shape, cursor: z.string().optional() });
const results = z.object({ results: z.array(PerWorker) });
const skill = z.record(z.string(), z.json());
const repeated = { effect: z.literal("noop").optional() };
/** The log's own type is a union of all payloads. */
const logRecord = record as unknown as z.ZodType<LogRecord>;
const raw = z.object({
  incarnation: z.int().describe("the incarnation that wrote the slice; 0 if none has begun"),
  newest: z.int(),
  base64: z.string(),
  next: z.int().describe("offset of the next slice"),
  ended: z.boolean(),
  released: z.int().optional().describe("bytes at this offset that are no longer on disk"),
});
const capabilities = z.object({
  kinds: z.array(
    z.object({
      kind: z.string(),
      aliases: z.array(z.string()),
      summary: z.string(),
      capabilities: z.array(z.string()),
      binary: z.string().nullable(),
      variable: z.string().nullable(),
      origin: z.enum(["built_in", "user"]),
      module: z.string().nullable(),
      variables: z.array(z.string()),
      default_restart: RestartPolicy,
    }),
  ),
  refused: z.array(z.object({ module: z.string(), why: z.string() })),
});
const hello = z.object({
  version: z.int(),
  profiles: z.array(z.string()),
  commands: z.array(z.enum(Object.keys(Requests) as [RequestName, ...RequestName[]])),
  limits: z.record(z.string(), z.number()),
  daemon: z.object({ version: z.string(), store_id: z.string(), epoch: z.string() }),
  caller: z.string().describe("user, user:NAME, worker:ID or unknown, as records spell it"),
});
const collected = z.object({
  records: z.int(),
  settled_records: z.int(),
  archives: z.array(z.string()),
  freed_bytes: z.int(),
  reusable_bytes: z.int(),
  needs_vacuum: z.boolean(),
});

export const WIRE = {
  ...PRINTED_AS_SENT,
  "agent/spawn": SpawnReply,
  "agent/resume": SpawnReply,
  "agent/fork": SpawnReply,
  "agent/kill": results,
  "agent/restart": results,
  "agent/pause": results,
  "agent/unpause": results,
  "agent/archive": results,
  "tree/apply": AppliedReply.extend(repeated),
  "tree/down": AppliedReply.extend(repeated),
  "agent/inbox": page({ holds: z.array(HoldView) }),
  "agent/ask": AnswerReply,
  "agent/approvals": page({ approvals: z.array(ApprovalView) }),
  "agent/approve": ApprovedReply,
  "agent/messages": page({ messages: z.array(message) }),
  "mailbox/poll": z.object({ messages: z.array(PolledMail) }),
  "mailbox/list": page({ messages: z.array(MailView) }),
  "agent/list": page({ workers: z.array(WorkerView), total: z.int() }),
  "agent/tree": TreeSupervisor,
  "jobs/list": page({ jobs: z.array(JobView) }),
  "jobs/wait": z.object({ jobs: z.array(JobView) }),
  "jobs/result": OutputReply.omit({ id: true }).extend({ job_id: id }),
  "jobs/cancel": results,
  "agent/why": why.extend({ records: z.array(logRecord) }),
  "agent/search": page({ hits: z.array(SearchHit) }),
  "agent/wait": z.object({ results: z.array(WaitReply) }),
  "worktree/remove": results,
  "agent/raw": raw,
  "bb/list": page({ items: z.array(ItemView) }),
  "bb/search": page({ items: z.array(ItemView) }),
  "schedule/list": z.object({ schedules: z.array(ScheduleView) }),
  "skill/run": skill,
  "skill/list": z.object({ skills: z.array(SkillView) }),
  "skill/tools": z.object({
    tools: z.array(
      z.object({
        skill: z.string(),
        summary: z.string(),
        input_schema: json.describe("a JSON Schema of an object"),
        effect: z.enum(["none", "idempotent", "any"]),
      }),
    ),
  }),
  "http/openapi": skill,
  "fs/ls": skill,
  "fs/read": skill,
  "text/grep": skill,
  "todo/manage": skill,
  "plugin/auth": skill,
  "plugin/pagination": skill,
  "token/create": TokenChange,
  "peer/add": PeerChange,
  "peer/list": z.object({ peers: z.array(PeerView) }),
  "peer/show": PeerView,
  "peer/trust": PeerChange,
  "peer/revoke": PeerChange,
  "peer/meet": PeerChange,
  "peer/rekey": PeerChange,
  "peer/notify": PeerChange,
  "peer/admit": PeerChange,
  "peer/settle": PeerChange,
  "audit/list": AuditPage,
  "cluster/init": ClusterMade,
  "cluster/join": ClusterChange,
  "cluster/leave": NodeChange,
  "cluster/drain": NodeDrained,
  "cluster/status": ClusterStatus,
  "cluster/workers": ElsewherePage,
  "cluster/search": ElsewhereHits,
  "cluster/records": CopySource.extend({
    records: z.array(logRecord),
    next: z.int().nullable(),
    place: z.int(),
  }),
  "token/list": z.object({ tokens: z.array(TokenView) }),
  "agent/capabilities": capabilities,
  "protocol/hello": hello,
  "daemon/stop": z.object({ agents: z.enum(["kill", "keep"]), live: z.int() }),
  "db/rebuild": z.object({ records: z.int() }),
  "db/gc": collected,
} satisfies { readonly [N in RequestName]: z.ZodType<Replies[N]> };
