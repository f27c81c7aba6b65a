/**
 * `holdfast`: the runtime in your own process, without a daemon, as promises and async iterables.
 *
 *     const runtime = await Runtime.open({ stateDir });
 *     const { id } = await runtime.spawn({ kind: "command", argv: ["sh", "-c", "echo hi"] });
 *     for await (const record of runtime.watch(id)) console.log(record.type);
 *     await runtime.close();
 */
/// <reference lib="esnext.disposable" preserve="true" />
import "./node-version.ts";
import { constants } from "node:os";
import { Effect, Exit, Scope, Stream } from "effect";
import { attemptAsync } from "../actors/machine/attempt.ts";
import type { Registry } from "../adapters/registry.ts";
import type { McpReply } from "../daemon/mcp.ts";
import { cursorOf } from "../protocol/cursor.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { TreeSpecInput } from "../protocol/tree.ts";
import { isEnded } from "../protocol/worker.ts";
import type { RuntimeApi } from "../runtime/api.ts";
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
  SpawnReply,
  TreeNode,
  UsageReply,
  WaitReply,
  WhyReply,
  WorkerInfo,
  WorkerView,
} from "../runtime/replies.ts";
import { applyAs, mcpOf, spawnAs } from "./asked.ts";
import { checked, checkWatch, invalid, optionsOf } from "./checked.ts";
import { kindsOf, openWith } from "./opening.ts";
import type {
  Answer,
  KillOptions,
  McpOptions,
  OpenOptions,
  RawOptions,
  RawSlice,
  ResumeOptions,
  SpawnOptions,
  WatchOptions,
} from "./options.ts";
import { closed, listOf, only, promised } from "./promises.ts";
import { rawSlices } from "./raw.ts";
import { Watches } from "./watches.ts";

/** How the calls of a runtime are run: on the clock of the machine, or of a test. */
type Run = typeof promised;

/**
 * A supervision runtime over one state directory. Every method rejects with a HoldfastError and nothing else. A worker is
 * named by its id, a unique prefix of it, or its name. An open runtime holds the process, as a listening server does.
 */
export class Runtime {
  readonly #api: RuntimeApi;
  readonly #registry: Registry;
  readonly #scope: Scope.Closeable;
  readonly #run: Run;
  readonly #watches = new Watches();
  #closing: Promise<void> | undefined;

  private constructor(api: RuntimeApi, registry: Registry, scope: Scope.Closeable, run: Run = promised) {
    this.#run = run;
    this.#api = api;
    this.#registry = registry;
    this.#scope = scope;
  }

  /**
   * Takes over what runs, and settles what ended since the directory was last open: `list` tells their ends then, unless they have so much
   * output left to read that it takes more than 10 s. Fails with LOCK_HELD where a daemon or
   * another runtime owns it; `info.details.pid` says who. INVALID_REQUEST where one of `adapters` is refused.
   */
  static async open(options: OpenOptions = {}): Promise<Runtime> {
    const scope = Scope.makeUnsafe();
    try {
      const registry = await promised(kindsOf(options));
      const api = await promised(Scope.provide(openWith(registry, options), scope));
      return new Runtime(api, registry, scope);
    } catch (error) {
      await promised(Scope.close(scope, Exit.void));
      throw error;
    }
  }

  /**
   * Over a runtime that is open already, on the clock of `run`: for `openForTest`.
   * @internal
   */
  static over(api: RuntimeApi, registry: Registry, scope: Scope.Closeable, run: Run): Runtime {
    return new Runtime(api, registry, scope, run);
  }

  /** Resolves when the request is durable; the process starts after that. A worker that cannot start rejects, and nothing is recorded. */
  spawn(options: SpawnOptions): Promise<SpawnReply> {
    return this.#call(() => spawnAs(this.#api, this.#registry, options));
  }

  /**
   * A new worker with the spec of this one, in its last session and with another prompt; with `fork` in a branch of the session. Rejects with
   * SESSION_IN_USE where a living worker goes on in it, and with UNSUPPORTED_CAPABILITY where its kind cannot.
   */
  resume(id: string, options: ResumeOptions = {}): Promise<SpawnReply> {
    return this.#call(() => {
      const { fork = false, ...asked } = optionsOf(options);
      const { id: ref, ...how } = checked("agent/resume", { ...asked, id });
      return this.#api.resume(ref, { ...how, fork });
    });
  }

  /**
   * Records in order, from the log and then live, each once. It ends with the worker unless `follow`, and with the runtime: `close`
   * ends it and never makes it reject. Leave the loop whenever you like; a slow one costs nothing, it reads from the log. One
   * that has not come to the end of the log when the runtime closes ends where it is: go on after its last `seq` at the next open.
   */
  watch(id?: string, options: WatchOptions = {}): AsyncIterable<LogRecord> {
    const one = id !== undefined;
    const query = () => {
      checkWatch(options);
      const { from = one ? 0 : undefined, follow = !one } = options;
      return { from, follow, ...(one && { ids: [id] }) };
    };
    const records = Effect.map(Effect.try({ try: query, catch: asHoldfastError }), (asked) =>
      this.#api.watch(asked),
    );
    return this.#watches.iterable(Stream.unwrap(records));
  }

  /**
   * A cursor after a record, to go on from in another run of the program: where an older copy of the log was put back meanwhile, a
   * watch from it fails with CURSOR_UNKNOWN, and does not take other records for those that follow.
   */
  cursor(seq: number): string {
    return cursorOf(this.#api.epoch, seq);
  }

  /** Resolves when it has ended and its processes are gone; the effect is `noop` if it had ended already. It is not restarted. */
  kill(id: string, options?: KillOptions): Promise<PerWorker>;
  /** One result each, in order: `ok` and `error` say how it went, so that one failure hides no other. */
  kill(ids: readonly string[], options?: KillOptions): Promise<readonly PerWorker[]>;
  async kill(
    ids: string | readonly string[],
    options: KillOptions = {},
  ): Promise<PerWorker | readonly PerWorker[]> {
    const results = await this.#callAll(ids, (all) => {
      const { signal } = options;
      if (signal !== undefined && !Object.hasOwn(constants.signals, signal))
        throw invalid([`there is no signal "${signal}"`]);
      return this.#api.kill(checked("agent/kill", { ...options, ids: all }));
    });
    return typeof ids === "string" ? only(results) : results;
  }

  /** A new incarnation, also of what has ended or was killed. Resolves when that is recorded. */
  restart(id: string): Promise<PerWorker>;
  /** One result each, in order. */
  restart(ids: readonly string[]): Promise<readonly PerWorker[]>;
  async restart(ids: string | readonly string[]): Promise<PerWorker | readonly PerWorker[]> {
    const results = await this.#callAll(ids, (all) =>
      this.#api.restart(checked("agent/restart", { ids: all }).ids),
    );
    return typeof ids === "string" ? only(results) : results;
  }

  /**
   * Its processes stand still, and no clock of it counts, until `unpause`, a stop, or the end of this incarnation. Resolves
   * when that is recorded.
   */
  pause(id: string, options?: { readonly reason?: string }): Promise<PerWorker>;
  /** One result each, in order. */
  pause(ids: readonly string[], options?: { readonly reason?: string }): Promise<readonly PerWorker[]>;
  async pause(
    ids: string | readonly string[],
    options: { readonly reason?: string } = {},
  ): Promise<PerWorker | readonly PerWorker[]> {
    const results = await this.#callAll(ids, (all) => {
      const asked = checked("agent/pause", { ...options, ids: all });
      return this.#api.pause(asked.ids, { reason: asked.reason });
    });
    return typeof ids === "string" ? only(results) : results;
  }

  /** It goes on, whatever it was paused for; the effect is `noop` if it was not. */
  unpause(id: string): Promise<PerWorker>;
  /** One result each, in order. */
  unpause(ids: readonly string[]): Promise<readonly PerWorker[]>;
  async unpause(ids: string | readonly string[]): Promise<PerWorker | readonly PerWorker[]> {
    const results = await this.#callAll(ids, (all) =>
      this.#api.unpause(checked("agent/unpause", { ids: all }).ids),
    );
    return typeof ids === "string" ? only(results) : results;
  }

  /** Resolves when it has ended, restarts included; rejects with TIMEOUT after `timeoutMs` (default: never), and it goes on. */
  wait(id: string, timeoutMs?: number): Promise<WaitReply>;
  /** Resolves when all have ended, with how, in order. */
  wait(ids: readonly string[], timeoutMs?: number): Promise<readonly WaitReply[]>;
  async wait(ids: string | readonly string[], timeoutMs?: number): Promise<WaitReply | readonly WaitReply[]> {
    const replies = await this.#callAll(ids, (all) => {
      const asked = checked("agent/wait", { ids: all, timeout_ms: timeoutMs });
      return this.#api.wait(asked.ids, asked.timeout_ms);
    });
    // The runtime was closed and left them running.
    if (!replies.every((reply) => isEnded(reply.status))) throw closed();
    return typeof ids === "string" ? (replies[0] as WaitReply) : replies;
  }

  /**
   * The final answer of an agent, or the stdout of a command's newest incarnation: its first `max_bytes` (default and most: 16 MiB), cut
   * between two characters, and how much is missing. OUTPUT_NOT_FOUND if it said nothing, or if retention has moved it: then it says where.
   */
  output(id: string, options: { readonly max_bytes?: number } = {}): Promise<OutputReply> {
    return this.#call(() => {
      const { id: ref, ...how } = checked("agent/output", { ...optionsOf(options), id });
      return this.#api.output(ref, how);
    });
  }

  /**
   * The bytes that its newest incarnation has written, as they are, a slice at a time; nothing is read ahead of a slow reader. OUTPUT_NOT_FOUND
   * where they are not kept any more (a day after the end), or it was never started. `close` ends it and never makes it reject.
   */
  raw(id: string, options: RawOptions = {}): AsyncIterable<RawSlice> {
    return this.#watches.iterable(rawSlices(this.#api, id, options));
  }

  /**
   * Answers the question that a worker stands at with one of its `answers` (`worker_question`): whether it is stuck, how an interrupted
   * turn goes on, or of a budget that is spent (also by the path of its supervisor). INVALID_STATE where it asks nothing.
   */
  answer(id: string, answer: Answer): Promise<{ readonly id: string; readonly question_id: string }> {
    return this.#call(() => {
      const asked = checked("agent/answer", { id, answer });
      return this.#api.answer(asked.id, asked.answer);
    });
  }

  /**
   * A message for an `interactive` worker; a command reads it as it is, so add the line end. Resolves once it is durable: it
   * waits where no agent runs. A repeat with the same key does nothing. With `close` the agent's input ends after it.
   */
  send(
    id: string,
    text: string | undefined,
    options: { readonly idempotency_key?: string; readonly close?: boolean } = {},
  ): Promise<MessageReply> {
    return this.#call(() => {
      const asked = checked("agent/send", { id, text, ...options });
      return this.#api.send(asked.id, asked.text, asked);
    });
  }

  /** A message, and the turn that answers it (kinds `claude_code`, `codex` and `acp`). Rejects with TIMEOUT when the time is up; the agent has the question. */
  ask(
    id: string,
    text: string,
    options: { readonly idempotency_key?: string; readonly timeout_ms?: number } = {},
  ): Promise<AnswerReply> {
    return this.#call(() => {
      const asked = checked("agent/ask", { id, text, ...options });
      return this.#api.ask(asked.id, asked.text, asked);
    });
  }

  /** The newest messages to a worker, in the order in which they were accepted, and how far each has come; with a `cursor`, those before them. */
  messages(
    id: string,
    page: { readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<MessagesReply> {
    return this.#call(() => {
      const asked = checked("agent/messages", { id, ...page });
      return this.#api.messages(asked.id, asked);
    });
  }

  /**
   * Requests for permission, oldest first: open requests, with `all` also answered ones; with a `cursor`, those after them.
   * `id`: those of one worker, or one request, open or not.
   */
  approvals(
    page: {
      readonly id?: string;
      readonly all?: boolean;
      readonly limit?: number;
      readonly cursor?: string;
    } = {},
  ): Promise<ApprovalsReply> {
    return this.#call(() => {
      const { cursor, ...asked } = checked("agent/approvals", page);
      return this.#api.approvals({ ...asked, after: cursor === undefined ? undefined : Number(cursor) });
    });
  }

  /** Answers a request, by its id, a unique beginning of it, or the worker that asks nothing else. The same answer again does nothing; another one rejects with INVALID_STATE. */
  approve(
    id: string,
    decision: "allow" | "deny",
    options: { readonly message?: string; readonly by?: string } = {},
  ): Promise<ApprovedReply> {
    return this.#call(() => {
      const asked = checked("agent/approve", { id, decision, ...options });
      return this.#api.approve(asked.id, asked.decision, asked);
    });
  }

  /** Ends the turn of an `interactive` agent and keeps it. */
  cancel(id: string): Promise<{ readonly id: string; readonly effect: "updated" | "noop" }> {
    return this.#call(() => this.#api.cancel(checked("agent/cancel", { id }).id));
  }

  /** Workers that have not ended, oldest first; with `all` also those that have. */
  list(options: { readonly all?: boolean } = {}): Promise<readonly WorkerView[]> {
    return this.#call(() => this.#api.list(checked("agent/list", options)));
  }

  info(id: string): Promise<WorkerInfo> {
    return this.#call(() => this.#api.info(checked("agent/info", { id }).id));
  }

  /**
   * The changes that the agents of a worker have made in its `worktree`; the diff is an artifact, of which `digest` is the name (`agent cas
   * get`). Rejects with UNSUPPORTED_CAPABILITY where it has none: what was there before it began is not known.
   */
  changes(id: string): Promise<ChangesReply> {
    return this.#call(() => this.#api.changes(checked("agent/changes", { id }).id));
  }

  /** The MCP servers of the CLI of a kind, or the one that is named. That it ended is a success, whatever its exit code. */
  mcp(kind: string, name?: string, options: McpOptions = {}): Promise<McpReply> {
    return this.#call(() => attemptAsync(() => mcpOf(this.#registry, kind, name, options)));
  }

  /** The root supervisor, its trees, and the workers that have not ended. */
  tree(): Promise<TreeNode> {
    return this.#call(() => this.#api.tree());
  }

  /** The supervisor's decisions about a worker, or about a supervisor by its path, oldest first. */
  why(id: string): Promise<WhyReply> {
    return this.#call(() => this.#api.why(checked("agent/why", { id }).id));
  }

  /**
   * Tokens, costs, turns, tool calls and time of turns that were completed (docs/usage.md): of these workers and of all below these
   * supervisors, or of all there ever were. `by`: `day` (the default, in UTC), `kind`, `model`, `worker` or `label:KEY`.
   */
  usage(
    ids: readonly string[] = [],
    options: { readonly by?: string; readonly since_ms?: number; readonly subtree?: boolean } = {},
  ): Promise<UsageReply> {
    return this.#call(() => this.#api.usage(checked("agent/usage", { ids: [...ids], ...options })));
  }

  /** Brings a tree in line with what is given: only what differs is started, stopped or restarted. With `dry_run` it says what would. */
  applyTree(tree: TreeSpecInput, options: { readonly dry_run?: boolean } = {}): Promise<AppliedReply> {
    return this.#call(() => applyAs(this.#api, this.#registry, tree, options));
  }

  /** Stops a tree right to left and forgets it. */
  downTree(name: string): Promise<AppliedReply> {
    return this.#call(() => this.#api.downTree(checked("tree/down", { name }).name));
  }

  /** Stops every worker in reverse start order and closes; with `agents: "keep"` they run on, and the next open adopts them. */
  close(options: { readonly agents?: "kill" | "keep" } = {}): Promise<void> {
    this.#watches.closing();
    this.#closing ??= this.#close(options.agents ?? "kill");
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(agents: "kill" | "keep"): Promise<void> {
    try {
      await this.#run(this.#api.shutdown(agents, "closed"));
      await this.#watches.drain();
    } finally {
      this.#watches.stop();
      await promised(Scope.close(this.#scope, Exit.void));
    }
  }

  #call<A>(make: () => Effect.Effect<A, HoldfastError>): Promise<A> {
    // The log is closed a little before the runtime is.
    const told = (error: HoldfastError): HoldfastError =>
      this.#closing !== undefined && error.code === "STORE_FAILED" ? closed() : error;
    return this.#run(
      Effect.suspend(() => (this.#watches.isStopped ? Effect.fail(closed()) : Effect.mapError(make(), told))),
    );
  }

  /** Nobody is named: nothing is done, and nobody is waited for. */
  #callAll<A>(
    ids: string | readonly string[],
    make: (all: string[]) => Effect.Effect<readonly A[], HoldfastError>,
  ): Promise<readonly A[]> {
    return this.#call(() => {
      const all = listOf(ids);
      return all.length === 0 ? Effect.succeed([]) : make(all);
    });
  }
}

export * from "./exports.ts";
