/**
 * The arguments of each command over the socket, as zod schemas: the daemon checks every request against them, and
 * `--schema` and the manifest print their JSON Schemas. Command names are Protocol v1 `namespace/verb`.
 */
import * as z from "zod";
import {
  APPROVALS_PAGE_MAX,
  DURATION_MAX_MS,
  MESSAGE_TO_AGENT_MAX_BYTES,
  MESSAGES_PAGE_DEFAULT,
  MESSAGES_PAGE_MAX,
  OUTPUT_TEXT_MAX_BYTES,
  PATH_MAX_BYTES,
  PROMPT_MAX_BYTES,
  RAW_SLICE_BYTES,
  RETENTION_SIZE_MIN_BYTES,
  TAIL_MAX_RECORDS,
} from "../base/limits.ts";
import { CURSOR } from "./cursor.ts";
import { NodeName, TreeSpec } from "./tree.ts";
import { ANSWERS, USAGE_BY } from "./words.ts";
import { WorkerSpec } from "./worker.ts";

const ref = z.string().min(1).max(PATH_MAX_BYTES);
const refs = z.array(ref).min(1).max(1_000);
const ms = z.int().min(0).max(DURATION_MAX_MS);

const idempotencyKey = z.string().min(1).max(256);
/** A repeat with the same key gets the first answer, and does nothing. */
const keyed = { idempotency_key: idempotencyKey.optional() };
const message = z
  .string()
  .refine((t) => Buffer.byteLength(t) <= MESSAGE_TO_AGENT_MAX_BYTES, "the message is over 64 KB");

const resume = {
  id: ref,
  prompt: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= PROMPT_MAX_BYTES, "the prompt is over 1 MB")
    .optional(),
  name: z.string().min(1).max(PATH_MAX_BYTES).optional(),
  interactive: z.boolean().optional(),
  /** The worker whose agent asks. */
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
  /** A new worker that goes on in the last session of this one, or in a branch of it. */
  "agent/resume": z.strictObject(resume),
  "agent/fork": z.strictObject(resume),
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
  "tree/apply": z.strictObject({
    tree: TreeSpec,
    /** The environment of the client, once for all workers: a thousand copies would not fit into a request. */
    client_env: z.record(z.string(), z.string()).default({}),
    dry_run: z.boolean().default(false),
    ...keyed,
  }),
  /** With `file`: only if that file owns the tree. */
  "tree/down": z.strictObject({ name: NodeName, file: z.string().min(1).optional(), ...keyed }),
  /** The question that the worker stands at; with `question_id` only if it is that one. */
  "agent/answer": z.strictObject({
    id: ref,
    answer: z.enum(ANSWERS),
    question_id: z.string().max(64).optional(),
    by: z.string().min(1).max(256).optional(),
    ...keyed,
  }),
  /** With `close` nothing comes after it; it needs no text then. */
  "agent/send": z
    .strictObject({
      id: ref,
      text: message.optional(),
      close: z.boolean().default(false),
      idempotency_key: idempotencyKey.optional(),
    })
    .refine(({ text, close }) => text !== undefined || close, "there is neither a text nor close"),
  /** Answers with the turn that answers it. A client that comes again asks with the same key. */
  "agent/ask": z.strictObject({
    id: ref,
    text: message,
    timeout_ms: ms.optional(),
    idempotency_key: idempotencyKey.optional(),
  }),
  /**
   * Open requests for permission, or all that ever were; with the cursor of an answer, those after them. `id` is a worker, or one
   * request, open or not.
   */
  "agent/approvals": z.strictObject({
    id: ref.optional(),
    all: z.boolean().default(false),
    limit: z.int().min(1).max(APPROVALS_PAGE_MAX).default(APPROVALS_PAGE_MAX),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/, "it is no cursor of agent approvals")
      .optional(),
  }),
  /** `id` is the request's, a unique prefix of it, or the worker's that asks nothing else. */
  "agent/approve": z.strictObject({
    id: ref,
    decision: z.enum(["allow", "deny"]),
    message: z.string().max(1_024).optional(),
    by: z.string().min(1).max(256).optional(),
    ...keyed,
  }),
  /** Ends the turn that is open and keeps the worker. */
  "agent/cancel": z.strictObject({ id: ref, ...keyed }),
  /** The newest ones; with the cursor of an answer, those before them. */
  "agent/messages": z.strictObject({
    id: ref,
    limit: z.int().min(1).max(MESSAGES_PAGE_MAX).default(MESSAGES_PAGE_DEFAULT),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/, "it is no cursor of agent messages")
      .optional(),
  }),
  /** In order of their ids; `cursor` is the last id of the page before. */
  "agent/list": z.strictObject({
    all: z.boolean().default(false),
    limit: z.int().min(1).optional(),
    cursor: z.string().max(64).optional(),
  }),
  "agent/info": z.strictObject({ id: ref }),
  "agent/tree": z.strictObject({}),
  /** Only turns that were completed. `since_ms` is how long ago at most; the days of `by: "day"` are those of UTC. */
  "agent/usage": z.strictObject({
    ids: z.array(ref).max(1_000).default([]),
    by: z.string().regex(USAGE_BY, "it is day, kind, model, worker or label:KEY").default("day"),
    since_ms: ms.optional(),
    subtree: z.boolean().default(false),
  }),
  "agent/why": z.strictObject({ id: ref }),
  /** A stream: progress envelopes whose data is one record each, then a terminal `ok` with {next: seq}. */
  "agent/watch": z.strictObject({
    ids: z.array(ref).max(1_000).default([]),
    all: z.boolean().default(false),
    /** A seq, or a cursor `EPOCH:SEQ`. */
    from: z.union([z.int().min(0), z.string().regex(CURSOR)]).optional(),
    since_ms: ms.optional(),
    kinds: z.array(z.string()).max(64).default([]),
    types: z.array(z.string()).max(64).default([]),
    follow: z.boolean().default(true),
    /** End after the record with this seq, whatever goes on: what the log holds so far. */
    until: z.int().min(0).optional(),
    /** The newest N records only, before following. */
    tail: z.int().min(0).max(TAIL_MAX_RECORDS).optional(),
  }),
  "agent/wait": z.strictObject({ ids: refs, timeout_ms: ms.optional() }),
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
    /** The slice is at most what the client takes inline: `meta.inline_max_bytes`. */
    max_bytes: z.int().min(1).max(RAW_SLICE_BYTES).default(65_536),
  }),
  "agent/capabilities": z.strictObject({ kind: z.string().optional() }),
  /** The versions that the client speaks and needs; a connection may do without. */
  "protocol/hello": z.strictObject({
    versions: z.array(z.int()).min(1).max(16).default([1]),
    profiles: z.array(z.string().max(64)).max(16).default([]),
  }),
  "daemon/status": z.strictObject({}),
  /** Neither flag while agents run fails with AGENTS_RUNNING. */
  "daemon/stop": z.strictObject({ agents: z.enum(["refuse", "kill", "keep"]).default("refuse") }),
  "db/check": z.strictObject({}),
  "db/rebuild": z.strictObject({}),
  /** Without `older_than_ms` or `max_bytes`: what the daemon's own retention is. */
  "db/gc": z.strictObject({
    older_than_ms: ms.optional(),
    max_bytes: z.int().min(RETENTION_SIZE_MIN_BYTES).optional(),
    dry_run: z.boolean().default(false),
    archive: z.boolean().default(true),
  }),
} as const;

export type RequestName = keyof typeof Requests;
export type RequestData<N extends RequestName> = z.output<(typeof Requests)[N]>;
/** The data that a client sends: fields with a default may be left out. */
export type RequestInput<N extends RequestName> = z.input<(typeof Requests)[N]>;
export const isRequestName = (name: string): name is RequestName => Object.hasOwn(Requests, name);
