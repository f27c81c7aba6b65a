/**
 * The runtime as its users see it: the daemon's handlers, the library and tests call these and nothing else.
 * `runtime.ts` implements it. Every method fails with a HoldfastError and nothing else.
 */

import type { Effect, Stream } from "effect";
import type { RefusedAdapter } from "../adapters/registry.ts";
import type { RelatedProcess } from "../adapters/spawner.ts";
import type { Caller, Peer } from "../protocol/caller.ts";
import type { StartCursor } from "../protocol/cursor.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { HoldAnswer } from "../protocol/holds.ts";
import type { JobState, JobStep } from "../protocol/jobs.ts";
import type { MailType } from "../protocol/mail-records.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { JsonValue } from "../protocol/talk-records.ts";
import type { TreeSpec } from "../protocol/tree.ts";
import type { RestartPolicy, WorkerSpecInput } from "../protocol/worker.ts";
import type { RecordFilter } from "../store/event-log.ts";
import type { GcReport } from "../store/gc-report.ts";
import type { CheckReport } from "../store/upkeep.ts";
import type { BlackboardApi } from "./blackboard-api.ts";
import type { TakePage } from "./following/follower.ts";
import type { JobResult, JobsReply, JobView, SubmittedJob } from "./job-replies.ts";
import type {
  MailAckReply,
  MailChangedReply,
  MailLeaseReply,
  MailListReply,
  MailPollReply,
  MailSentReply,
  MailView,
} from "./mail-replies.ts";
import type {
  Answered,
  AnswerReply,
  AppliedReply,
  ApprovalsReply,
  ApprovedReply,
  ChangesReply,
  InboxReply,
  MessageReply,
  MessagesReply,
  OutputReply,
  PerWorker,
  RawAnswer,
  RawStream,
  RuntimeStatus,
  SpawnReply,
  TreeNode,
  UsageReply,
  WaitReply,
  WhyReply,
  WorkerInfo,
  WorkerView,
} from "./replies.ts";
import type { WorkerFilter } from "./selecting.ts";

export type { JobResult, JobsReply, JobView, SubmittedJob } from "./job-replies.ts";
export type {
  AnswerReply,
  AppliedReply,
  ChangesReply,
  EffectWord,
  InboxReply,
  MessageReply,
  MessagesReply,
  OutputReply,
  PerWorker,
  RawAnswer,
  RawStream,
  RuntimeStatus,
  SpawnReply,
  TreeNode,
  UsageReply,
  WaitReply,
  WhyReply,
  WorkerInfo,
  WorkerView,
} from "./replies.ts";

/** The caller. A daemon knows the caller of each connection; a program that embeds the runtime may name somebody. */
export interface CallerOptions {
  readonly caller?: Caller | undefined;
  readonly by?: string | undefined;
}

export interface AnswerOptions extends CallerOptions {
  /** Only if it is this one. */
  readonly question_id?: string | undefined;
  /** For an agent whose request is denied: why. */
  readonly message?: string | undefined;
}

export interface KillOptions extends CallerOptions {
  readonly ids: readonly string[];
  readonly all?: boolean;
  readonly subtree?: boolean;
  readonly grace_ms?: number;
  readonly signal?: string;
  readonly reason?: string;
  readonly dry_run?: boolean;
}

export interface UsageAsked {
  /** Only these workers, and all below these supervisors; empty is all there ever were. */
  readonly ids: readonly string[];
  /** `day`, `kind`, `model`, `worker` or `label:KEY`. */
  readonly by: string;
  /** Only turns that were completed within this time. */
  readonly since_ms?: number | undefined;
  /** And of all that their agents have spawned, and those. */
  readonly subtree: boolean;
}

export interface ResumeRequest {
  /** An interactive one may wait for its first message instead. */
  readonly prompt?: string | undefined;
  /** Branch the session: the old one stays as it is. */
  readonly fork?: boolean | undefined;
  /** Instead of the worker's own, which a fork does not take over. */
  readonly name?: string | undefined;
  readonly interactive?: boolean | undefined;
  /** The worker whose agent asks. */
  readonly parent?: string | undefined;
  readonly dry_run?: boolean | undefined;
  readonly idempotency_key?: string | undefined;
  readonly caller?: Caller | undefined;
}

export interface WatchQuery {
  /** Records after this seq or cursor; undefined starts at the live tail's head. */
  readonly from?: StartCursor;
  readonly since_ms?: number;
  /** Only, from what is in the log already, the newest N records that pass the filter. */
  readonly tail?: number;
  /** End after this seq, whether the workers have ended or not. */
  readonly until?: number;
  readonly ids?: readonly string[];
  /** Only records of these streams, and of those workers. */
  readonly streams?: readonly string[];
  readonly filter?: RecordFilter;
  /** False: end once the workers named have ended and all is read. True: go on for ever. */
  readonly follow: boolean;
}

/** A page of at most `limit` entries; `cursor` is the one that the page before has answered. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A message for a mailbox, and its sender. */
export interface MailToSend extends CallerOptions {
  /** A worker, or `user`; a reply goes to whom asked. */
  readonly to?: string | undefined;
  /** Default: `cmd`. */
  readonly type?: MailType | undefined;
  /** A JSON value of at most MAILBOX_PAYLOAD_MAX_BYTES. */
  readonly payload: JsonValue;
  /** The digest of an artifact, for what is larger. */
  readonly artifact?: string | undefined;
  /** The id of the message that a reply answers. */
  readonly correlation_id?: string | undefined;
  readonly ttl_ms?: number | undefined;
  readonly delay_ms?: number | undefined;
  readonly idempotency_key?: string | undefined;
}

/** Messages that agents and people poll: at least once, under leases. Without an id the caller's own mailbox is meant; a worker may read no other. */
export interface MailboxApi {
  /** Answers once it is durable. Fails with QUEUE_FULL where the mailbox is full, INVALID_STATE where its worker has ended. */
  send(message: MailToSend): Effect.Effect<MailSentReply, HoldfastError>;
  /** The messages that are due, oldest first; with `wait_ms` as soon as there is one. */
  poll(
    options?: {
      readonly id?: string | undefined;
      readonly limit?: number | undefined;
      readonly lease_ms?: number | undefined;
      readonly wait_ms?: number | undefined;
    } & CallerOptions,
  ): Effect.Effect<MailPollReply, HoldfastError>;
  /** It is done. `reply` goes to the sender in the same transaction. Fails with LEASE_LOST where the token is worth nothing any more, as the next two do. */
  ack(
    token: number,
    options?: {
      readonly reply?: { readonly payload: JsonValue; readonly artifact?: string | undefined } | undefined;
    } & CallerOptions,
  ): Effect.Effect<MailAckReply, HoldfastError>;
  /** Gives it back: it is delivered again after the delay. */
  nack(
    token: number,
    options?: { readonly delay_ms?: number | undefined; readonly note?: string | undefined } & CallerOptions,
  ): Effect.Effect<MailLeaseReply, HoldfastError>;
  /** The lease is this long from now on. */
  extend(
    token: number,
    options?: { readonly lease_ms?: number | undefined } & CallerOptions,
  ): Effect.Effect<MailLeaseReply, HoldfastError>;
  /** All messages but the dead letters, or those; with the cursor of an answer, those after them. */
  list(
    options?: {
      readonly id?: string | undefined;
      readonly dead?: boolean | undefined;
    } & Partial<PageRequest> &
      CallerOptions,
  ): Effect.Effect<MailListReply, HoldfastError>;
  /** By its id, or a unique prefix of it. */
  show(id: string, options?: CallerOptions): Effect.Effect<MailView, HoldfastError>;
  /** A dead letter is delivered as if it were new. */
  resend(id: string, options?: CallerOptions): Effect.Effect<MailChangedReply, HoldfastError>;
  /** Takes a message out of its mailbox, dead or not. */
  drop(id: string, options?: CallerOptions): Effect.Effect<MailChangedReply, HoldfastError>;
}

/** Workers that are never restarted, in the words of protocol-v1.txt (Jobs). Every call takes any worker; `list` shows jobs alone. */
export interface JobsApi {
  /** A spawn. A repeat with the same key answers the first job, with the effect `noop`. */
  submit(
    spec: Omit<WorkerSpecInput, "restart">,
    options?: { readonly idempotency_key?: string | undefined; readonly caller?: Caller | undefined },
  ): Effect.Effect<SubmittedJob, HoldfastError>;
  /** In the order of their submission, ended ones too; with `states`, those in one of them. */
  list(
    page: PageRequest & { readonly states?: readonly JobState[] | undefined },
  ): Effect.Effect<JobsReply, HoldfastError>;
  info(id: string): Effect.Effect<JobView, HoldfastError>;
  /** The steps after a seq, to the end of the job, which the last one tells; with `follow` false only those on record now. */
  tail(
    id: string,
    options: { readonly from: number; readonly follow: boolean },
  ): Stream.Stream<JobStep, HoldfastError>;
  /** Fails with TIMEOUT when its own time is up. */
  wait(ids: readonly string[], timeoutMs?: number): Effect.Effect<readonly JobView[], HoldfastError>;
  /** The final answer, as `output` gives it. */
  result(
    id: string,
    options?: { readonly max_bytes?: number | undefined },
  ): Effect.Effect<JobResult, HoldfastError>;
  /** A kill, which is `noop` for a job that has ended. */
  cancel(options: KillOptions): Effect.Effect<readonly PerWorker[], HoldfastError>;
}

export interface RuntimeApi {
  readonly blackboard: BlackboardApi;
  readonly mailbox: MailboxApi;
  /** The epoch of the log's history: a cursor is a seq of it. */
  readonly epoch: string;
  /** Done once each run that ended before this runtime was opened has its end on record. */
  readonly settled: Effect.Effect<void>;
  /** Whose process is at the other end of a connection. */
  identify(peer: Peer): Caller;
  /** Whose process that is which was looked at before. */
  identifyIn(lineage: readonly RelatedProcess[]): Caller;
  /** For a caller that starts something other than a worker. */
  permitStart(caller: Caller): Effect.Effect<string, HoldfastError>;
  /** For what concerns all and is done elsewhere; `what` is an infinitive. */
  permitAll(caller: Caller, what: string): Effect.Effect<string, HoldfastError>;
  spawn(
    spec: WorkerSpecInput,
    options?: {
      readonly dry_run?: boolean;
      readonly idempotency_key?: string | undefined;
      /** A worker is the parent of what it asks for, whatever the spec says. */
      readonly caller?: Caller | undefined;
    },
  ): Effect.Effect<SpawnReply, HoldfastError>;
  /**
   * A new worker with the spec of this one, in its last session, or in a branch of it. Fails with UNSUPPORTED_CAPABILITY where its
   * kind cannot, SESSION_NOT_FOUND where it has told no session, SESSION_IN_USE where a living worker goes on in it.
   */
  resume(ref: string, options: ResumeRequest): Effect.Effect<SpawnReply, HoldfastError>;
  /** Bring a tree in line with its file, or say what that would change. Answers once it is on record; `tree` shows how it goes on. */
  applyTree(
    spec: TreeSpec,
    options?: { readonly dry_run?: boolean } & CallerOptions,
  ): Effect.Effect<AppliedReply, HoldfastError>;
  /** Stop a tree in order and forget it. With `file`, only if that file owns it. */
  downTree(
    name: string,
    options?: { readonly file?: string } & CallerOptions,
  ): Effect.Effect<AppliedReply, HoldfastError>;
  /** Resolves when every worker named has ended and its processes are gone. */
  kill(options: KillOptions): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /** A new incarnation, also of what has ended or was tombstoned. */
  restart(
    ids: readonly string[],
    options?: CallerOptions,
  ): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /**
   * Its processes stand still until `unpause`, a stop, or the end of this incarnation, and no clock of it counts; a supervisor:
   * all that run below it now. Fails with INVALID_STATE where no agent runs. `noop`: it is paused already.
   */
  pause(
    ids: readonly string[],
    options?: { readonly reason?: string | undefined } & CallerOptions,
  ): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /** Whatever it was paused for. `noop` where it was not. */
  unpause(
    ids: readonly string[],
    options?: CallerOptions,
  ): Effect.Effect<readonly PerWorker[], HoldfastError>;
  readonly jobs: JobsApi;
  /** The holds that a person can answer, oldest first, or all that are open; with the cursor of an answer, those after them. `id`: of one worker, or the path of a supervisor. */
  inbox(
    page: PageRequest & { readonly id?: string | undefined; readonly all?: boolean | undefined },
  ): Effect.Effect<InboxReply, HoldfastError>;
  /**
   * Answers a hold, by its id in the inbox, the id of a request for permission, a worker, or the path of a supervisor whose budget is
   * spent. Fails with INVALID_STATE where nothing asks, or the hold does not take this answer.
   */
  answer(id: string, answer: HoldAnswer, options?: AnswerOptions): Effect.Effect<Answered, HoldfastError>;
  /**
   * A message for an interactive agent. Answers once it is durable, and delivered where its agent runs; a repeat with the same
   * key is a noop. `close` ends the input of the agent after this message; it needs no text.
   */
  send(
    id: string,
    text: string | undefined,
    options?: { readonly idempotency_key?: string | undefined; readonly close?: boolean | undefined },
  ): Effect.Effect<MessageReply, HoldfastError>;
  /**
   * A message, and the turn that answers it. Fails with TIMEOUT when its own time is up; the agent has the question all the same. A worker that is no
   * conversation is asked by its mailbox, if it polls it: the answer is its reply, and the question expires with the time.
   */
  ask(
    id: string,
    text: string,
    options?: {
      readonly idempotency_key?: string | undefined;
      readonly timeout_ms?: number | undefined;
      readonly caller?: Caller | undefined;
    },
  ): Effect.Effect<AnswerReply, HoldfastError>;
  /** The newest ones; with the cursor of an answer, those before them. */
  messages(id: string, page: PageRequest): Effect.Effect<MessagesReply, HoldfastError>;
  /** Requests for permission, oldest first: open requests, or all that ever were; with the cursor of an answer, those after them. `id`: of one worker, or one request. */
  approvals(
    page: PageRequest & { readonly id?: string | undefined; readonly all?: boolean | undefined },
  ): Effect.Effect<ApprovalsReply, HoldfastError>;
  /** Answers one, by its id, a unique prefix of it, or the worker that asks nothing else. The same answer again is a noop; another one fails with INVALID_STATE. */
  approve(
    ref: string,
    decision: "allow" | "deny",
    options?: { readonly message?: string | undefined } & CallerOptions,
  ): Effect.Effect<ApprovedReply, HoldfastError>;
  /** Ends the turn that is open and keeps the worker. `noop` where none is; fails where its kind cannot do that. */
  cancel(
    id: string,
    options?: CallerOptions,
  ): Effect.Effect<{ readonly id: string; readonly effect: "updated" | "noop" }, HoldfastError>;
  /** Accepts an id, a unique prefix of one, or the name of a living worker (else of the newest with it). */
  resolve(ref: string): Effect.Effect<string, HoldfastError>;
  list(
    options?: WorkerFilter & { readonly all?: boolean },
  ): Effect.Effect<readonly WorkerView[], HoldfastError>;
  info(id: string): Effect.Effect<WorkerInfo, HoldfastError>;
  tree(): Effect.Effect<TreeNode, HoldfastError>;
  /** Tokens, costs, turns, tool calls and time of turns that were completed, of removed and ended workers too. */
  usage(asked: UsageAsked): Effect.Effect<UsageReply, HoldfastError>;
  /** The decisions about a worker, or of a supervisor by its path. */
  why(ref: string): Effect.Effect<WhyReply, HoldfastError>;
  /** Hands over pages of records as JSON lines: the log from the cursor, then the live tail; no gap, no repeat. Answers the cursor to go on from. */
  follow(query: WatchQuery, take: TakePage): Effect.Effect<number, HoldfastError>;
  watch(query: WatchQuery): Stream.Stream<LogRecord, HoldfastError>;
  /** Fails with TIMEOUT when its own time is up. */
  wait(ids: readonly string[], timeoutMs?: number): Effect.Effect<readonly WaitReply[], HoldfastError>;
  /** The final answer: what the agent called so, else all text of its last message; or stdout of the last incarnation (command). At most the first `max_bytes` of it. */
  output(
    id: string,
    options?: { readonly max_bytes?: number | undefined },
  ): Effect.Effect<OutputReply, HoldfastError>;
  /**
   * The changes of the worker's agents in its worktree, with the diff as an artifact. Fails with UNSUPPORTED_CAPABILITY where it
   * has none: what was there before it began is not known.
   */
  changes(id: string): Effect.Effect<ChangesReply, HoldfastError>;
  /** Only for workers that have ended; the branch stays. INVALID_STATE, for each, where something would be lost. */
  removeWorktrees(
    ids: readonly string[],
    options?: CallerOptions,
  ): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /** A slice of a raw spool, as long as it is kept: of the newest incarnation, or of the one that is named. */
  raw(
    id: string,
    stream: RawStream,
    offset: number,
    maxBytes: number,
    incarnation?: number,
  ): Effect.Effect<RawAnswer, HoldfastError>;
  /** Adapters of users that are left out. */
  readonly refused: readonly RefusedAdapter[];
  capabilities(kind?: string): Effect.Effect<
    readonly {
      readonly kind: string;
      readonly aliases: readonly string[];
      readonly summary: string;
      readonly capabilities: readonly string[];
      /** Its program, and the variable that names another one; null where argv is the program. */
      readonly binary: string | null;
      readonly variable: string | null;
      readonly origin: "built_in" | "user";
      /** The file of a user's adapter. */
      readonly module: string | null;
      /** Variables of the client that it may need. */
      readonly variables: readonly string[];
      readonly default_restart: RestartPolicy;
    }[],
    HoldfastError
  >;
  status(): Effect.Effect<RuntimeStatus, HoldfastError>;
  check(): Effect.Effect<CheckReport, HoldfastError>;
  rebuild(): Effect.Effect<{ readonly records: number }, HoldfastError>;
  /** Moves output of ended incarnations to archives: what is older than given, and the oldest until the log takes no more than given, or else by the runtime's retention. */
  gc(options?: {
    readonly older_than_ms?: number | undefined;
    readonly max_bytes?: number | undefined;
    readonly dry_run?: boolean;
    readonly archive?: boolean;
  }): Effect.Effect<GcReport, HoldfastError>;
  /**
   * Stop in reverse start order, or leave the agents running for the next daemon to adopt. Fails with AGENTS_RUNNING, and the runtime
   * goes on, where some of those that were to be stopped still run (`details.running`).
   */
  shutdown(agents: "kill" | "keep", reason: string): Effect.Effect<void, HoldfastError>;
}
