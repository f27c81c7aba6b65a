/** The runtime of the promise door, over a state directory of this process or over a daemon. */
import { Effect, Exit, Scope } from "effect";
import type { AgentAdapter } from "../adapters/adapter.ts";
import { builtIn } from "../adapters/registry.ts";
import type { McpReply } from "../daemon/mcp.ts";
import { cursorOf } from "../protocol/cursor.ts";
import { asHoldfastError } from "../protocol/errors.ts";
import type { PruneReply, RenameReply } from "../protocol/replies/care.ts";
import type { ElsewherePage } from "../protocol/replies/cluster.ts";
import type { SearchReply } from "../protocol/replies/search.ts";
import type * as replies from "../runtime/replies.ts";
import type { HoldAnswerOptions } from "./answers.ts";
import { artifactOf } from "./artifacts.ts";
import { mcpOf } from "./asked.ts";
import { Blackboard } from "./blackboard.ts";
import { Board } from "./board.ts";
import { checked, checkText, invalid, optionsOf } from "./checked.ts";
import { elsewhereOf } from "./elsewhere.ts";
import type { ElsewhereOptions } from "./elsewhere-options.ts";
import { type ConnectHostsOptions, connectHosts, type HostRuntimes } from "./hosts.ts";
import { Jobs } from "./jobs.ts";
import { RuntimeMailbox } from "./mailbox.ts";
import { directoryOf, kindsOf, openWith } from "./opening.ts";
import type * as given from "./options.ts";
import { listOf, promised } from "./promises.ts";
import { connected } from "./remote/connecting.ts";
import { shared } from "./remote/sharing.ts";
import type { RuntimeParts } from "./runtime-base.ts";
import { RuntimeSchedules } from "./schedules.ts";
import { RuntimeSkills } from "./skills.ts";
import { RuntimeTokens } from "./tokens.ts";
import { applyAs } from "./tree-calls.ts";
import type { ApplyTreeOptions, TreeDefinition } from "./trees.ts";
import { WorkerCalls } from "./worker-calls.ts";

/**
 * A supervision runtime over one state directory. Every method rejects only with a HoldfastError. A worker is named by its
 * id, a unique prefix of the id, or its name. An open runtime keeps the process alive, as a listening server does.
 */
export class Runtime<K extends string = never> extends WorkerCalls<K> {
  /** Whether this program owns the state directory; else a daemon or another program does, and `close` leaves the agents running. */
  readonly isOwner: boolean;
  readonly jobs: Jobs<K>;
  readonly blackboard: Blackboard;
  readonly board: Board<K>;
  readonly mailbox: RuntimeMailbox;
  readonly schedules: RuntimeSchedules<K>;
  readonly skills: RuntimeSkills;
  readonly tokens: RuntimeTokens;
  readonly #scope: Scope.Closeable;

  private constructor(parts: RuntimeParts) {
    super(parts);
    const { api, registry, isOwner, scope } = parts;
    this.isOwner = isOwner;
    this.#scope = scope;
    this.blackboard = new Blackboard(api, (make) => this.call(make), this.watches);
    this.jobs = new Jobs(api, registry, this.watches, (call) => this.call(call));
    this.board = new Board(api, registry, (make) => this.call(make), this.watches);
    this.mailbox = new RuntimeMailbox(api.mailbox, (make) => this.call(make));
    this.schedules = new RuntimeSchedules(api, registry, (make) => this.call(make));
    this.skills = new RuntimeSkills(api.skills, (make) => this.call(make));
    this.tokens = new RuntimeTokens(api.tokens, (make) => this.call(make));
  }

  /**
   * Adopts running agents, and settles agents that ended since the directory was last open. `list` then shows their ends,
   * unless reading their remaining output takes more than 10 s. Fails with LOCK_HELD if a daemon or another runtime owns the
   * directory (`info.details.pid` has its pid), and with INVALID_REQUEST if one of `adapters` is refused.
   */
  static async open<const A extends readonly AgentAdapter[] = []>(
    options: given.OpenOptions<A> = {},
  ): Promise<Runtime<A[number]["kind"]>> {
    const scope = Scope.makeUnsafe();
    try {
      const registry = await promised(kindsOf(options), options?.signal);
      const { signal, onApproval, report } = options;
      const api = await promised(Scope.provide(openWith(registry, options), scope), signal);
      const runtime = new Runtime<A[number]["kind"]>({ api, registry, isOwner: true, scope, report });
      if (onApproval !== undefined) runtime.answerRequests(onApproval);
      return runtime;
    } catch (error) {
      await promised(Scope.close(scope, Exit.void));
      throw error;
    }
  }

  /** The runtimes of several hosts (docs/how-to/other-hosts.md). Rejects if none of them can be reached. */
  static connect<K extends string = never>(options: ConnectHostsOptions): Promise<HostRuntimes<Runtime<K>>>;
  /**
   * The runtime of a daemon, or of a program that serves its own, with the same calls; several programs may share it. Rejects
   * with SUPERVISOR_DOWN if none runs. The connection outlasts restarts of the daemon: watches go on where they were, and
   * calls wait up to 30 s for the next one; a change that was under way then rejects with UNAVAILABLE, unless it has an
   * `idempotency_key`. `close` ends the connection alone: daemon and agents go on. `K`: kinds of its configuration.
   */
  static connect<K extends string = never>(options?: given.ConnectOptions): Promise<Runtime<K>>;
  static async connect<K extends string = never>(
    options: given.ConnectOptions | ConnectHostsOptions = {},
  ): Promise<Runtime<K> | HostRuntimes<Runtime<K>>> {
    if ("hosts" in optionsOf(options))
      return connectHosts(options as ConnectHostsOptions, (one) => Runtime.connect<K>(one));
    const api = await connected(options);
    const { onApproval, report } = options;
    const scope = Scope.makeUnsafe();
    const runtime = new Runtime<K>({ api, registry: builtIn, isOwner: false, scope, report });
    if (onApproval !== undefined) runtime.answerRequests(onApproval);
    return runtime;
  }

  /**
   * The runtime of whatever owns the directory, or the owner itself: of several programs that start at once, one opens it with
   * `serve`, and the others connect. `isOwner` tells which this is. Once the owner has gone, the calls of the others reject
   * with SUPERVISOR_DOWN. Rejects with LOCK_HELD if a program has opened the directory and does not serve it.
   */
  static async openOrConnect<const A extends readonly AgentAdapter[] = []>(
    options: given.OpenOrConnectOptions<A> = {},
  ): Promise<Runtime<A[number]["kind"]>> {
    const { stateDir, onApproval, report, signal } = optionsOf(options);
    const own = { ...(stateDir !== undefined && { stateDir }), ...(onApproval && { onApproval }) };
    return shared<Runtime<A[number]["kind"]>>({
      connect: () => Runtime.connect({ ...own, ...(report && { report }), ...(signal && { signal }) }),
      open: () => Runtime.open({ ...options, serve: true }),
      stateDir: directoryOf(stateDir),
      signal,
    });
  }

  /** Wraps an open runtime whose calls go through `run`; for `openForTest`. @internal */
  static over(parts: RuntimeParts): Runtime {
    return new Runtime(parts);
  }

  /**
   * A cursor after a record, from which another run of the program can continue. If an older copy of the log was restored
   * meanwhile, a watch from this cursor fails with CURSOR_UNKNOWN instead of continuing with other records.
   */
  cursor(seq: number): string {
    if (!Number.isSafeInteger(seq) || seq < 0) throw invalid(["seq: it is not the number of a record"]);
    return cursorOf(this.api.epoch, seq);
  }

  /** Takes ended workers out of the lists, or with `undo` back into them. Returns one result for each id, in order. */
  archive(
    ids: readonly string[],
    options: { readonly undo?: boolean } = {},
  ): Promise<readonly replies.PerWorker[]> {
    return this.callAll(ids, (all) =>
      this.api.archive(all, checked("agent/archive", { ...optionsOf(options), ids: all })),
    );
  }

  /** Gives a worker another name, which no living worker has. */
  rename(id: string, name: string): Promise<RenameReply> {
    return this.call(() => this.api.rename(id, checked("agent/rename", { id, name }).name));
  }

  /** Removes run directories of ended workers, and worktrees without changes: at most 500; with a `cursor`, those after it. Records stay. */
  prune(options: given.PruneOptions = {}): Promise<PruneReply> {
    return this.call(() => this.api.prune(checked("agent/prune", options)));
  }

  /**
   * Everything that waits for a person, oldest first: permission requests, workers that may be stuck, interrupted turns,
   * spent budgets, and pauses that a user asked for. `all` adds holds that end without a person. `id` selects one worker, or
   * a supervisor by its path.
   */
  inbox(
    page: given.PageOptions & { readonly id?: string; readonly all?: boolean } = {},
  ): Promise<replies.InboxReply> {
    return this.call(() => this.api.inbox(checked("agent/inbox", page)));
  }

  /**
   * Answers a hold with one of its `answers`. `id` is that of the hold in the inbox, or of the worker or supervisor that
   * waits. Rejects with INVALID_STATE if there is no such hold, or if it
   * does not accept this answer.
   */
  answer(id: string, answer: given.Answer, options: HoldAnswerOptions = {}): Promise<replies.Answered> {
    return this.call(() => {
      const { message, budget, ...asked } = checked("agent/answer", { id, answer, ...options });
      return this.api.answer(asked.id, asked.answer, { message, budget });
    });
  }

  /** The newest messages to a worker and their states, in the order of acceptance; with a `cursor`, the messages before it. */
  messages(id: string, page: given.PageOptions = {}): Promise<replies.MessagesReply> {
    return this.call(() => {
      const asked = checked("agent/messages", { id, ...page });
      return this.api.messages(asked.id, asked);
    });
  }

  /** Workers that have not ended, oldest first; with `all`, or an ended status, also those that have. */
  list(options: given.ListOptions = {}): Promise<readonly replies.WorkerView[]> {
    return this.call(() => this.api.list(checked("agent/list", options)));
  }

  /**
   * Placed workers of a cluster that do not run on the node of this daemon, as its copy has them: also those of a lost machine. Rejects
   * with INVALID_STATE where the daemon is no node, and with UNAVAILABLE where the database does not answer.
   */
  elsewhere(options: ElsewhereOptions = {}): Promise<ElsewherePage> {
    return this.call(() => elsewhereOf(this.api, checked("cluster/workers", options)));
  }

  /** The changes of a worker in its `worktree`; `digest` names the diff (`agent cas get`). Rejects with UNSUPPORTED_CAPABILITY without one. */
  changes(id: string): Promise<replies.ChangesReply> {
    return this.call(() => this.api.changes(checked("agent/changes", { id }).id));
  }

  /** Removes the worktrees of ended workers; their branches stay. INVALID_STATE, per worker, if changes would be lost. */
  removeWorktrees(ids: readonly string[]): Promise<readonly replies.PerWorker[]> {
    return this.callAll(ids, (all) => this.api.removeWorktrees(checked("worktree/remove", { ids: all }).ids));
  }

  /** The bytes of an artifact by its digest, as `changes` and `output` tell it. Rejects with ARTIFACT_NOT_FOUND. */
  artifact(digest: string): Promise<Uint8Array> {
    return this.call(() => {
      checkText("digest", digest);
      return artifactOf(this.api, digest);
    });
  }

  /** The process, its log, its disk and its runtimes. */
  status(): Promise<replies.RuntimeStatus> {
    return this.call(() => this.api.status());
  }

  /** The kinds that this runtime knows, or one of them, with their capabilities. */
  capabilities(kind?: string): Promise<readonly replies.KindView[]> {
    return this.call(() => this.api.capabilities(checked("agent/capabilities", { kind }).kind));
  }

  /** Checks the log: its chain, its rows and its files. */
  check(): Promise<replies.CheckReport> {
    return this.call(() => this.api.check());
  }

  /** Moves old output of ended runs to archives; records of decisions stay. */
  gc(options: given.RetentionOptions = {}): Promise<replies.GcReport> {
    return this.call(() => this.api.gc(checked("db/gc", optionsOf(options))));
  }

  /** The MCP servers of a kind's CLI, or the named one. The call succeeds whenever the CLI ends by itself, whatever its exit code. */
  mcp(kind: string, name?: string, options: given.McpOptions = {}): Promise<McpReply> {
    return this.call(() =>
      Effect.tryPromise({
        try: async () => {
          checkText("kind", kind);
          return mcpOf(this.registry, kind, name, options);
        },
        catch: asHoldfastError,
      }),
    );
  }

  /** The root supervisor, its trees, and the workers that have not ended. */
  tree(): Promise<replies.TreeSupervisor> {
    return this.call(() => this.api.tree());
  }

  /** The supervisor's decisions about a worker, or about a supervisor by its path, oldest first. */
  why(id: string): Promise<replies.WhyReply> {
    return this.call(() => this.api.why(checked("agent/why", { id }).id));
  }

  /** Finds records with all words of a text, newest first; with a `cursor`, those before it. `"two words"` is a phrase, `star*` a beginning. */
  search(text: string, options: given.SearchOptions = {}): Promise<SearchReply> {
    return this.call(() => this.api.search(checked("agent/search", { text, ...optionsOf(options) })));
  }

  /**
   * Tokens, costs, turns, tool calls and time of completed turns (docs/explanation/usage.md), for these workers and for all
   * below these supervisors; without ids, for every worker there ever was. `by` is `day` (the default, in UTC), `kind`,
   * `model`, `worker` or `label:KEY`.
   */
  usage(ids: readonly string[] = [], options: given.UsageOptions = {}): Promise<replies.UsageReply> {
    return this.call(() => this.api.usage(checked("agent/usage", { ids: listOf(ids), ...options })));
  }

  /**
   * Brings up a tree: one in code (`supervisor`), or one as it goes over the wire. It starts, stops and restarts only what
   * differs from the tree of this name that runs.
   */
  async applyTree(tree: TreeDefinition, options: ApplyTreeOptions = {}): Promise<replies.AppliedReply> {
    const { signal, ...how } = optionsOf(options);
    return this.call(() => applyAs(this.api, this.registry, tree, how), signal);
  }

  /** Stops a tree right to left and removes it. */
  downTree(name: string): Promise<replies.AppliedReply> {
    return this.call(() => this.api.downTree(checked("tree/down", { name }).name));
  }

  /** Stops every worker in reverse start order and closes; with `agents: "keep"` the agents keep running, and the next open adopts them. */
  close(options: { readonly agents?: "kill" | "keep" } = {}): Promise<void> {
    this.watches.closing();
    this.closing ??= this.#close(options.agents ?? "kill");
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(agents: "kill" | "keep"): Promise<void> {
    try {
      await this.execute(this.api.shutdown(agents, "closed"));
      await this.watches.drain();
    } finally {
      this.watches.stop();
      await promised(Scope.close(this.#scope, Exit.void));
    }
  }
}
