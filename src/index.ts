/**
 * `holdfast`: the runtime in your own process, without a daemon, as promises and async iterables.
 *
 *     const runtime = await Runtime.open({ stateDir });
 *     const { id } = await runtime.spawn({ kind: "command", argv: ["sh", "-c", "echo hi"] });
 *     for await (const record of runtime.watch(id)) console.log(record.type);
 *     await runtime.close();
 */
import { Effect, Exit, Scope, Stream } from "effect";
import { open, type OpenOptions } from "./effect.ts";
import type { LogRecord } from "./protocol/records.ts";
import type { WorkerSpecInput } from "./protocol/worker.ts";
import type { KillOptions, PerWorker, RuntimeApi, SpawnReply, TreeNode, WaitReply, WorkerInfo, WorkerView } from "./supervisor/facade.ts";

/** What `spawn` takes: cwd, environment and restart policy have the defaults of the command line. */
export type SpawnOptions = Omit<WorkerSpecInput, "cwd" | "restart" | "client_env"> & Partial<Pick<WorkerSpecInput, "cwd" | "restart" | "client_env">>;

export interface WatchOptions {
  /** Records with a greater seq. Without it a watch of one worker begins at its first record, of all at the live tail. */
  readonly from?: number;
  /** Go on after the worker has ended. Default: false for one worker, true for all. */
  readonly follow?: boolean;
}

/** A supervision runtime over one state directory. Every method rejects with a HoldfastError and nothing else. */
export class Runtime {
  readonly #api: RuntimeApi;
  readonly #scope: Scope.Closeable;
  #closed: Promise<void> | undefined;

  private constructor(api: RuntimeApi, scope: Scope.Closeable) {
    this.#api = api;
    this.#scope = scope;
  }

  /** Fails with LOCK_HELD where a daemon or another runtime owns the state directory. */
  static async open(options: OpenOptions = {}): Promise<Runtime> {
    const scope = await Effect.runPromise(Scope.make());
    try {
      return new Runtime(await Effect.runPromise(Scope.provide(open(options), scope)), scope);
    } catch (error) {
      await Effect.runPromise(Scope.close(scope, Exit.void));
      throw error;
    }
  }

  /** Resolves when the request is durable; the process starts after that. */
  spawn(options: SpawnOptions): Promise<SpawnReply> {
    const restart = options.restart ?? (options.kind === "command" ? "temporary" : "transient");
    return Effect.runPromise(this.#api.spawn({ cwd: process.cwd(), client_env: stringsOf(process.env), ...options, restart }));
  }

  /** Records in order, from the log and then live; ends with the worker unless `follow`. Breaking out of the loop is fine. */
  watch(id?: string, options: WatchOptions = {}): AsyncIterable<LogRecord> {
    const from = options.from ?? (id === undefined ? undefined : 0);
    return Stream.toAsyncIterable(this.#api.watch({ from, follow: options.follow ?? id === undefined, ...(id === undefined ? {} : { ids: [id] }) }));
  }

  /** Resolves when the workers have ended and their processes are gone; what had ended already has effect `noop`. */
  kill(ids: string | readonly string[], options: Omit<KillOptions, "ids"> = {}): Promise<readonly PerWorker[]> {
    return Effect.runPromise(this.#api.kill({ ...options, ids: listOf(ids) }));
  }

  restart(ids: string | readonly string[]): Promise<readonly PerWorker[]> {
    return Effect.runPromise(this.#api.restart(listOf(ids)));
  }

  /** Resolves when all have ended; rejects with TIMEOUT after `timeoutMs`, and they go on. */
  wait(ids: string | readonly string[], timeoutMs?: number): Promise<readonly WaitReply[]> {
    return Effect.runPromise(this.#api.wait(listOf(ids), timeoutMs));
  }

  /** The final answer of an agent, or the whole stdout of a command. */
  async output(id: string): Promise<string> {
    return (await Effect.runPromise(this.#api.output(id))).text;
  }

  send(id: string, text: string): Promise<{ readonly message_id: string }> {
    return Effect.runPromise(this.#api.send(id, text));
  }

  list(options: { readonly all?: boolean } = {}): Promise<readonly WorkerView[]> {
    return Effect.runPromise(this.#api.list(options));
  }

  info(id: string): Promise<WorkerInfo> {
    return Effect.runPromise(this.#api.info(id));
  }

  tree(): Promise<TreeNode> {
    return Effect.runPromise(this.#api.tree());
  }

  /** Stop every worker in reverse start order and close; with `agents: "keep"` they run on and the next open adopts them. */
  close(options: { readonly agents?: "kill" | "keep" } = {}): Promise<void> {
    this.#closed ??= (async () => {
      try {
        await Effect.runPromise(this.#api.shutdown(options.agents ?? "kill", "closed"));
      } finally {
        await Effect.runPromise(Scope.close(this.#scope, Exit.void));
      }
    })();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

const listOf = (ids: string | readonly string[]): readonly string[] => (typeof ids === "string" ? [ids] : ids);

const stringsOf = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));

export type { AgentEvent } from "./protocol/agent-event.ts";
export type { AgentCompletion } from "./protocol/completion.ts";
export { type ErrorCode, HoldfastError } from "./protocol/errors.ts";
export type { LogRecord, RecordPayloads, RecordType, Usage, WorkerError } from "./protocol/records.ts";
export type { WorkerSpec, WorkerState, WorkerStatus } from "./protocol/worker.ts";
export type { OpenOptions } from "./effect.ts";
export type { KillOptions, PerWorker, SpawnReply, TreeNode, WaitReply, WorkerInfo, WorkerView } from "./supervisor/facade.ts";
