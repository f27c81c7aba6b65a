/**
 * The arguments of each command over the socket, as zod schemas. The daemon checks every request against them; `--schema`
 * and the manifest print their JSON Schemas. Command names are Protocol v1 `namespace/verb`.
 */
import * as z from "zod";
import {
  APPROVALS_PAGE_MAX,
  DEPTH_MAX,
  DURATION_MAX_MS,
  INBOX_PAGE_MAX,
  JOBS_PAGE_DEFAULT,
  JOBS_PAGE_MAX,
  MESSAGE_TO_AGENT_MAX_BYTES,
  MESSAGES_PAGE_DEFAULT,
  MESSAGES_PAGE_MAX,
  OUTPUT_TEXT_MAX_BYTES,
  PATH_MAX_BYTES,
  PROMPT_MAX_BYTES,
  PRUNED_MAX,
  RAW_SLICE_BYTES,
  RETENTION_SIZE_MIN_BYTES,
  SPAWN_MANY_MAX,
  SPAWN_REASON_MAX_CHARS,
  TAIL_MAX_RECORDS,
  WATCH_TYPES_MAX,
} from "../base/limits.ts";
import { BLACKBOARD_REQUESTS } from "./blackboard-requests.ts";
import { BOARD_REQUESTS } from "./board-requests.ts";
import { CLUSTER_REQUESTS } from "./cluster-requests.ts";
import { CURSOR } from "./cursor.ts";
import { isUlid } from "./forms.ts";
import { ANSWERS } from "./holds.ts";
import { JOB_STATES } from "./jobs.ts";
import { MailboxRequests } from "./mailbox-requests.ts";
import { NOTIFY_REQUESTS } from "./notify-requests.ts";
import { PEER_REQUESTS } from "./peer-requests.ts";
import { RoleName } from "./roles.ts";
import { SCHEDULE_REQUESTS } from "./schedule-requests.ts";
import { AskedSearch } from "./search-request.ts";
import { SKILL_REQUESTS } from "./skill-requests.ts";
import { TOKEN_REQUESTS } from "./token-requests.ts";
import { NodeName, TreeSpec } from "./tree.ts";
import { LIST_SORTS, USAGE_BY } from "./words.ts";
import { Budget, WorkerName, WorkerSpec, WorkerStatus } from "./worker.ts";

const ref = z.string().min(1).max(PATH_MAX_BYTES);
const refs = z.array(ref).min(1).max(1_000);
/** Also the use of the machine by each worker's processes. */
const resources = z.boolean().optional();
const ms = z.int().min(0).max(DURATION_MAX_MS);

const idempotencyKey = z.string().min(1).max(256);
/** A repeated request with the same key gets the first answer and has no effect. */
const keyed = { idempotency_key: idempotencyKey.optional() };
const message = z
  .string()
  .refine((t) => Buffer.byteLength(t) <= MESSAGE_TO_AGENT_MAX_BYTES, "the message is over 64 KB");

/** A page of at most `max` items, from the cursor in the answer of the previous page. */
const page = (max: number, command: string, limit = max) => ({
  limit: z.int().min(1).max(max).default(limit),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, `it is no cursor of ${command}`)
    .optional(),
});

const JobSpec = WorkerSpec.extend({ restart: z.literal("temporary").default("temporary") });

const resume = {
  id: ref,
  prompt: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= PROMPT_MAX_BYTES, "the prompt is over 1 MB")
    .optional(),
  name: z.string().min(1).max(PATH_MAX_BYTES).optional(),
  interactive: z.boolean().optional(),
  /** The worker whose agent makes the request. */
  parent: z.string().max(64).optional(),
  dry_run: z.boolean().default(false),
  idempotency_key: idempotencyKey.optional(),
};

export const Requests = {
  "agent/spawn": z.strictObject({
    spec: WorkerSpec,
    dry_run: z.boolean().default(false),
    idempotency_key: idempotencyKey.optional(),
  }),
  /** A new worker that continues the last session of this worker, or a branch of it. */
  "agent/resume": z.strictObject(resume),
  "agent/fork": z.strictObject(resume),
  /** Several agents as one decision: all of them start, or none does (protocol-v1 notes 2.10). */
  "agent/spawn-many": z.strictObject({
    epic_id: z.string().min(1).max(256).optional(),
    spawn_reason: z.string().max(SPAWN_REASON_MAX_CHARS).optional(),
    requested_subagents: z
      .array(
        z.strictObject({
          role: RoleName,
          task: z
            .string()
            .min(1)
            .refine((text) => Buffer.byteLength(text) <= PROMPT_MAX_BYTES, "the task is over 1 MB"),
          /** Agents that may be above one that it spawns; never more than the worker that asks allows. */
          local_max_depth: z.int().min(0).max(DEPTH_MAX).optional(),
        }),
      )
      .min(1)
      .max(SPAWN_MANY_MAX),
    /** Answer once all of them have ended. */
    wait_for_completion: z.boolean().default(false),
    cwd: z.string().max(PATH_MAX_BYTES).regex(/^\//, "it is no absolute path"),
    client_env: z.record(z.string(), z.string()).default({}),
    idempotency_key: idempotencyKey.optional(),
  }),
  "agent/kill": z.strictObject({
    ids: z.array(ref).max(1_000).default([]),
    all: z.boolean().default(false),
    subtree: z.boolean().default(false),
    grace_ms: ms.optional(),
    signal: z.string().optional(),
    reason: z.string().max(1_024).optional(),
    dry_run: z.boolean().default(false),
    ...keyed,
  }),
  "agent/restart": z.strictObject({ ids: refs, ...keyed }),
  "agent/pause": z.strictObject({ ids: refs, reason: z.string().max(1_024).optional(), ...keyed }),
  "agent/unpause": z.strictObject({ ids: refs, ...keyed }),
  /** Ended workers are in no list any more, or with `undo` they are again. */
  "agent/archive": z.strictObject({ ids: refs, undo: z.boolean().default(false), ...keyed }),
  "agent/rename": z.strictObject({ id: ref, name: WorkerName, ...keyed }),
  /** Removes the run directories of ended workers, and worktrees without changes: of all that match, up to `limit`. */
  "agent/prune": z.strictObject({
    labels: z.record(z.string(), z.string()).optional(),
    statuses: z.array(WorkerStatus).max(WorkerStatus.options.length).optional(),
    /** Only workers that ended at least this long ago. */
    ended_before_ms: ms.optional(),
    limit: z.int().min(1).max(PRUNED_MAX).default(PRUNED_MAX),
    /** As an earlier answer told it. */
    cursor: z.string().refine(isUlid, "it is no cursor of agent prune").optional(),
    dry_run: z.boolean().default(false),
    ...keyed,
  }),
  "tree/apply": z.strictObject({
    tree: TreeSpec,
    /** The environment of the client, once for all workers: with a copy for each, the request would be too large. */
    client_env: z.record(z.string(), z.string()).default({}),
    dry_run: z.boolean().default(false),
    ...keyed,
  }),
  /** With `file`: only if this file owns the tree. */
  "tree/down": z.strictObject({
    name: NodeName,
    file: z.string().min(1).optional(),
    dry_run: z.boolean().default(false),
    ...keyed,
  }),
  /** Open holds that a person can answer, or with `all` every hold. The cursor of an answer continues after it. */
  "agent/inbox": z.strictObject({
    id: ref.optional(),
    all: z.boolean().default(false),
    ...page(INBOX_PAGE_MAX, "agent inbox"),
  }),
  /** `id` is a hold as the inbox names it, or the worker or supervisor that waits. With `question_id`, only that question is answered. */
  "agent/answer": z.strictObject({
    id: ref,
    answer: z.enum(ANSWERS),
    question_id: z.string().max(64).optional(),
    message: z.string().max(1_024).optional(),
    /** With `continue`, for a spent budget: bounds from now on, in the place of as much again. */
    budget: Budget.optional(),
    ...keyed,
  }),
  /** `close` closes the agent's input afterwards; the text is then optional. */
  "agent/send": z
    .strictObject({
      id: ref,
      text: message.optional(),
      close: z.boolean().default(false),
      idempotency_key: idempotencyKey.optional(),
    })
    .refine(({ text, close }) => text !== undefined || close, "there is neither a text nor close"),
  /** Answers with the turn that answers the message. A client that reconnects repeats the request with the same key. */
  "agent/ask": z.strictObject({
    id: ref,
    text: message,
    timeout_ms: ms.optional(),
    idempotency_key: idempotencyKey.optional(),
  }),
  /**
   * Open permission requests, or with `all` every one. The cursor of an answer continues after it. `id` is a worker, or one
   * request.
   */
  "agent/approvals": z.strictObject({
    id: ref.optional(),
    all: z.boolean().default(false),
    ...page(APPROVALS_PAGE_MAX, "agent approvals"),
  }),
  /** `id` is that of the request, a unique prefix of it, or that of a worker with only one request. */
  "agent/approve": z.strictObject({
    id: ref,
    decision: z.enum(["allow", "deny"]),
    message: z.string().max(1_024).optional(),
    by: z.string().min(1).max(256).optional(),
    ...keyed,
  }),
  /** Ends the open turn, but not the worker. */
  "agent/cancel": z.strictObject({ id: ref, ...keyed }),
  /** The newest messages; with the cursor of an answer, the messages before it. */
  "agent/messages": z.strictObject({
    id: ref,
    ...page(MESSAGES_PAGE_MAX, "agent messages", MESSAGES_PAGE_DEFAULT),
  }),
  ...MailboxRequests,
  /** Workers that match all of these, in the order of their ids; `cursor` is the last id of the previous page. */
  "agent/list": z.strictObject({
    all: z.boolean().default(false),
    labels: z.record(z.string(), z.string()).optional(),
    /** An ended status also lists ended workers. */
    statuses: z.array(WorkerStatus).max(WorkerStatus.options.length).optional(),
    kinds: z.array(z.string().max(64)).max(64).optional(),
    /** Only workers that were requested at most this long ago. */
    since_ms: ms.optional(),
    /** Only workers that the agents of this worker spawned, at any depth. */
    below: ref.optional(),
    /** Only archived workers. Without it, none of them. */
    archived: z.boolean().optional(),
    resources,
    /** Any order but that of ids has a single page: the first `limit` workers. */
    sort: z.enum(LIST_SORTS).optional(),
    limit: z.int().min(1).optional(),
    cursor: z.string().max(64).optional(),
  }),
  /** `here`: only a worker of this machine, where a node of a cluster would ask the node that has it. */
  "agent/info": z.strictObject({ id: ref, resources, here: z.boolean().optional() }),
  "agent/tree": z.strictObject({}),
  /** A worker that is never restarted. Another restart policy in the spec is refused. */
  "jobs/submit": z.strictObject({ spec: JobSpec, idempotency_key: idempotencyKey.optional() }),
  /** Jobs in the order of their ids, and so of their submission; `cursor` is the last id of the previous page. */
  "jobs/list": z.strictObject({
    states: z.array(z.enum(JOB_STATES)).max(JOB_STATES.length).default([]),
    limit: z.int().min(1).max(JOBS_PAGE_MAX).default(JOBS_PAGE_DEFAULT),
    cursor: z.string().refine(isUlid, "it is no cursor of agent jobs list").optional(),
  }),
  "jobs/info": z.strictObject({ id: ref }),
  /** A stream: progress envelopes whose data is one step each, the last one with `meta.final`, then a terminal `ok` with the job. */
  "jobs/tail": z.strictObject({
    id: ref,
    /** Steps after this seq only. */
    from: z.int().min(0).default(0),
    /** False: end with the newest step, even if the job goes on. */
    follow: z.boolean().default(true),
  }),
  "jobs/wait": z.strictObject({ ids: refs, timeout_ms: ms.optional() }),
  "jobs/result": z.strictObject({
    id: ref,
    max_bytes: z.int().min(1).max(OUTPUT_TEXT_MAX_BYTES).optional(),
  }),
  "jobs/cancel": z.strictObject({
    ids: refs,
    grace_ms: ms.optional(),
    reason: z.string().max(1_024).optional(),
    ...keyed,
  }),
  /** Counts completed turns only. `since_ms` is an age. `by: "day"` groups by days in UTC. */
  "agent/usage": z.strictObject({
    ids: z.array(ref).max(1_000).default([]),
    by: z.string().regex(USAGE_BY, "it is day, kind, model, worker or label:KEY").default("day"),
    since_ms: ms.optional(),
    subtree: z.boolean().default(false),
  }),
  "agent/why": z.strictObject({ id: ref }),
  /** A stream: progress envelopes with one record each, then a terminal `ok` with {next: seq}. */
  "agent/watch": z.strictObject({
    ids: z.array(ref).max(1_000).default([]),
    all: z.boolean().default(false),
    /** Also everything that the agents of these workers spawn. */
    subtree: z.boolean().default(false),
    /** A seq, or a cursor `EPOCH:SEQ`. */
    from: z.union([z.int().min(0), z.string().regex(CURSOR)]).optional(),
    since_ms: ms.optional(),
    kinds: z.array(z.string()).max(WATCH_TYPES_MAX).default([]),
    types: z.array(z.string()).max(WATCH_TYPES_MAX).default([]),
    follow: z.boolean().default(true),
    /** End after the record with this seq, even if the log goes on. */
    until: z.int().min(0).optional(),
    /** Begin with only the newest N records. */
    tail: z.int().min(0).max(TAIL_MAX_RECORDS).optional(),
  }),
  "agent/search": AskedSearch.extend({
    /** As the previous page told it: records before it. */
    cursor: z.string().regex(CURSOR, "it is no cursor of agent search").optional(),
  }),
  "agent/wait": z.strictObject({
    ids: refs,
    timeout_ms: ms.optional(),
    /** Also everything that their agents spawn, until none is left. */
    subtree: z.boolean().optional(),
  }),
  "agent/output": z.strictObject({
    id: ref,
    max_bytes: z.int().min(1).max(OUTPUT_TEXT_MAX_BYTES).optional(),
  }),
  "agent/changes": z.strictObject({ id: ref }),
  "worktree/remove": z.strictObject({ ids: refs }),
  "agent/raw": z.strictObject({
    id: ref,
    stream: z.enum(["stdout", "stderr"]).default("stdout"),
    offset: z.int().min(0).default(0),
    /** Default: the newest one. */
    incarnation: z.int().min(1).optional(),
    /** The slice is also bounded by what the client accepts inline: `meta.inline_max_bytes`. */
    max_bytes: z.int().min(1).max(RAW_SLICE_BYTES).default(65_536),
  }),
  ...BLACKBOARD_REQUESTS,
  ...SCHEDULE_REQUESTS,
  ...SKILL_REQUESTS,
  ...BOARD_REQUESTS,
  ...NOTIFY_REQUESTS,
  ...TOKEN_REQUESTS,
  ...PEER_REQUESTS,
  ...CLUSTER_REQUESTS,
  "agent/capabilities": z.strictObject({ kind: z.string().optional() }),
  /** The versions that the client speaks and the profiles that it needs. A connection works without this request. */
  "protocol/hello": z.strictObject({
    versions: z.array(z.int()).min(1).max(16).default([1]),
    profiles: z.array(z.string().max(64)).max(16).default([]),
  }),
  "daemon/status": z.strictObject({}),
  /** With `refuse`, the request fails with AGENTS_RUNNING while agents run. */
  "daemon/stop": z.strictObject({ agents: z.enum(["refuse", "kill", "keep"]).default("refuse") }),
  "db/check": z.strictObject({}),
  "db/rebuild": z.strictObject({}),
  /** Without `older_than_ms` or `max_bytes`: the daemon's own retention. */
  "db/gc": z.strictObject({
    older_than_ms: ms.optional(),
    max_bytes: z.int().min(RETENTION_SIZE_MIN_BYTES).optional(),
    dry_run: z.boolean().default(false),
    archive: z.boolean().default(true),
  }),
} as const;

export type RequestName = keyof typeof Requests;
export type RequestData<N extends RequestName> = z.output<(typeof Requests)[N]>;
/** The data that a client sends: fields with a default are optional. */
export type RequestInput<N extends RequestName> = z.input<(typeof Requests)[N]>;
export const isRequestName = (name: string): name is RequestName => Object.hasOwn(Requests, name);
