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
import type { Registry } from "../adapters/registry.ts";
import type { McpReply } from "../daemon/mcp.ts";
import { cursorOf } from "../protocol/cursor.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { PruneReply, RenameReply } from "../protocol/replies/care.ts";
import type { SearchReply } from "../protocol/replies/search.ts";
import type { SpawnManyReply } from "../protocol/replies/spawn-many.ts";
import type { TreeSpecInput } from "../protocol/tree.ts";
import { isEnded } from "../protocol/worker.ts";
import type { RuntimeApi } from "../runtime/api.ts";
import type * as replies from "../runtime/replies.ts";
import { applyAs, mcpOf, spawnAs, spawnManyAs } from "./asked.ts";
import { Blackboard } from "./blackboard.ts";
import { Board } from "./board.ts";
import { checked, checkWatch, invalid, optionsOf } from "./checked.ts";
import { Jobs } from "./jobs.ts";
import { RuntimeMailbox } from "./mailbox.ts";
import { kindsOf, openWith } from "./opening.ts";
import type * as given from "./options.ts";
import { closed, listOf, only, promised } from "./promises.ts";
import { rawSlices } from "./raw.ts";
import { RuntimeSchedules } from "./schedules.ts";
import { RuntimeSkills } from "./skills.ts";
import { RuntimeTokens } from "./tokens.ts";
import { Watches } from "./watches.ts";

type OneOrEach = replies.PerWorker | readonly replies.PerWorker[];

/**
 * A supervision runtime over one state directory. Every method rejects only with a HoldfastError. A worker is named by its
 * id, a unique prefix of the id, or its name. An open runtime keeps the process alive, as a listening server does.
 */
export class Runtime {
  readonly jobs: Jobs;
  readonly blackboard: Blackboard;
  readonly board: Board;
  readonly mailbox: RuntimeMailbox;
  readonly schedules: RuntimeSchedules;
  readonly skills: RuntimeSkills;
  readonly tokens: RuntimeTokens;
  readonly #api: RuntimeApi;
  readonly #registry: Registry;
  readonly #scope: Scope.Closeable;
  readonly #run: typeof promised;
  readonly #watches = new Watches();
  #closing: Promise<void> | undefined;

  private constructor(api: RuntimeApi, registry: Registry, scope: Scope.Closeable, run = promised) {
    this.#run = run;
    this.#api = api;
    this.#registry = registry;
    this.#scope = scope;
    this.blackboard = new Blackboard(api, (make) => this.#call(make), this.#watches);
    this.jobs = new Jobs(api, registry, this.#watches, (call) => this.#call(call));
    this.board = new Board(api, registry, (make) => this.#call(make), this.#watches);
    this.mailbox = new RuntimeMailbox(api.mailbox, (make) => this.#call(make));
    this.schedules = new RuntimeSchedules(api, registry, (make) => this.#call(make));
    this.skills = new RuntimeSkills(api.skills, (make) => this.#call(make));
    this.tokens = new RuntimeTokens(api.tokens, (make) => this.#call(make));
  }

  /**
   * Adopts running agents, and settles agents that ended since the directory was last open. `list` then shows their ends,
   * unless reading their remaining output takes more than 10 s. Fails with LOCK_HELD if a daemon or another runtime owns the
   * directory (`info.details.pid` has its pid), and with INVALID_REQUEST if one of `adapters` is refused.
   */
  static async open(options: given.OpenOptions = {}): Promise<Runtime> {
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

  /** Wraps an open runtime whose calls go through `run`; for `openForTest`. @internal */
  static over(api: RuntimeApi, registry: Registry, scope: Scope.Closeable, run: typeof promised): Runtime {
    return new Runtime(api, registry, scope, run);
  }

  /** Resolves when the request is durable; the process starts after that. If a worker cannot start, the call rejects and nothing is recorded. */
  spawn(options: given.SpawnOptions): Promise<replies.SpawnReply> {
    return this.#call(() => spawnAs(this.#api, this.#registry, options));
  }

  /** Starts several agents by their roles: all of them, or none (`accepted`), each denied one with its reason. */
  spawnMany(options: given.SpawnManyOptions): Promise<SpawnManyReply> {
    return this.#call(() => spawnManyAs(this.#api, options));
  }

  /** Starts a new worker in the last session of this one; with `fork`, in a branch. Rejects with SESSION_IN_USE, or UNSUPPORTED_CAPABILITY. */
  resume(id: string, options: given.ResumeOptions = {}): Promise<replies.SpawnReply> {
    return this.#call(() => {
      const { fork = false, ...asked } = optionsOf(options);
      const { id: ref, ...how } = checked("agent/resume", { ...asked, id });
      return this.#api.resume(ref, { ...how, fork });
    });
  }

  /**
   * Yields records in order, each once: first from the log, then live. It ends with the worker unless `follow`, and with the
   * runtime: `close` ends it without an error. You may leave the loop at any time. A slow loop costs no memory, because it
   * reads from the log. If the runtime closes before the loop reaches the end of the log, it ends there: continue after its
   * last `seq` at the next open.
   */
  watch(id?: string, options: given.WatchOptions = {}): AsyncIterable<LogRecord> {
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
   * A cursor after a record, from which another run of the program can continue. If an older copy of the log was restored
   * meanwhile, a watch from this cursor fails with CURSOR_UNKNOWN instead of continuing with other records.
   */
  cursor(seq: number): string {
    return cursorOf(this.#api.epoch, seq);
  }

  /** Stops a worker for good. Resolves when it has ended and its processes are gone; the effect is `noop` if it had already ended. */
  kill(id: string, options?: given.KillOptions): Promise<replies.PerWorker>;
  /** Returns one result for each id, in order; `ok` and `error` say whether it succeeded. */
  kill(ids: readonly string[], options?: given.KillOptions): Promise<readonly replies.PerWorker[]>;
  kill(ids: string | readonly string[], options: given.KillOptions = {}): Promise<OneOrEach> {
    return this.#callEach(ids, (all) => {
      const { signal } = options;
      if (signal !== undefined && !Object.hasOwn(constants.signals, signal))
        throw invalid([`there is no signal "${signal}"`]);
      return this.#api.kill(checked("agent/kill", { ...options, ids: all }));
    });
  }

  /** Starts a new incarnation, even of a worker that has ended or was killed. Resolves when that is recorded. */
  restart(id: string): Promise<replies.PerWorker>;
  restart(ids: readonly string[]): Promise<readonly replies.PerWorker[]>;
  restart(ids: string | readonly string[]): Promise<OneOrEach> {
    return this.#callEach(ids, (all) => this.#api.restart(checked("agent/restart", { ids: all }).ids));
  }

  /** Stops all processes and clocks of a worker until `unpause`, a stop, or the end of the incarnation. Resolves when that is recorded. */
  pause(id: string, options?: { readonly reason?: string }): Promise<replies.PerWorker>;
  pause(
    ids: readonly string[],
    options?: { readonly reason?: string },
  ): Promise<readonly replies.PerWorker[]>;
  pause(ids: string | readonly string[], options: { readonly reason?: string } = {}): Promise<OneOrEach> {
    return this.#callEach(ids, (all) => {
      const asked = checked("agent/pause", { ...options, ids: all });
      return this.#api.pause(asked.ids, { reason: asked.reason });
    });
  }

  /** Continues a paused worker, whatever the reason for the pause; the effect is `noop` if it was not paused. */
  unpause(id: string): Promise<replies.PerWorker>;
  unpause(ids: readonly string[]): Promise<readonly replies.PerWorker[]>;
  unpause(ids: string | readonly string[]): Promise<OneOrEach> {
    return this.#callEach(ids, (all) => this.#api.unpause(checked("agent/unpause", { ids: all }).ids));
  }

  /** Takes ended workers out of the lists, or with `undo` back into them. Returns one result for each id, in order. */
  archive(ids: readonly string[], undo = false): Promise<readonly replies.PerWorker[]> {
    return this.#callAll(ids, (all) => this.#api.archive(all, checked("agent/archive", { ids: all, undo })));
  }

  /** Gives a worker another name, which no living worker has. */
  rename(id: string, name: string): Promise<RenameReply> {
    return this.#call(() => this.#api.rename(id, checked("agent/rename", { id, name }).name));
  }

  /** Removes run directories of ended workers, and worktrees without changes: at most 500; with a `cursor`, those after it. Records stay. */
  prune(options: given.PruneOptions = {}): Promise<PruneReply> {
    return this.#call(() => this.#api.prune(checked("agent/prune", options)));
  }

  /** Resolves when the worker has ended for good. Rejects with TIMEOUT after `timeoutMs` (default: never); the worker then continues. */
  wait(id: string, timeoutMs?: number): Promise<replies.WaitReply>;
  /** Resolves when all have ended, with their results in order. */
  wait(ids: readonly string[], timeoutMs?: number): Promise<readonly replies.WaitReply[]>;
  /** With `subtree`, also waits for everything that their agents spawned, which comes after them in the results. */
  wait(
    ids: string | readonly string[],
    timeoutMs: number | undefined,
    how: { readonly subtree: true },
  ): Promise<readonly replies.WaitReply[]>;
  async wait(
    ids: string | readonly string[],
    timeoutMs?: number,
    how: { readonly subtree?: boolean } = {},
  ): Promise<replies.WaitReply | readonly replies.WaitReply[]> {
    const replies = await this.#callAll(ids, (all) => {
      const asked = checked("agent/wait", { ids: all, timeout_ms: timeoutMs, ...optionsOf(how) });
      return this.#api.wait(asked.ids, asked.timeout_ms, { subtree: asked.subtree });
    });
    // The runtime was closed while these workers kept running.
    if (!replies.every((reply) => isEnded(reply.status))) throw closed();
    return typeof ids === "string" && how.subtree !== true ? (replies[0] as replies.WaitReply) : replies;
  }

  /**
   * The final answer of an agent, or the stdout of a command's newest incarnation: its first `max_bytes` (default and
   * maximum: 16 MiB), cut between two characters, and the number of missing bytes. Rejects with OUTPUT_NOT_FOUND if there is
   * no output, or if retention has moved it; the error then says where.
   */
  output(id: string, options: { readonly max_bytes?: number } = {}): Promise<replies.OutputReply> {
    return this.#call(() => {
      const { id: ref, ...how } = checked("agent/output", { ...optionsOf(options), id });
      return this.#api.output(ref, how);
    });
  }

  /**
   * The raw bytes of the newest incarnation, in slices; nothing is read ahead of a slow reader. Fails with OUTPUT_NOT_FOUND
   * if the bytes are no longer kept (a day after the end), or if the worker has never started. `close` ends it without an
   * error.
   */
  raw(id: string, options: given.RawOptions = {}): AsyncIterable<given.RawSlice> {
    return this.#watches.iterable(rawSlices(this.#api, id, options));
  }

  /**
   * Everything that waits for a person, oldest first: permission requests, workers that may be stuck, interrupted turns,
   * spent budgets, and pauses that a user asked for. `all` adds holds that end without a person. `id` selects one worker, or
   * a supervisor by its path.
   */
  inbox(
    page: given.PageOptions & { readonly id?: string; readonly all?: boolean } = {},
  ): Promise<replies.InboxReply> {
    return this.#call(() => this.#api.inbox(checked("agent/inbox", page)));
  }

  /**
   * Answers a hold with one of its `answers`. `id` is that of the hold in the inbox, or of the worker or supervisor that
   * waits. `message` tells an agent why its request is denied. Rejects with INVALID_STATE if there is no such hold, or if it
   * does not accept this answer.
   */
  answer(
    id: string,
    answer: given.Answer,
    options: { readonly message?: string } = {},
  ): Promise<replies.Answered> {
    return this.#call(() => {
      const { message, ...asked } = checked("agent/answer", { id, answer, ...options });
      return this.#api.answer(asked.id, asked.answer, { message });
    });
  }

  /**
   * Sends a message to an `interactive` worker. A command gets the text unchanged, so include the line end. Resolves once
   * the message is durable; if no agent runs, the message waits for one. A repeat with the same key has no effect. `close`
   * closes the agent's input after the message.
   */
  send(
    id: string,
    text: string | undefined,
    options: { readonly idempotency_key?: string; readonly close?: boolean } = {},
  ): Promise<replies.MessageReply> {
    return this.#call(() => {
      const asked = checked("agent/send", { id, text, ...options });
      return this.#api.send(asked.id, asked.text, asked);
    });
  }

  /**
   * Sends a message and resolves with the turn that answers it, for interactive workers of kinds that report turns; for another worker that
   * polls its mailbox, with its reply. Rejects with TIMEOUT after that time; only the agent of a conversation still has the question.
   */
  ask(
    id: string,
    text: string,
    options: { readonly idempotency_key?: string; readonly timeout_ms?: number } = {},
  ): Promise<replies.AnswerReply> {
    return this.#call(() => {
      const asked = checked("agent/ask", { id, text, ...options });
      return this.#api.ask(asked.id, asked.text, asked);
    });
  }

  /** The newest messages to a worker and their states, in the order of acceptance; with a `cursor`, the messages before it. */
  messages(id: string, page: given.PageOptions = {}): Promise<replies.MessagesReply> {
    return this.#call(() => {
      const asked = checked("agent/messages", { id, ...page });
      return this.#api.messages(asked.id, asked);
    });
  }

  /**
   * Permission requests, oldest first: the open ones; with `all` also answered ones; with a `cursor`, those after it. `id`
   * selects one worker, or one request.
   */
  approvals(
    page: given.PageOptions & { readonly id?: string; readonly all?: boolean } = {},
  ): Promise<replies.ApprovalsReply> {
    return this.#call(() => this.#api.approvals(checked("agent/approvals", page)));
  }

  /**
   * Answers a permission request, by its id, a unique prefix of it, or a worker with only one request. Repeating the answer
   * has no effect; a different one rejects with INVALID_STATE.
   */
  approve(
    id: string,
    decision: "allow" | "deny",
    options: given.ApproveOptions = {},
  ): Promise<replies.ApprovedReply> {
    return this.#call(() => {
      const asked = checked("agent/approve", { id, decision, ...options });
      return this.#api.approve(asked.id, asked.decision, asked);
    });
  }

  /** Ends the turn of an `interactive` agent and keeps it. */
  cancel(id: string): Promise<{ readonly id: string; readonly effect: "updated" | "noop" }> {
    return this.#call(() => this.#api.cancel(checked("agent/cancel", { id }).id));
  }

  /** Workers that have not ended, oldest first; with `all`, or an ended status, also those that have. */
  list(options: given.ListOptions = {}): Promise<readonly replies.WorkerView[]> {
    return this.#call(() => this.#api.list(checked("agent/list", options)));
  }

  info(id: string): Promise<replies.WorkerInfo> {
    return this.#call(() => this.#api.info(checked("agent/info", { id }).id));
  }

  /** The changes of a worker in its `worktree`; `digest` names the diff (`agent cas get`). Rejects with UNSUPPORTED_CAPABILITY without one. */
  changes(id: string): Promise<replies.ChangesReply> {
    return this.#call(() => this.#api.changes(checked("agent/changes", { id }).id));
  }

  /** The MCP servers of a kind's CLI, or the named one. The call succeeds whenever the CLI ends by itself, whatever its exit code. */
  mcp(kind: string, name?: string, options: given.McpOptions = {}): Promise<McpReply> {
    return this.#call(() =>
      Effect.tryPromise({ try: () => mcpOf(this.#registry, kind, name, options), catch: asHoldfastError }),
    );
  }

  /** The root supervisor, its trees, and the workers that have not ended. */
  tree(): Promise<replies.TreeNode> {
    return this.#call(() => this.#api.tree());
  }

  /** The supervisor's decisions about a worker, or about a supervisor by its path, oldest first. */
  why(id: string): Promise<replies.WhyReply> {
    return this.#call(() => this.#api.why(checked("agent/why", { id }).id));
  }

  /** Finds records with all words of a text, newest first; with a `cursor`, those before it. `"two words"` is a phrase, `star*` a beginning. */
  search(text: string, options: given.SearchOptions = {}): Promise<SearchReply> {
    return this.#call(() => this.#api.search(checked("agent/search", { text, ...optionsOf(options) })));
  }

  /**
   * Tokens, costs, turns, tool calls and time of completed turns (docs/explanation/usage.md), for these workers and for all
   * below these supervisors; without ids, for every worker there ever was. `by` is `day` (the default, in UTC), `kind`,
   * `model`, `worker` or `label:KEY`.
   */
  usage(ids: readonly string[] = [], options: given.UsageOptions = {}): Promise<replies.UsageReply> {
    return this.#call(() => this.#api.usage(checked("agent/usage", { ids: [...ids], ...options })));
  }

  /** Changes a tree to match this spec: it starts, stops and restarts only what differs. With `dry_run` it only reports the changes. */
  applyTree(
    tree: TreeSpecInput,
    options: { readonly dry_run?: boolean } = {},
  ): Promise<replies.AppliedReply> {
    return this.#call(() => applyAs(this.#api, this.#registry, tree, options));
  }

  /** Stops a tree right to left and removes it. */
  downTree(name: string): Promise<replies.AppliedReply> {
    return this.#call(() => this.#api.downTree(checked("tree/down", { name }).name));
  }

  /** Stops every worker in reverse start order and closes; with `agents: "keep"` the agents keep running, and the next open adopts them. */
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
    // The log is closed shortly before the runtime is.
    const told = (error: HoldfastError): HoldfastError =>
      this.#closing !== undefined && error.code === "STORE_FAILED" ? closed() : error;
    return this.#run(
      Effect.suspend(() => (this.#watches.isStopped ? Effect.fail(closed()) : Effect.mapError(make(), told))),
    );
  }

  /** One result for one id, else one for each. */
  async #callEach(
    ids: string | readonly string[],
    make: (all: string[]) => Effect.Effect<readonly replies.PerWorker[], HoldfastError>,
  ): Promise<OneOrEach> {
    const results = await this.#callAll(ids, make);
    return typeof ids === "string" ? only(results) : results;
  }

  /** An empty list: nothing to do or to wait for. */
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
