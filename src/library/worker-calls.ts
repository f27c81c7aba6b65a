/** The calls about workers: their start, their records, their talk and their end. */
import { constants } from "node:os";
import { Stream } from "effect";
import { PROGRAM_KIND } from "../adapters/kinds.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { SpawnManyReply } from "../protocol/replies/spawn-many.ts";
import type { RequestData } from "../protocol/requests.ts";
import { isEnded } from "../protocol/worker.ts";
import type * as replies from "../runtime/replies.ts";
import { openApprovals } from "./approvals.ts";
import { spawnAs, spawnManyAs } from "./asked.ts";
import { checked, checkSignal, invalid, optionsOf } from "./checked.ts";
import type { AgentEvent, EventKind, LogRecord, RecordType } from "./events.ts";
import type * as given from "./options.ts";
import { aborted, closed } from "./promises.ts";
import { rawSlices } from "./raw.ts";
import type * as asked from "./run-options.ts";
import { type OneOrEach, RuntimeBase, type RuntimeParts } from "./runtime-base.ts";
import { type AnswerForm, answerForm, type ObjectOf, type OutputForm, withSchema } from "./structured.ts";
import { WorkerHandle } from "./worker.ts";

/**
 * Lists permission requests, oldest first: the open ones; with `all` also answered ones; with a `cursor`, those after it.
 * `id` selects one worker, or one request.
 */
interface ApprovalsCall {
  (page?: asked.ApprovalsOptions): Promise<replies.ApprovalsReply>;
  /**
   * Yields every request that waits for a person: those that are open now, and then each one as it comes. A request that a
   * rule answers is none of them. With an `id` it ends with that worker, else with the runtime or the signal.
   */
  watch(options?: asked.ApprovalsWatchOptions): AsyncIterable<replies.ApprovalView>;
}

export abstract class WorkerCalls<K extends string = never> extends RuntimeBase {
  readonly approvals: ApprovalsCall;

  /** @internal */
  protected constructor(parts: RuntimeParts) {
    super(parts);
    const { api } = parts;
    this.approvals = Object.assign(
      (page: asked.ApprovalsOptions = {}) =>
        this.call(() => api.approvals(checked("agent/approvals", optionsOf(page)))),
      {
        watch: ({ id, signal }: asked.ApprovalsWatchOptions = {}) =>
          this.watches.iterable(openApprovals(api, id), signal),
      },
    );
  }

  /**
   * Resolves when the request is durable; the process starts after that. If a worker cannot start, the call rejects and
   * nothing is recorded. An abort of the signal kills the worker, also later.
   */
  async spawn(
    options: given.SpawnOptions<K>,
    { signal }: asked.AbortOptions = {},
  ): Promise<replies.SpawnReply> {
    checkSignal(signal);
    if (signal?.aborted) throw aborted(signal);
    const reply = await this.call(() => spawnAs(this.api, this.registry, options));
    if (signal !== undefined && options.dry_run !== true) await this.#killOnAbort(reply.id, signal);
    return reply;
  }

  /**
   * Spawns a worker and gives a handle of it. With `output`, the agent is held to a schema: by its CLI if that can
   * (claude_code, codex, qwen_code), else by its prompt; the answer is checked, and an agent with a session has a second try.
   */
  async run<const F extends OutputForm | undefined = undefined>(
    options: asked.RunOptions<F, K>,
  ): Promise<WorkerHandle<ObjectOf<F>>> {
    const { output, onApproval, signal, ...asked } = optionsOf(options);
    const form = output === undefined ? undefined : answerForm(output);
    const { id } = await this.spawn(form === undefined ? asked : this.#held(asked, form), { signal });
    if (onApproval !== undefined) this.answerRequests(onApproval, id);
    return new WorkerHandle(this, id, { form, signal });
  }

  /** A handle of a worker that is there already. Rejects with WORKER_NOT_FOUND if there is none. */
  async worker(id: string): Promise<WorkerHandle> {
    return new WorkerHandle(this, await this.call(() => this.api.resolve(checked("agent/info", { id }).id)));
  }

  /** Starts several agents by their roles: all of them, or none (`accepted`), each denied one with its reason. */
  spawnMany(options: given.SpawnManyOptions): Promise<SpawnManyReply> {
    return this.call(() => spawnManyAs(this.api, options));
  }

  /** Starts a new worker in the last session of this one; with `fork`, in a branch. Rejects with SESSION_IN_USE, or UNSUPPORTED_CAPABILITY. */
  resume(id: string, options: given.ResumeOptions = {}): Promise<replies.SpawnReply> {
    return this.call(() => {
      const { fork = false, ...asked } = optionsOf(options);
      const { id: ref, ...how } = checked("agent/resume", { ...asked, id });
      return this.api.resume(ref, { ...how, fork });
    });
  }

  /**
   * Yields records in order, each once: first from the log, then live. It ends with the named workers unless `follow`, and
   * with the runtime: `close` ends it without an error, as an abort of the signal does. You may leave the loop at any time. A
   * slow loop costs no memory, because it reads from the log. If the runtime closes before the loop reaches the end of the
   * log, it ends there: continue after its last `seq` at the next open.
   *
   * At a daemon that is a node of a cluster, a placed worker that is named is followed over its moves, also from another node: its
   * next run has another id, and its records come from the copy, up to a second later.
   */
  watch<T extends RecordType = RecordType>(
    options?: asked.WatchOptions<T>,
  ): AsyncIterable<Extract<LogRecord, { readonly type: T }>>;
  watch<T extends RecordType = RecordType>(
    id: string | undefined,
    options?: Omit<asked.WatchOptions<T>, "ids">,
  ): AsyncIterable<Extract<LogRecord, { readonly type: T }>>;
  watch<T extends RecordType>(
    first: string | asked.WatchOptions<T> | undefined,
    second?: Omit<asked.WatchOptions<T>, "ids">,
  ): AsyncIterable<Extract<LogRecord, { readonly type: T }>> {
    const options = typeof first === "string" ? { ...second, ids: [first] } : { ...first, ...second };
    const records = this.records(options) as Stream.Stream<
      Extract<LogRecord, { readonly type: T }>,
      HoldfastError
    >;
    return this.watches.iterable(records, options.signal);
  }

  /** The AgentEvents of a worker: all of them from its first, and then live until it has ended. It ends as `watch` does. */
  events<K extends EventKind = EventKind>(
    id: string,
    options: asked.EventsOptions<K> = {},
  ): AsyncIterable<Extract<AgentEvent, { readonly kind: K }>> {
    const records = this.records({ ...options, ids: [id], types: ["agent.event"] });
    const events = Stream.map(records, ({ payload }) => payload as Extract<AgentEvent, { readonly kind: K }>);
    return this.watches.iterable(events, options.signal);
  }

  /** Stops a worker for good. Resolves when it has ended and its processes are gone; the effect is `noop` if it had already ended. */
  kill(id: string, options?: given.KillOptions): Promise<replies.PerWorker>;
  /** Returns one result for each id, in order; `ok` and `error` say whether it succeeded. */
  kill(ids: readonly string[], options?: given.KillOptions): Promise<readonly replies.PerWorker[]>;
  /** With `subtree`, the results of all that their agents spawned come after those of the named workers. */
  kill(
    ids: string | readonly string[],
    options: given.KillOptions & { readonly subtree: true },
  ): Promise<readonly replies.PerWorker[]>;
  kill(ids: string | readonly string[], options: given.KillOptions = {}): Promise<OneOrEach> {
    const kill = (all: string[]) => this.api.kill(killed(options, { ids: all }));
    return options.subtree === true ? this.callAll(ids, kill) : this.callEach(ids, kill);
  }

  /** Kills every living worker. Returns one result for each. */
  killAll(options: Omit<given.KillOptions, "subtree"> = {}): Promise<readonly replies.PerWorker[]> {
    return this.call(() => this.api.kill(killed(options, { ids: [], all: true })));
  }

  /** Starts a new incarnation, even of a worker that has ended or was killed. Resolves when that is recorded. */
  restart(id: string): Promise<replies.PerWorker>;
  restart(ids: readonly string[]): Promise<readonly replies.PerWorker[]>;
  restart(ids: string | readonly string[]): Promise<OneOrEach> {
    return this.callEach(ids, (all) => this.api.restart(checked("agent/restart", { ids: all }).ids));
  }

  /** Stops all processes and clocks of a worker until `unpause`, a stop, or the end of the incarnation. Resolves when that is recorded. */
  pause(id: string, options?: { readonly reason?: string }): Promise<replies.PerWorker>;
  pause(
    ids: readonly string[],
    options?: { readonly reason?: string },
  ): Promise<readonly replies.PerWorker[]>;
  pause(ids: string | readonly string[], options: { readonly reason?: string } = {}): Promise<OneOrEach> {
    return this.callEach(ids, (all) => {
      const asked = checked("agent/pause", { ...options, ids: all });
      return this.api.pause(asked.ids, { reason: asked.reason });
    });
  }

  /** Continues a paused worker, whatever the reason for the pause; the effect is `noop` if it was not paused. */
  unpause(id: string): Promise<replies.PerWorker>;
  unpause(ids: readonly string[]): Promise<readonly replies.PerWorker[]>;
  unpause(ids: string | readonly string[]): Promise<OneOrEach> {
    return this.callEach(ids, (all) => this.api.unpause(checked("agent/unpause", { ids: all }).ids));
  }

  /** Resolves when the worker has ended for good. Rejects with TIMEOUT after `timeout_ms` (default: never); the worker then continues. */
  wait(id: string, options?: asked.WaitOptions): Promise<replies.WaitReply>;
  /** Resolves when all have ended, with their results in order. */
  wait(ids: readonly string[], options?: asked.WaitOptions): Promise<readonly replies.WaitReply[]>;
  /** With `subtree`, also waits for everything that their agents spawned, which comes after them in the results. */
  wait(
    ids: string | readonly string[],
    options: asked.WaitOptions & { readonly subtree: true },
  ): Promise<readonly replies.WaitReply[]>;
  async wait(
    ids: string | readonly string[],
    options: asked.WaitOptions & { readonly subtree?: boolean } = {},
  ): Promise<replies.WaitReply | readonly replies.WaitReply[]> {
    const { signal, subtree, ...asked } = optionsOf(options);
    const replies = await this.callAll(
      ids,
      (all) => {
        const { timeout_ms, ...of } = checked("agent/wait", { ...asked, ids: all, subtree });
        return this.api.wait(of.ids, timeout_ms, { subtree: of.subtree });
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
    return this.call(() => {
      const { id: ref, ...how } = checked("agent/output", { ...optionsOf(options), id });
      return this.api.output(ref, how);
    });
  }

  /**
   * The raw bytes of the newest incarnation, in slices; nothing is read ahead of a slow reader. Fails with OUTPUT_NOT_FOUND
   * if the bytes are no longer kept (a day after the end), or if the worker has never started. `close` ends it without an
   * error.
   */
  raw(id: string, options: given.RawOptions = {}): AsyncIterable<given.RawSlice> {
    const { signal, ...asked } = optionsOf(options);
    return this.watches.iterable(rawSlices(this.api, id, asked), signal);
  }

  /**
   * Sends a message to an `interactive` worker. A command gets the text unchanged, so include the line end. Resolves once
   * the message is durable; if no agent runs, the message waits for one. A repeat with the same key has no effect. `close`
   * closes the agent's input after the message.
   */
  send(id: string, text: string | undefined, options: asked.SendOptions = {}): Promise<replies.MessageReply> {
    return this.call(() => {
      const asked = checked("agent/send", { id, text, ...options });
      return this.api.send(asked.id, asked.text, asked);
    });
  }

  /**
   * Sends a message and resolves with the turn that answers it, for interactive workers of kinds that report turns; for another worker that
   * polls its mailbox, with its reply. Rejects with TIMEOUT after that time; only the agent of a conversation still has the question.
   */
  async ask(id: string, text: string, options: asked.AskOptions = {}): Promise<replies.AnswerReply> {
    const { signal, ...how } = optionsOf(options);
    const ask = () => {
      const asked = checked("agent/ask", { ...how, id, text });
      return this.api.ask(asked.id, asked.text, asked);
    };
    try {
      return await this.call(ask, signal);
    } catch (error) {
      // The turn may be over, or never have begun.
      if (signal?.aborted) await this.cancel(id).catch(() => undefined);
      throw error;
    }
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
    return this.call(() => {
      const asked = checked("agent/approve", { id, decision, ...options });
      return this.api.approve(asked.id, asked.decision, asked);
    });
  }

  /** Ends the turn of an `interactive` agent and keeps it. */
  cancel(id: string): Promise<{ readonly id: string; readonly effect: "updated" | "noop" }> {
    return this.call(() => this.api.cancel(checked("agent/cancel", { id }).id));
  }

  info(id: string): Promise<replies.WorkerInfo> {
    return this.call(() => this.api.info(checked("agent/info", { id }).id));
  }

  /** The arguments of a spawn whose answer is to fit a form. */
  #held<O extends given.SpawnOptions<string>>(asked: O, form: AnswerForm): O {
    const { prompt } = asked;
    if (this.registry.adapterFor(asked.kind)?.takes_output_schema === true)
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
}

const killed = (
  options: given.KillOptions,
  of: { readonly ids: string[]; readonly all?: boolean },
): RequestData<"agent/kill"> => {
  const { signal } = optionsOf(options);
  if (signal !== undefined && !Object.hasOwn(constants.signals, signal))
    throw invalid([`there is no signal "${signal}"`]);
  return checked("agent/kill", { ...options, ...of });
};
