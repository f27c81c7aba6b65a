/**
 * The runtime as its users see it: the daemon's handlers, the library and tests call these and nothing else.
 * `runtime.ts` implements it. Every method fails with a HoldfastError and nothing else.
 */

import type { Effect, Stream } from "effect";
import type { RelatedProcess } from "../adapters/posix.ts";
import type { RefusedAdapter } from "../adapters/registry.ts";
import type { Caller, Peer } from "../protocol/caller.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { HoldAnswer } from "../protocol/holds.ts";
import type { JobState, JobStep } from "../protocol/jobs.ts";
import type { MailType } from "../protocol/mail-records.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { PruneReply, RenameReply } from "../protocol/replies/care.ts";
import type { JobResult, JobsReply, JobView, SubmittedJob } from "../protocol/replies/jobs.ts";
import type {
  MailAckReply,
  MailChangedReply,
  MailLeaseReply,
  MailListReply,
  MailPollReply,
  MailSentReply,
  MailView,
} from "../protocol/replies/mail.ts";
import type { SearchReply } from "../protocol/replies/search.ts";
import type { SpawnManyReply } from "../protocol/replies/spawn-many.ts";
import type { RequestData } from "../protocol/requests.ts";
import type { JsonValue } from "../protocol/talk-records.ts";
import type { TreeSpec } from "../protocol/tree.ts";
import type { Budget, PlacedRight, WorkerSpecInput, WorkerState } from "../protocol/worker.ts";
import type { GcReport } from "../store/gc-report.ts";
import type { CheckReport } from "../store/upkeep.ts";
import type { BlackboardApi } from "./blackboard-api.ts";
import type { BoardApi } from "./board-api.ts";
import type { TakePage } from "./following/follower.ts";
import type { PeersApi } from "./peers-api.ts";
import type { ResumeRequest, UsageAsked, WatchQuery } from "./questions.ts";
import type {
  Answered,
  AnswerReply,
  AppliedReply,
  ApprovalsReply,
  ApprovedReply,
  ChangesReply,
  InboxReply,
  KindView,
  MessageReply,
  MessagesReply,
  OutputReply,
  PerWorker,
  RawAnswer,
  RawStream,
  RuntimeStatus,
  SpawnReply,
  TreeSupervisor,
  UsageReply,
  WaitReply,
  WhyReply,
  WorkerInfo,
  WorkerView,
} from "./replies.ts";
import type { SchedulesApi } from "./schedules-api.ts";
import type { WorkerFilter } from "./selecting.ts";
import type { SkillsApi } from "./skills-api.ts";
import type { TokensApi } from "./tokens-api.ts";

export type { JobResult, JobsReply, JobView, SubmittedJob } from "../protocol/replies/jobs.ts";
export type { ResumeRequest, UsageAsked, WatchQuery } from "./questions.ts";
export type * from "./replies.ts";

/** The caller of a request: a daemon finds it out; a program that embeds the runtime may name itself in `by`. */
export interface CallerOptions {
  readonly caller?: Caller | undefined;
  readonly by?: string | undefined;
}

export interface AnswerOptions extends CallerOptions {
  /** Answer only this question. INVALID_STATE if it is no longer asked. */
  readonly question_id?: string | undefined;
  /** The reason for a denial, which the agent is told. */
  readonly message?: string | undefined;
  /** With `continue`, for a spent budget: bounds from now on, in the place of as much again. */
  readonly budget?: Budget | undefined;
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

/** A page of at most `limit` entries. `cursor` is that of the page before. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A message for a mailbox. */
export interface MailToSend extends CallerOptions {
  /** A worker, or `user`. Not used by a reply, which goes to the sender of the question. */
  readonly to?: string | undefined;
  /** Default: `cmd`. */
  readonly type?: MailType | undefined;
  /** A JSON value of at most MAILBOX_PAYLOAD_MAX_BYTES. */
  readonly payload: JsonValue;
  /** The digest of an artifact, for larger content. */
  readonly artifact?: string | undefined;
  /** The id of the message that a reply answers. */
  readonly correlation_id?: string | undefined;
  readonly ttl_ms?: number | undefined;
  readonly delay_ms?: number | undefined;
  readonly idempotency_key?: string | undefined;
}

/** Messages that agents and people poll, at least once, under leases. Default mailbox: the caller's. A worker reads no other. */
export interface MailboxApi {
  /** Returns once it is durable. Fails with QUEUE_FULL if the mailbox is full, with INVALID_STATE if its worker has ended. */
  send(message: MailToSend): Effect.Effect<MailSentReply, HoldfastError>;
  /** Leases the messages that are due, oldest first. With `wait_ms` it waits that long for the first one. */
  poll(
    options?: {
      readonly id?: string | undefined;
      readonly limit?: number | undefined;
      readonly lease_ms?: number | undefined;
      readonly wait_ms?: number | undefined;
    } & CallerOptions,
  ): Effect.Effect<MailPollReply, HoldfastError>;
  /** Ends a message; `reply` goes to its sender in the same transaction. LEASE_LOST after the lease, as for `nack`, `extend`. */
  ack(
    token: number,
    options?: {
      readonly reply?: { readonly payload: JsonValue; readonly artifact?: string | undefined } | undefined;
    } & CallerOptions,
  ): Effect.Effect<MailAckReply, HoldfastError>;
  /** Gives a message back. It is delivered again after the delay. */
  nack(
    token: number,
    options?: { readonly delay_ms?: number | undefined; readonly note?: string | undefined } & CallerOptions,
  ): Effect.Effect<MailLeaseReply, HoldfastError>;
  /** Extends the lease to `lease_ms` from now. */
  extend(
    token: number,
    options?: { readonly lease_ms?: number | undefined } & CallerOptions,
  ): Effect.Effect<MailLeaseReply, HoldfastError>;
  /** Lists all messages except dead letters; with `dead`, only dead letters. */
  list(
    options?: {
      readonly id?: string | undefined;
      readonly dead?: boolean | undefined;
    } & Partial<PageRequest> &
      CallerOptions,
  ): Effect.Effect<MailListReply, HoldfastError>;
  /** Shows a message by its id or a unique prefix of it. */
  show(id: string, options?: CallerOptions): Effect.Effect<MailView, HoldfastError>;
  /** Delivers a dead letter again as if it were new. */
  resend(id: string, options?: CallerOptions): Effect.Effect<MailChangedReply, HoldfastError>;
  /** Removes a message from its mailbox, dead or not. */
  drop(id: string, options?: CallerOptions): Effect.Effect<MailChangedReply, HoldfastError>;
}

/** Workers that are never restarted (protocol-v1.txt, Jobs). Every call takes any worker; `list` shows jobs alone. */
export interface JobsApi {
  /** Spawns a worker that is never restarted. A repeat with the same key returns the first job, with the effect `noop`. */
  submit(
    spec: Omit<WorkerSpecInput, "restart">,
    options?: { readonly idempotency_key?: string | undefined; readonly caller?: Caller | undefined },
  ): Effect.Effect<SubmittedJob, HoldfastError>;
  /** Jobs in the order of submission, ended ones included; with `states`, only jobs in one of them. */
  list(
    page: PageRequest & { readonly states?: readonly JobState[] | undefined },
  ): Effect.Effect<JobsReply, HoldfastError>;
  info(id: string): Effect.Effect<JobView, HoldfastError>;
  /** The steps after a seq, to the end of the job, which is the last one. `follow` false: only the steps on record now. */
  tail(
    id: string,
    options: { readonly from: number; readonly follow: boolean },
  ): Stream.Stream<JobStep, HoldfastError>;
  /** Waits for the ends of jobs. Fails with TIMEOUT after `timeoutMs`. */
  wait(ids: readonly string[], timeoutMs?: number): Effect.Effect<readonly JobView[], HoldfastError>;
  /** The final answer of a job, as `output` returns it. */
  result(
    id: string,
    options?: { readonly max_bytes?: number | undefined },
  ): Effect.Effect<JobResult, HoldfastError>;
  /** Kills jobs; `noop` for a job that has ended. */
  cancel(options: KillOptions): Effect.Effect<readonly PerWorker[], HoldfastError>;
}

/** A worker of a cluster on this machine. One that its agent spawned runs by the same right. */
export interface PlacedWorker {
  readonly id: string;
  readonly placed: PlacedRight;
  readonly state: WorkerState;
  /** It is the worker of the placement, and none that its agent spawned. */
  readonly isItself: boolean;
  /** The one who killed it last; null if nobody did. */
  readonly killed_by: string | null;
  /** How the sweep of its end searched. */
  readonly checked_by?: PerWorker["checked_by"];
}

/** Parts of a worker's view that cost more than a look at memory. */
export interface ShownParts {
  /** The use of the machine by its processes. Default: false. */
  readonly resources?: boolean | undefined;
}

export interface AskedInfo extends ShownParts {
  /** Only a worker of this machine: a node of a cluster asks no other one. A runtime knows its own workers only. Default: false. */
  readonly here?: boolean | undefined;
}
export interface RuntimeApi {
  readonly blackboard: BlackboardApi;
  /** Cards of issues, and the dispatcher that spawns a worker for each. */
  readonly board: BoardApi;
  readonly mailbox: MailboxApi;
  readonly schedules: SchedulesApi;
  /** Tokens with names: callers that present one are `user:<name>` in records. */
  readonly tokens: TokensApi;
  /** Hubs with which this one federates, and the audit trail. */
  readonly peers: PeersApi;
  readonly skills: SkillsApi;
  /** The epoch of the log's history, to which each cursor belongs. */
  readonly epoch: string;
  /** Resolves once each run that ended before this runtime was opened has its end on record. */
  readonly settled: Effect.Effect<void>;
  /** Tells whose process is at the other end of a connection. */
  identify(peer: Peer): Caller;
  /** The name of the living token with this secret. */
  principalOf(secret: string): string | undefined;
  /** As `identify`, from the ancestors of a process that were read before. */
  identifyIn(lineage: readonly RelatedProcess[]): Caller;
  /** Permits a caller to start something other than a worker. Returns the `by` for records. */
  permitStart(caller: Caller): Effect.Effect<string, HoldfastError>;
  /** Permits a caller to do something that concerns all workers. `what` is an infinitive. Returns the `by` for records. */
  permitAll(caller: Caller, what: string): Effect.Effect<string, HoldfastError>;
  spawn(
    spec: WorkerSpecInput,
    options?: {
      readonly dry_run?: boolean;
      readonly idempotency_key?: string | undefined;
      /** A worker as the caller becomes the parent, whatever the spec says. */
      readonly caller?: Caller | undefined;
      readonly by?: string | undefined;
      /** The right of this node to run it. Without one, a spec that asks for a place in a cluster is refused. */
      readonly placed?: PlacedRight | undefined;
    },
  ): Effect.Effect<SpawnReply, HoldfastError>;
  /**
   * Spawns a worker with this one's spec, in its last session or a branch of it. UNSUPPORTED_CAPABILITY if its kind cannot do that,
   * SESSION_NOT_FOUND if it has no session, SESSION_IN_USE if a living worker uses it.
   */
  /** Starts several agents by their roles: all of them, or none. With `wait_for_completion`, answers once all have ended. */
  spawnMany(
    asked: RequestData<"agent/spawn-many">,
    options?: { readonly caller?: Caller | undefined },
  ): Effect.Effect<SpawnManyReply, HoldfastError>;
  resume(ref: string, options: ResumeRequest): Effect.Effect<SpawnReply, HoldfastError>;
  /**
   * Brings a tree in line with its file. Returns once that is on record; `tree` shows its progress. `dry_run`: tells the changes.
   * `client_env`: variables of the client for all its workers. `ending`: placed workers of a cluster that end before the tree is
   * applied, so that a dry run passes over those that live here.
   */
  applyTree(
    spec: TreeSpec,
    options?: {
      readonly dry_run?: boolean;
      readonly client_env?: Readonly<Record<string, string>>;
      readonly ending?: readonly string[];
    } & CallerOptions,
  ): Effect.Effect<AppliedReply, HoldfastError>;
  /** Stops a tree in order and removes it. With `file`, only if that file owns it. With `dry_run` it only says what it would remove. */
  downTree(
    name: string,
    options?: { readonly file?: string; readonly dry_run?: boolean } & CallerOptions,
  ): Effect.Effect<AppliedReply, HoldfastError>;
  /** Kills workers. Resolves when each named worker has ended and its processes are gone. */
  kill(options: KillOptions): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /** Starts a new incarnation, even of a worker that has ended or was killed. */
  restart(
    ids: readonly string[],
    options?: CallerOptions,
  ): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /**
   * Stops a worker's processes until `unpause`, a stop, or the end of this incarnation. None of its clocks count meanwhile. For a
   * supervisor: every running worker below it. Fails with INVALID_STATE if no agent runs. `noop`: it is paused already.
   */
  pause(
    ids: readonly string[],
    options?: { readonly reason?: string | undefined } & CallerOptions,
  ): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /** Lifts every pause of a worker. `noop`: it was not paused. */
  unpause(
    ids: readonly string[],
    options?: CallerOptions,
  ): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /** Takes ended workers out of the lists, or with `undo` back into them. Fails with INVALID_STATE for a worker that has not ended. */
  archive(
    ids: readonly string[],
    options?: { readonly undo?: boolean } & CallerOptions,
  ): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /** Gives a worker another name. Fails with ALREADY_EXISTS if a living worker has it, with INVALID_STATE for a worker of a file. */
  rename(id: string, name: string, options?: CallerOptions): Effect.Effect<RenameReply, HoldfastError>;
  /** Removes what is left of ended workers: run directories, and worktrees without changes. Records stay. */
  prune(
    asked: Omit<RequestData<"agent/prune">, "idempotency_key"> & CallerOptions,
  ): Effect.Effect<PruneReply, HoldfastError>;
  readonly jobs: JobsApi;
  /** Holds that a person can answer, oldest first; with `all`, every open hold. `id`: of one worker, or a supervisor's path. */
  inbox(
    page: PageRequest & { readonly id?: string | undefined; readonly all?: boolean | undefined },
  ): Effect.Effect<InboxReply, HoldfastError>;
  /**
   * Answers a hold. `id`: its id in the inbox, a request for permission, a worker, or the path of a supervisor whose budget is
   * spent. Fails with INVALID_STATE if nothing is asked, or if the hold does not take this answer.
   */
  answer(id: string, answer: HoldAnswer, options?: AnswerOptions): Effect.Effect<Answered, HoldfastError>;
  /**
   * Sends a message to an interactive agent. Returns once it is durable, and delivered if the agent runs. A repeat with the same
   * key is a `noop`. `close` ends the agent's input after this message and needs no text.
   */
  send(
    id: string,
    text: string | undefined,
    options?: {
      readonly idempotency_key?: string | undefined;
      readonly close?: boolean | undefined;
    } & CallerOptions,
  ): Effect.Effect<MessageReply, HoldfastError>;
  /**
   * Sends a message and waits for the turn that answers it. TIMEOUT after its time; the agent still has the question. A worker
   * without a conversation is asked by its mailbox, if it polls it; that question expires with the time.
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
  /** The newest messages; with a cursor, the ones before them. */
  messages(id: string, page: PageRequest): Effect.Effect<MessagesReply, HoldfastError>;
  /** Requests for permission, oldest first: the open ones, or with `all` every one. `id`: only of one worker, or one request. */
  approvals(
    page: PageRequest & { readonly id?: string | undefined; readonly all?: boolean | undefined },
  ): Effect.Effect<ApprovalsReply, HoldfastError>;
  /** Answers a request by its id, a prefix, or its worker. The same answer again is a `noop`, another one INVALID_STATE. */
  approve(
    ref: string,
    decision: "allow" | "deny",
    options?: { readonly message?: string | undefined } & CallerOptions,
  ): Effect.Effect<ApprovedReply, HoldfastError>;
  /** Ends the open turn and keeps the worker. `noop`: no turn is open. Fails if its kind cannot do that. */
  cancel(
    id: string,
    options?: CallerOptions,
  ): Effect.Effect<{ readonly id: string; readonly effect: "updated" | "noop" }, HoldfastError>;
  /** Finds a worker's id by an id, a unique prefix of one, or the name of a living worker (else of the newest with that name). */
  resolve(ref: string): Effect.Effect<string, HoldfastError>;
  /** The right by which a worker of a cluster runs here, or ran; undefined for any other. */
  placeOf(id: string): PlacedRight | undefined;
  /** Whether a supervisor or a permission request here has the name, which is no name of a worker then. */
  hasOther(ref: string): boolean;
  /** By its whole id; undefined for a worker that is not in the log. */
  stateOf(id: string): WorkerState | undefined;
  /** Workers that a cluster placed here: the living ones, or with the name of a placement all of it, newest first. */
  placed(worker?: string): Effect.Effect<readonly PlacedWorker[], HoldfastError>;
  list(
    options?: WorkerFilter & {
      readonly all?: boolean;
      /** Only workers that the agents of this worker spawned, at any depth. */
      readonly below?: string | undefined;
    } & ShownParts,
  ): Effect.Effect<readonly WorkerView[], HoldfastError>;
  info(id: string, parts?: AskedInfo): Effect.Effect<WorkerInfo, HoldfastError>;
  tree(): Effect.Effect<TreeSupervisor, HoldfastError>;
  /** Tokens, costs, turns, tool calls and time of completed turns, including those of removed and ended workers. */
  usage(asked: UsageAsked): Effect.Effect<UsageReply, HoldfastError>;
  /** The decisions about a worker, or about a supervisor by its path. */
  why(ref: string): Effect.Effect<WhyReply, HoldfastError>;
  /** Hands over pages of JSON lines: the log, then the live tail, without gap or repeat. Returns the cursor to go on from. */
  follow(query: WatchQuery, take: TakePage): Effect.Effect<number, HoldfastError>;
  watch(query: WatchQuery): Stream.Stream<LogRecord, HoldfastError>;
  /** Finds records that have all words, newest first, among everything recorded before the call. */
  search(query: RequestData<"agent/search">): Effect.Effect<SearchReply, HoldfastError>;
  /** Waits for the ends of workers. Fails with TIMEOUT after `timeoutMs`. */
  wait(
    ids: readonly string[],
    timeoutMs?: number,
    how?: { readonly subtree?: boolean | undefined },
  ): Effect.Effect<readonly WaitReply[], HoldfastError>;
  /** The final answer: what the agent called so, else its last message; a command's last stdout. At most the first `max_bytes`. */
  output(
    id: string,
    options?: { readonly max_bytes?: number | undefined },
  ): Effect.Effect<OutputReply, HoldfastError>;
  /** Changes in the worker's worktree, with the diff as an artifact. UNSUPPORTED_CAPABILITY if it has no worktree. */
  changes(id: string): Effect.Effect<ChangesReply, HoldfastError>;
  /** Removes the worktrees of ended workers; branches stay. INVALID_STATE, per worker, if changes would be lost. */
  removeWorktrees(
    ids: readonly string[],
    options?: CallerOptions,
  ): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /** A slice of a raw spool while it is kept: of the newest incarnation, or of the named one. */
  raw(
    id: string,
    stream: RawStream,
    offset: number,
    maxBytes: number,
    incarnation?: number,
  ): Effect.Effect<RawAnswer, HoldfastError>;
  /** Users' adapters that could not be loaded. */
  readonly refused: readonly RefusedAdapter[];
  capabilities(kind?: string): Effect.Effect<readonly KindView[], HoldfastError>;
  status(): Effect.Effect<RuntimeStatus, HoldfastError>;
  check(): Effect.Effect<CheckReport, HoldfastError>;
  rebuild(): Effect.Effect<{ readonly records: number }, HoldfastError>;
  /** Moves output of ended runs to archives: all that is too old, then the oldest while the log is too large. */
  gc(options?: {
    readonly older_than_ms?: number | undefined;
    readonly max_bytes?: number | undefined;
    readonly dry_run?: boolean;
    readonly archive?: boolean;
  }): Effect.Effect<GcReport, HoldfastError>;
  /**
   * Ends the runtime: stops the agents in reverse start order, or leaves them for the next daemon to adopt. Fails with
   * AGENTS_RUNNING, and goes on, if agents that were to be stopped still run (`details.running`).
   */
  shutdown(agents: "kill" | "keep", reason: string, by?: string): Effect.Effect<void, HoldfastError>;
}
