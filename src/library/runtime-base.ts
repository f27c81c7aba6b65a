/** The part of a runtime that all its calls share: they are checked, run, and refused once it is closed. */
import { Effect, type Scope, Stream } from "effect";
import type { Registry } from "../adapters/registry.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { PerWorker } from "../runtime/replies.ts";
import { answering } from "./approvals.ts";
import type { RuntimeCalls } from "./calls.ts";
import { checkWatch } from "./checked.ts";
import type { LogRecord } from "./events.ts";
import type { OpenOptions } from "./options.ts";
import { watchOverMoves } from "./over-moves.ts";
import { closed, listOf, only, promised, warn } from "./promises.ts";
import type { OnApproval, WatchOptions } from "./run-options.ts";
import { Watches } from "./watches.ts";

export type OneOrEach = PerWorker | readonly PerWorker[];

/** @internal */
export interface RuntimeParts {
  readonly api: RuntimeCalls;
  readonly registry: Registry;
  /** Whether the state directory is this program's. */
  readonly isOwner: boolean;
  /** Closed with the runtime. */
  readonly scope: Scope.Closeable;
  readonly run?: typeof promised;
  readonly report?: OpenOptions["report"];
}

/** The declarations leave out what is internal, so a program sees an empty class. */
export abstract class RuntimeBase {
  /** @internal */
  protected readonly api: RuntimeCalls;
  /** @internal */
  protected readonly registry: Registry;
  /** @internal */
  protected readonly watches = new Watches();
  /** @internal */
  protected readonly execute: typeof promised;
  /** Set while the runtime closes, and after. @internal */
  protected closing: Promise<void> | undefined;
  readonly #report: NonNullable<RuntimeParts["report"]>;

  /** @internal */
  protected constructor({ api, registry, run = promised, report = warn }: RuntimeParts) {
    this.api = api;
    this.registry = registry;
    this.execute = run;
    this.#report = report;
  }

  /** @internal */
  protected records(options: WatchOptions): Stream.Stream<LogRecord, HoldfastError> {
    const query = () => {
      checkWatch(options);
      const { ids = [], subtree, types = [], kinds = [], tail, since_ms } = options;
      const isOfSome = ids.length > 0;
      // The defaults of a request differ.
      const first = isOfSome && since_ms === undefined ? 0 : undefined;
      const { from = first, follow = !isOfSome } = options;
      const filter = { ...(types.length > 0 && { types }), ...(kinds.length > 0 && { kinds }) };
      return { from, since_ms, follow, tail, filter, ...(isOfSome && { ids, subtree }) };
    };
    const records = Effect.map(Effect.try({ try: query, catch: asHoldfastError }), (asked) =>
      watchOverMoves(this.api, asked),
    );
    return Stream.unwrap(records) as Stream.Stream<LogRecord, HoldfastError>;
  }

  /** Lets a program answer requests until the worker, or the runtime, has ended. @internal */
  protected answerRequests(onApproval: OnApproval, id?: string): void {
    const report = this.#report;
    const loop = answering(this.api, { onApproval, report, ...(id !== undefined && { id }) });
    const untilClosed = Effect.raceFirst(loop, this.watches.stopped);
    this.call(() => untilClosed).catch((cause) => {
      if (this.closing === undefined) report("requests for permission are no longer answered", cause);
    });
  }

  /** @internal */
  protected call<A>(make: () => Effect.Effect<A, HoldfastError>, signal?: AbortSignal): Promise<A> {
    // The log is closed shortly before the runtime is.
    const told = (error: HoldfastError): HoldfastError =>
      this.closing !== undefined && error.code === "STORE_FAILED" ? closed() : error;
    return this.execute(
      Effect.suspend(() => (this.watches.isStopped ? Effect.fail(closed()) : Effect.mapError(make(), told))),
      signal,
    );
  }

  /** One result for one id, else one for each. @internal */
  protected async callEach(
    ids: string | readonly string[],
    make: (all: string[]) => Effect.Effect<readonly PerWorker[], HoldfastError>,
  ): Promise<OneOrEach> {
    const results = await this.callAll(ids, make);
    return typeof ids === "string" ? only(results) : results;
  }

  /** An empty list: nothing to do or to wait for. @internal */
  protected callAll<A>(
    ids: string | readonly string[],
    make: (all: string[]) => Effect.Effect<readonly A[], HoldfastError>,
    signal?: AbortSignal,
  ): Promise<readonly A[]> {
    return this.call(() => {
      const all = listOf(ids);
      return all.length === 0 ? Effect.succeed([]) : make(all);
    }, signal);
  }
}
