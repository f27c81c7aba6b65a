/**
 * The runtime as its users see it: the daemon's handlers, the library and tests call these and nothing else.
 * `runtime.ts` implements it. Every method fails with a HoldfastError and nothing else.
 */

import type { Effect, Stream } from "effect";
import type { RefusedAdapter } from "../adapters/registry.ts";
import type { Relative } from "../adapters/spawner.ts";
import type { Caller, Peer } from "../protocol/caller.ts";
import type { From } from "../protocol/cursor.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { LogRecord, RecordPayloads } from "../protocol/records.ts";
import type { TreeSpec } from "../protocol/tree.ts";
import type { RestartPolicy, WorkerSpecInput } from "../protocol/worker.ts";
import type { GcReport } from "../store/gc-report.ts";
import type { CheckReport, RecordFilter } from "../store/port.ts";
import type { Take } from "./following/follower.ts";
import type {
  AnswerReply,
  AppliedReply,
  ApprovalsReply,
  ApprovedReply,
  ChangesReply,
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

export type {
  AnswerReply,
  AppliedReply,
  ChangesReply,
  Effected,
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

/** The answers that questions of all kinds offer. */
export type Answer = RecordPayloads["worker_question"]["answers"][number];

/** The caller. A daemon knows the caller of each connection; a program that embeds the runtime may name somebody. */
export interface Asking {
  readonly caller?: Caller | undefined;
  readonly by?: string | undefined;
}

export interface KillOptions extends Asking {
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
  /** Only turns that were completed in the last so long. */
  readonly since_ms?: number | undefined;
  /** And of all that their agents have spawned, and those. */
  readonly subtree: boolean;
}

export interface ResumeOptions {
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
  readonly from?: From;
  readonly since_ms?: number;
  /** Only, from what is in the log already, the newest N records that pass the filter. */
  readonly tail?: number;
  /** End after this seq, whether the workers have ended or not. */
  readonly until?: number;
  readonly ids?: readonly string[];
  readonly filter?: RecordFilter;
  /** False: end once the workers named have ended and all is read. True: go on for ever. */
  readonly follow: boolean;
}

export interface RuntimeApi {
  /** The epoch of the log's history: a cursor is a seq of it. */
  readonly epoch: string;
  /** Done once each run that ended before this runtime was opened has its end on record. */
  readonly settled: Effect.Effect<void>;
  /** Whose process is at the other end of a connection. */
  identify(peer: Peer): Caller;
  /** Whose process that is which was looked at before. */
  identifyIn(lineage: readonly Relative[]): Caller;
  /** For whoever starts something that is no worker. */
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
  resume(ref: string, options: ResumeOptions): Effect.Effect<SpawnReply, HoldfastError>;
  /** Bring a tree in line with its file, or say what that would change. Answers once it is on record; `tree` shows how it goes on. */
  applyTree(
    spec: TreeSpec,
    options?: { readonly dry_run?: boolean } & Asking,
  ): Effect.Effect<AppliedReply, HoldfastError>;
  /** Stop a tree in order and forget it. With `file`, only if that file owns it. */
  downTree(
    name: string,
    options?: { readonly file?: string } & Asking,
  ): Effect.Effect<AppliedReply, HoldfastError>;
  /** Resolves when every worker named has ended and its processes are gone. */
  kill(options: KillOptions): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /** A new incarnation, also of what has ended or was tombstoned. */
  restart(ids: readonly string[], options?: Asking): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /**
   * Its processes stand still until `unpause`, a stop, or the end of this incarnation, and no clock of it counts; a supervisor:
   * all that run below it now. Fails with INVALID_STATE where no agent runs. `noop`: it is paused already.
   */
  pause(
    ids: readonly string[],
    options?: { readonly reason?: string | undefined } & Asking,
  ): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /** Whatever it was paused for. `noop` where it was not. */
  unpause(ids: readonly string[], options?: Asking): Effect.Effect<readonly PerWorker[], HoldfastError>;
  /**
   * Answers the question that the worker stands at (`worker_question`): wait, restart or kill whether it is stuck, continue or
   * stop of a budget that is spent, also by the path of its supervisor. Fails with INVALID_STATE where it asks nothing, or another one.
   */
  answer(
    id: string,
    answer: Answer,
    options?: { readonly question_id?: string | undefined } & Asking,
  ): Effect.Effect<
    { readonly id: string; readonly question_id: string; readonly answer: Answer },
    HoldfastError
  >;
  /**
   * A message for an interactive agent. Answers once it is durable, and delivered where its agent runs; a repeat with the same
   * key is a noop. With `close` nothing comes after it: the agent's input ends, which needs no text.
   */
  send(
    id: string,
    text: string | undefined,
    options?: { readonly idempotency_key?: string | undefined; readonly close?: boolean | undefined },
  ): Effect.Effect<MessageReply, HoldfastError>;
  /** A message, and the turn that answers it. Fails with TIMEOUT when its own time is up; the agent has the question all the same. */
  ask(
    id: string,
    text: string,
    options?: {
      readonly idempotency_key?: string | undefined;
      readonly timeout_ms?: number | undefined;
    },
  ): Effect.Effect<AnswerReply, HoldfastError>;
  /** The newest ones; with the cursor of an answer, those before them. */
  messages(
    id: string,
    page: { readonly limit: number; readonly cursor?: string | undefined },
  ): Effect.Effect<MessagesReply, HoldfastError>;
  /** Requests for permission, oldest first: open requests, or all that ever were; with the cursor of an answer, those after them. `id`: of one worker, or one request. */
  approvals(page: {
    readonly id?: string | undefined;
    readonly all?: boolean | undefined;
    readonly limit: number;
    readonly after?: number | undefined;
  }): Effect.Effect<ApprovalsReply, HoldfastError>;
  /** Answers one, by its id, a unique prefix of it, or the worker that asks nothing else. The same answer again is a noop; another one fails with INVALID_STATE. */
  approve(
    ref: string,
    decision: "allow" | "deny",
    options?: { readonly message?: string | undefined } & Asking,
  ): Effect.Effect<ApprovedReply, HoldfastError>;
  /** Ends the turn that is open and keeps the worker. `noop` where none is; fails where its kind cannot do that. */
  cancel(
    id: string,
    options?: Asking,
  ): Effect.Effect<{ readonly id: string; readonly effect: "updated" | "noop" }, HoldfastError>;
  /** Accepts an id, a unique prefix of one, or the name of a living worker (else of the newest with it). */
  resolve(ref: string): Effect.Effect<string, HoldfastError>;
  list(options?: { readonly all?: boolean }): Effect.Effect<readonly WorkerView[], HoldfastError>;
  info(id: string): Effect.Effect<WorkerInfo, HoldfastError>;
  tree(): Effect.Effect<TreeNode, HoldfastError>;
  /** Tokens, costs, turns, tool calls and time of turns that were completed, of removed and ended workers too. */
  usage(asked: UsageAsked): Effect.Effect<UsageReply, HoldfastError>;
  /** The decisions about a worker, or of a supervisor by its path. */
  why(ref: string): Effect.Effect<WhyReply, HoldfastError>;
  /** Hands over pages of records as JSON lines: the log from the cursor, then the live tail; no gap, no repeat. Answers the cursor to go on from. */
  follow(query: WatchQuery, take: Take): Effect.Effect<number, HoldfastError>;
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
    options?: Asking,
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
