/** The runtime of the promise door, over a state directory of this process or over a daemon. */
import { constants } from "node:os";
import { Effect, Exit, Scope, Stream } from "effect";
import { PROGRAM_KIND } from "../adapters/kinds.ts";
import type { Registry } from "../adapters/registry.ts";
import type { McpReply } from "../daemon/mcp.ts";
import { cursorOf } from "../protocol/cursor.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { PruneReply, RenameReply } from "../protocol/replies/care.ts";
import type { SearchReply } from "../protocol/replies/search.ts";
import type { SpawnManyReply } from "../protocol/replies/spawn-many.ts";
import type { TreeSpecInput } from "../protocol/tree.ts";
import { isEnded } from "../protocol/worker.ts";
import type * as replies from "../runtime/replies.ts";
import { answering, openApprovals } from "./approvals.ts";
import { applyAs, mcpOf, spawnAs, spawnManyAs } from "./asked.ts";
import { Blackboard } from "./blackboard.ts";
import { Board } from "./board.ts";
import type { RuntimeCalls } from "./calls.ts";
import { checked, checkWatch, invalid, optionsOf } from "./checked.ts";
import type { AgentEvent, EventKind, LogRecord, RecordType } from "./events.ts";
import { Jobs } from "./jobs.ts";
import { RuntimeMailbox } from "./mailbox.ts";
import { kindsOf, openWith } from "./opening.ts";
import type * as given from "./options.ts";
import { aborted, closed, listOf, only, promised } from "./promises.ts";
import { rawSlices } from "./raw.ts";
import { RuntimeSchedules } from "./schedules.ts";
import { RuntimeSkills } from "./skills.ts";
import { type AnswerForm, answerForm, type ObjectOf, type OutputForm, withSchema } from "./structured.ts";
import { RuntimeTokens } from "./tokens.ts";
import { Watches } from "./watches.ts";
import { Worker } from "./worker.ts";

/**
 * Lists permission requests, oldest first: the open ones; with `all` also answered ones; with a `cursor`, those after it.
 * `id` selects one worker, or one request.
 */
interface ApprovalsCall {
  (page?: given.ApprovalsOptions): Promise<replies.ApprovalsReply>;
  /**
   * Yields every request that waits for a person: those that are open now, and then each one as it comes. A request that a
   * rule answers is none of them. Of one worker, it ends with the worker; else it ends with the runtime or the signal.
   */
  watch(options?: given.ApprovalsWatchOptions): AsyncIterable<replies.ApprovalView>;
}

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
  readonly approvals: ApprovalsCall;
  readonly #api: RuntimeCalls;
  readonly #registry: Registry;
  readonly #scope: Scope.Closeable;
  readonly #run: typeof promised;
  readonly #report: NonNullable<RuntimeParts["report"]>;
  readonly #watches = new Watches();
  #closing: Promise<void> | undefined;

  private constructor({ api, registry, scope, run = promised, report = warn }: RuntimeParts) {
    this.#run = run;
    this.#report = report;
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
    this.approvals = Object.assign(
      (page: given.ApprovalsOptions = {}) =>
        this.#call(() => api.approvals(checked("agent/approvals", optionsOf(page)))),
      {
        watch: ({ id, signal }: given.ApprovalsWatchOptions = {}) =>
          this.#watches.iterable(openApprovals(api, id), signal),
      },
    );
  }

  /**
   * Adopts running agents, and settles agents that ended since the directory was last open. `list` then shows their ends,
   * unless reading their remaining output takes more than 10 s. Fails with LOCK_HELD if a daemon or another runtime owns the
   * directory (`info.details.pid` has its pid), and with INVALID_REQUEST if one of `adapters` is refused.
   */
  static async open(options: given.OpenOptions = {}): Promise<Runtime> {
    const scope = Scope.makeUnsafe();
    try {
      const registry = await promised(kindsOf(options), options?.signal);
      const { signal, onApproval, report } = options;
      const api = await promised(Scope.provide(openWith(registry, options), scope), signal);
      const runtime = new Runtime({ api, registry, scope, report });
      if (onApproval !== undefined) runtime.#answer(onApproval);
      return runtime;
    } catch (error) {
      await promised(Scope.close(scope, Exit.void));
      throw error;
    }
  }

  /** Wraps an open runtime whose calls go through `run`; for `openForTest`. @internal */
  static over(parts: RuntimeParts): Runtime {
    return new Runtime(parts);
  }

  /**
   * Resolves when the request is durable; the process starts after that. If a worker cannot start, the call rejects and
   * nothing is recorded. An abort of the signal kills the worker, also later.
   */
  async spawn(options: given.SpawnOptions, { signal }: given.AbortOptions = {}): Promise<replies.SpawnReply> {
    if (signal?.aborted) throw aborted(signal);
    const reply = await this.#call(() => spawnAs(this.#api, this.#registry, options));
    if (signal !== undefined && options.dry_run !== true) await this.#killOnAbort(reply.id, signal);
    return reply;
  }

  /**
   * Spawns a worker and gives a handle of it. With `output`, the agent is held to a schema: by its CLI if that can
   * (claude_code, codex), else by its prompt; the answer is checked, and an agent with a session has a second try.
   */
  async run<const F extends OutputForm | undefined = undefined>(
    options: given.RunOptions<F>,
  ): Promise<Worker<ObjectOf<F>>> {
    const { output, onApproval, signal, ...asked } = optionsOf(options);
    const form = output === undefined ? undefined : answerForm(output);
    const { id } = await this.spawn(form === undefined ? asked : this.#held(asked, form), { signal });
    if (onApproval !== undefined) this.#answer(onApproval, id);
    return new Worker(this, id, { form, signal });
  }

  /** A handle of a worker that is there already. Rejects with WORKER_NOT_FOUND if there is none. */
  async worker(id: string): Promise<Worker> {
    return new Worker(this, await this.#call(() => this.#api.resolve(checked("agent/info", { id }).id)));
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
   * Yields records in order, each once: first from the log, then live. It ends with the named workers unless `follow`, and
   * with the runtime: `close` ends it without an error, as an abort of the signal does. You may leave the loop at any time. A
   * slow loop costs no memory, because it reads from the log. If the runtime closes before the loop reaches the end of the
   * log, it ends there: continue after its last `seq` at the next open.
   */
  watch<T extends RecordType = RecordType>(
    options?: given.WatchOptions<T>,
  ): AsyncIterable<Extract<LogRecord, { readonly type: T }>>;
  watch<T extends RecordType = RecordType>(
    id: string | undefined,
    options?: Omit<given.WatchOptions<T>, "ids">,
  ): AsyncIterable<Extract<LogRecord, { readonly type: T }>>;
  watch<T extends RecordType>(
    first: string | given.WatchOptions<T> | undefined,
    second?: Omit<given.WatchOptions<T>, "ids">,
  ): AsyncIterable<Extract<LogRecord, { readonly type: T }>> {
    const options = typeof first === "string" ? { ...second, ids: [first] } : { ...first, ...second };
    const records = this.#records(options) as Stream.Stream<
      Extract<LogRecord, { readonly type: T }>,
      HoldfastError
    >;
    return this.#watches.iterable(records, options.signal);
  }

  /** The AgentEvents of a worker: all of them from its first, and then live until it has ended. It ends as `watch` does. */
  events<K extends EventKind = EventKind>(
    id: string,
    options: given.EventsOptions<K> = {},
  ): AsyncIterable<Extract<AgentEvent, { readonly kind: K }>> {
    const records = this.#records({ ...options, ids: [id], types: ["agent.event"] });
    const events = Stream.map(records, ({ payload }) => payload as Extract<AgentEvent, { readonly kind: K }>);
    return this.#watches.iterable(events, options.signal);
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

  /** Resolves when the worker has ended for good. Rejects with TIMEOUT after `timeout_ms` (default: never); the worker then continues. */
  wait(id: string, options?: number | given.WaitOptions): Promise<replies.WaitReply>;
  /** Resolves when all have ended, with their results in order. */
  wait(ids: readonly string[], options?: number | given.WaitOptions): Promise<readonly replies.WaitReply[]>;
  /** With `subtree`, also waits for everything that their agents spawned, which comes after them in the results. */
  wait(
    ids: string | readonly string[],
    options: given.WaitOptions & { readonly subtree: true },
  ): Promise<readonly replies.WaitReply[]>;
  wait(
    ids: string | readonly string[],
    timeoutMs: number | undefined,
    how: { readonly subtree: true },
  ): Promise<readonly replies.WaitReply[]>;
  async wait(
    ids: string | readonly string[],
    options: number | (given.WaitOptions & { readonly subtree?: boolean }) = {},
    how: { readonly subtree?: boolean } = {},
  ): Promise<replies.WaitReply | readonly replies.WaitReply[]> {
    const { signal, ...bounds } = typeof options === "number" ? { timeout_ms: options } : optionsOf(options);
    const { subtree, ...asked } = { ...bounds, ...optionsOf(how) };
    const replies = await this.#callAll(
      ids,
      (all) => {
        const { timeout_ms, ...of } = checked("agent/wait", { ...asked, ids: all, subtree });
        return this.#api.wait(of.ids, timeout_ms, { subtree: of.subtree });
      },
      signal,
    );
    // The runtime was closed while these workers kept running.
    if (!replies.every((reply) => isEnded(reply.status))) throw closed();
    return typeof ids === "string" && subtree !== true ? (replies[0] as replies.WaitReply) : replies;
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
    const { signal, ...asked } = optionsOf(options);
    return this.#watches.iterable(rawSlices(this.#api, id, asked), signal);
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
  send(id: string, text: string | undefined, options: given.SendOptions = {}): Promise<replies.MessageReply> {
    return this.#call(() => {
      const asked = checked("agent/send", { id, text, ...options });
      return this.#api.send(asked.id, asked.text, asked);
    });
  }

  /**
   * Sends a message and resolves with the turn that answers it, for interactive workers of kinds that report turns; for another worker that
   * polls its mailbox, with its reply. Rejects with TIMEOUT after that time; only the agent of a conversation still has the question.
   */
  async ask(id: string, text: string, options: given.AskOptions = {}): Promise<replies.AnswerReply> {
    const { signal, ...how } = optionsOf(options);
    const ask = () => {
      const asked = checked("agent/ask", { ...how, id, text });
      return this.#api.ask(asked.id, asked.text, asked);
    };
    try {
      return await this.#call(ask, signal);
    } catch (error) {
      // The turn may be over, or never have begun.
      if (signal?.aborted) await this.cancel(id).catch(() => undefined);
      throw error;
    }
  }

  /** The newest messages to a worker and their states, in the order of acceptance; with a `cursor`, the messages before it. */
  messages(id: string, page: given.PageOptions = {}): Promise<replies.MessagesReply> {
    return this.#call(() => {
      const asked = checked("agent/messages", { id, ...page });
      return this.#api.messages(asked.id, asked);
    });
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

  #records(options: given.WatchOptions): Stream.Stream<LogRecord, HoldfastError> {
    const query = () => {
      checkWatch(options);
      const { ids = [], types = [], kinds = [], tail } = options;
      const isOfSome = ids.length > 0;
      // The defaults of a request differ.
      const { from = isOfSome ? 0 : undefined, follow = !isOfSome } = options;
      const filter = { ...(types.length > 0 && { types }), ...(kinds.length > 0 && { kinds }) };
      return { from, follow, tail, filter, ...(isOfSome && { ids }) };
    };
    const records = Effect.map(Effect.try({ try: query, catch: asHoldfastError }), (asked) =>
      this.#api.watch(asked),
    );
    return Stream.unwrap(records) as Stream.Stream<LogRecord, HoldfastError>;
  }

  /** The arguments of a spawn whose answer is to fit a form. */
  #held(asked: given.SpawnOptions, form: AnswerForm): given.SpawnOptions {
    const { prompt } = asked;
    if (this.#registry.adapterFor(asked.kind)?.takes_output_schema === true)
      return { ...asked, output_schema: form.schema };
    // A program has its own words for its output.
    return prompt === undefined || asked.kind === PROGRAM_KIND
      ? asked
      : { ...asked, prompt: withSchema(prompt, form) };
  }

  async #killOnAbort(id: string, signal: AbortSignal): Promise<void> {
    const kill = () => this.kill(id, { reason: "aborted" });
    if (signal.aborted) {
      await kill();
      throw aborted(signal);
    }
    // The kill of a worker that has ended, or of a closed runtime, has nothing to do.
    const onAbort = () => void kill().catch(() => undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    const forget = () => signal.removeEventListener("abort", onAbort);
    this.wait(id).then(forget, forget);
  }

  /** Lets a program answer requests until the worker, or the runtime, has ended. */
  #answer(onApproval: given.OnApproval, id?: string): void {
    const report = this.#report;
    const loop = answering(this.#api, { onApproval, report, ...(id !== undefined && { id }) });
    const untilClosed = Effect.raceFirst(loop, this.#watches.stopped);
    this.#call(() => untilClosed).catch((cause) => {
      if (this.#closing === undefined) report("requests for permission are no longer answered", cause);
    });
  }

  #call<A>(make: () => Effect.Effect<A, HoldfastError>, signal?: AbortSignal): Promise<A> {
    // The log is closed shortly before the runtime is.
    const told = (error: HoldfastError): HoldfastError =>
      this.#closing !== undefined && error.code === "STORE_FAILED" ? closed() : error;
    return this.#run(
      Effect.suspend(() => (this.#watches.isStopped ? Effect.fail(closed()) : Effect.mapError(make(), told))),
      signal,
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
    signal?: AbortSignal,
  ): Promise<readonly A[]> {
    return this.#call(() => {
      const all = listOf(ids);
      return all.length === 0 ? Effect.succeed([]) : make(all);
    }, signal);
  }
}

interface RuntimeParts {
  readonly api: RuntimeCalls;
  readonly registry: Registry;
  /** Closed with the runtime. */
  readonly scope: Scope.Closeable;
  readonly run?: typeof promised;
  readonly report?: given.OpenOptions["report"];
}

const warn = (message: string, cause?: unknown): void =>
  process.emitWarning(cause instanceof Error ? `${message}: ${cause.message}` : message, "HoldfastWarning");
