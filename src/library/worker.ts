/** A worker as an object: what it says, how it ends, and what can be done with it. */
import { HoldfastError } from "../protocol/errors.ts";
import { isEnded } from "../protocol/worker.ts";
import type * as replies from "../runtime/replies.ts";
import type { AgentEvent, EventKind } from "./events.ts";
import type * as given from "./options.ts";
import { aborted } from "./promises.ts";
import type * as asked from "./run-options.ts";
import { type AnswerForm, again } from "./structured.ts";
import { inProgram } from "./suggestions.ts";

/** The end of a worker. */
export interface RunResult<T = undefined> extends replies.WaitReply {
  /** The final answer of an agent, or the stdout of a command: its first 16 MiB; null if there is none. */
  readonly text: string | null;
  /** The answer as an object, if `output` asked for one. */
  readonly object: T;
}

/** The calls of a runtime that a handle makes. @internal */
export interface HandleCalls {
  events<K extends EventKind>(
    id: string,
    options: asked.EventsOptions<K>,
  ): AsyncIterable<Extract<AgentEvent, { readonly kind: K }>>;
  send(id: string, text: string | undefined, options: asked.SendOptions): Promise<replies.MessageReply>;
  ask(id: string, text: string, options: asked.AskOptions): Promise<replies.AnswerReply>;
  cancel(id: string): Promise<{ readonly id: string; readonly effect: "updated" | "noop" }>;
  kill(id: string, options: given.KillOptions): Promise<replies.PerWorker>;
  pause(id: string, options: { readonly reason?: string }): Promise<replies.PerWorker>;
  unpause(id: string): Promise<replies.PerWorker>;
  restart(id: string): Promise<replies.PerWorker>;
  resume(id: string, options: given.ResumeOptions): Promise<replies.SpawnReply>;
  info(id: string): Promise<replies.WorkerInfo>;
  wait(id: string, options?: asked.WaitOptions): Promise<replies.WaitReply>;
  output(id: string): Promise<replies.OutputReply>;
}

/** How a handle came about. @internal */
export interface HandleOptions {
  readonly form?: AnswerForm | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A handle of one worker. Each loop over it yields all its AgentEvents, from its first one to its end. Disposing of it kills
 * the worker if it still runs.
 */
export class WorkerHandle<T = undefined> implements AsyncIterable<AgentEvent>, AsyncDisposable {
  readonly id: string;
  readonly #runtime: HandleCalls;
  readonly #options: HandleOptions;
  #result: Promise<RunResult<T>> | undefined;

  /** @internal */
  constructor(runtime: HandleCalls, id: string, options: HandleOptions = {}) {
    this.id = id;
    this.#runtime = runtime;
    this.#options = options;
  }

  /**
   * Resolves when the worker has ended for good, whatever its status. With `output`, it rejects if there is no answer that
   * fits: with the error of the worker, or with AGENT_FAILED after a second try in the same session. An abort of the run's
   * signal rejects it with CANCELLED.
   */
  get result(): Promise<RunResult<T>> {
    this.#result ??= this.#answer();
    return this.#result;
  }

  /** The final answer; empty if there is none. Rejects with the error of the worker if it has not completed. */
  async text(): Promise<string> {
    const result = await this.result;
    refuseFailed(result);
    return result.text ?? "";
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    return this.events()[Symbol.asyncIterator]();
  }

  /** As a loop over the worker, with a choice of events. */
  events<K extends AgentEvent["kind"] = AgentEvent["kind"]>(
    options: asked.EventsOptions<K> = {},
  ): AsyncIterable<Extract<AgentEvent, { readonly kind: K }>> {
    return this.#runtime.events(this.id, options);
  }

  /** As `Runtime.send`. */
  send(text: string | undefined, options: asked.SendOptions = {}): Promise<replies.MessageReply> {
    return this.#runtime.send(this.id, text, options);
  }

  /** As `Runtime.ask`. */
  ask(text: string, options: asked.AskOptions = {}): Promise<replies.AnswerReply> {
    return this.#runtime.ask(this.id, text, options);
  }

  /** Ends its turn and keeps it. */
  cancel(): Promise<{ readonly id: string; readonly effect: "updated" | "noop" }> {
    return this.#runtime.cancel(this.id);
  }

  /** As `Runtime.kill`. */
  kill(options: given.KillOptions = {}): Promise<replies.PerWorker> {
    return this.#runtime.kill(this.id, options);
  }

  /** Stops its processes and clocks until `unpause`. */
  pause(options: { readonly reason?: string } = {}): Promise<replies.PerWorker> {
    return this.#runtime.pause(this.id, options);
  }

  unpause(): Promise<replies.PerWorker> {
    return this.#runtime.unpause(this.id);
  }

  /** Starts its next incarnation, even after its end. `result` then waits for the new end. */
  async restart(): Promise<replies.PerWorker> {
    const reply = await this.#runtime.restart(this.id);
    this.#result = undefined;
    return reply;
  }

  /** A new worker in the last session of this one, or with `fork` in a branch of it. */
  async resume(options: given.ResumeOptions = {}): Promise<WorkerHandle> {
    const { id } = await this.#runtime.resume(this.id, options);
    return new WorkerHandle(this.#runtime, id);
  }

  info(): Promise<replies.WorkerInfo> {
    return this.#runtime.info(this.id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.kill({ reason: "disposed of" });
    } catch (error) {
      // A closed runtime has done with its workers what it was told to.
      if (!(error instanceof HoldfastError) || error.code !== "UNAVAILABLE") throw error;
    }
  }

  async #answer(): Promise<RunResult<T>> {
    const first = await this.#ended(this.id);
    const { form } = this.#options;
    if (form === undefined) return { ...first, object: undefined as T };
    refuseFailed(first);
    try {
      return { ...first, object: (await form.read(first.text ?? "")) as T };
    } catch (error) {
      const second = await this.#secondTry(form, error as HoldfastError);
      refuseFailed(second);
      return { ...second, object: (await form.read(second.text ?? "")) as T };
    }
  }

  /** A turn in the same session, which says what was wrong. Throws the error of the first try where there can be none. */
  async #secondTry(form: AnswerForm, error: HoldfastError): Promise<Omit<RunResult, "object">> {
    const prompt = again(error.info.problems ?? [], form);
    // Another handle of this worker gets the same second try.
    const idempotency_key = `${this.id}:second-try`;
    const resumed = await this.#runtime
      .resume(this.id, { prompt, interactive: false, idempotency_key })
      .catch((cause: HoldfastError) => {
        throw HAS_NO_SESSION.has(cause.code) ? error : cause;
      });
    return this.#ended(resumed.id);
  }

  async #ended(id: string): Promise<Omit<RunResult, "object">> {
    const { signal } = this.#options;
    const end = await this.#runtime.wait(id, signal && { signal });
    if (signal?.aborted) throw aborted(signal);
    return { ...end, text: await this.#textOf(id) };
  }

  async #textOf(id: string): Promise<string | null> {
    try {
      return (await this.#runtime.output(id)).text;
    } catch (error) {
      if (error instanceof HoldfastError && error.code === "OUTPUT_NOT_FOUND") return null;
      throw error;
    }
  }
}

const HAS_NO_SESSION: ReadonlySet<string> = new Set(["UNSUPPORTED_CAPABILITY", "SESSION_NOT_FOUND"]);

const refuseFailed = ({ id, status, reason, error }: replies.WaitReply): void => {
  if (!isEnded(status) || status === "completed") return;
  const code = status === "cancelled" ? "WORKER_CANCELLED" : "WORKER_FAILED";
  const message = error?.message ?? `Worker ${id} is ${status}: ${reason}.`;
  throw inProgram(new HoldfastError(error?.code ?? code, message, { details: { id, status } }));
};
