/** `runtime.jobs`: workers that are never restarted (protocol-v1.txt, Jobs). */
import { Effect, Stream } from "effect";
import type { Registry } from "../adapters/registry.ts";
import { asHoldfastError } from "../protocol/errors.ts";
import type { JobState, JobStep } from "../protocol/jobs.ts";
import type { JobResult, JobsReply, JobView, SubmittedJob } from "../protocol/replies/jobs.ts";
import type { PerWorker } from "../runtime/replies.ts";
import { submitAs } from "./asked.ts";
import type { RuntimeCalls } from "./calls.ts";
import { checked, optionsOf } from "./checked.ts";
import type { JobOptions, PageOptions } from "./options.ts";
import { listOf, only, type RunCall } from "./promises.ts";
import type { WaitOptions } from "./run-options.ts";
import type { Watches } from "./watches.ts";

/** Every call takes the id of any worker; `list` shows jobs alone. */
export class Jobs<K extends string = never> {
  readonly #api: RuntimeCalls;
  readonly #registry: Registry;
  readonly #watches: Watches;
  readonly #call: RunCall;

  /** @internal */
  constructor(api: RuntimeCalls, registry: Registry, watches: Watches, call: RunCall) {
    this.#api = api;
    this.#registry = registry;
    this.#watches = watches;
    this.#call = call;
  }

  /** Resolves once the job is durable. A repeat with the same `idempotency_key` resolves with the first job, and the effect `noop`. */
  submit(options: JobOptions<K>): Promise<SubmittedJob> {
    return this.#call(() => submitAs(this.#api, this.#registry, options));
  }

  /** In the order of their submission, with those that have ended; `states`: only jobs in one of these. */
  list(page: PageOptions & { readonly states?: JobState[] } = {}): Promise<JobsReply> {
    return this.#call(() => this.#api.jobs.list(checked("jobs/list", page)));
  }

  info(id: string): Promise<JobView> {
    return this.#call(() => this.#api.jobs.info(checked("jobs/info", { id }).id));
  }

  /** Its steps, on record and then live; the last one has `final`. `from`: only steps after this seq. */
  tail(
    id: string,
    options: { readonly from?: number; readonly follow?: boolean } = {},
  ): AsyncIterable<JobStep> {
    const asked = Effect.try({
      try: () => checked("jobs/tail", { ...optionsOf(options), id }),
      catch: asHoldfastError,
    });
    const steps = Stream.unwrap(Effect.map(asked, ({ id: ref, ...how }) => this.#api.jobs.tail(ref, how)));
    return this.#watches.iterable(steps);
  }

  /** Resolves when all have ended, in order; rejects with TIMEOUT after `timeout_ms` (default: never), and they go on. */
  wait(ids: readonly string[], options: WaitOptions = {}): Promise<readonly JobView[]> {
    const { signal, ...bounds } = optionsOf(options);
    return this.#call(() => {
      const asked = checked("jobs/wait", { ...bounds, ids: listOf(ids) });
      return this.#api.jobs.wait(asked.ids, asked.timeout_ms);
    }, signal);
  }

  /** The final answer, as `Runtime.output` gives it. */
  result(id: string, options: { readonly max_bytes?: number } = {}): Promise<JobResult> {
    return this.#call(() => {
      const { id: ref, ...how } = checked("jobs/result", { ...optionsOf(options), id });
      return this.#api.jobs.result(ref, how);
    });
  }

  /** Resolves when the job has ended and its processes are gone; the effect is `noop` if it had ended already. */
  async cancel(
    id: string,
    options: { readonly grace_ms?: number; readonly reason?: string } = {},
  ): Promise<PerWorker> {
    return only(
      await this.#call(() =>
        this.#api.jobs.cancel(checked("jobs/cancel", { ...optionsOf(options), ids: [id] })),
      ),
    );
  }
}
