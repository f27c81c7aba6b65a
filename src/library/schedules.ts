/** `runtime.schedules`: workers that start at times. */
import { Effect } from "effect";
import type { Registry } from "../adapters/registry.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type {
  NextTimes,
  ScheduleChange,
  ScheduleInfo,
  ScheduleRunReply,
  SchedulesReply,
} from "../protocol/replies/schedules.ts";
import { scheduleAs } from "./asked.ts";
import type { RuntimeCalls } from "./calls.ts";
import { checked } from "./checked.ts";
import type { NextTimesOptions, PageOptions, ScheduleOptions } from "./options.ts";
import type { RunCall } from "./promises.ts";

/** Each method rejects with a HoldfastError and nothing else, with SCHEDULE_NOT_FOUND where there is no schedule of that name. */
export class RuntimeSchedules<K extends string = never> {
  readonly #api: RuntimeCalls;
  readonly #registry: Registry;
  readonly #call: RunCall;

  /** @internal */
  constructor(api: RuntimeCalls, registry: Registry, call: RunCall) {
    this.#api = api;
    this.#registry = registry;
    this.#call = call;
  }

  /** Resolves once the schedule is durable. Rejects with ALREADY_EXISTS where there is one of that name, and as `Runtime.spawn` does. */
  add(options: ScheduleOptions<K>): Promise<ScheduleChange> {
    return this.#call(() => scheduleAs(this.#api, this.#registry, options));
  }

  /** In the order of their names. */
  list(page: PageOptions = {}): Promise<SchedulesReply> {
    return this.#call(() => this.#api.schedules.list(checked("schedule/list", page)));
  }

  show(name: string): Promise<ScheduleInfo> {
    return this.#call(() => this.#api.schedules.show(checked("schedule/show", { name }).name));
  }

  /** Its workers go on. Rejects with INVALID_STATE where the file of a tree holds it. */
  remove(name: string): Promise<ScheduleChange> {
    return this.#call(() => this.#api.schedules.remove(checked("schedule/remove", { name }).name));
  }

  /** Times that pass until `resume` have no run. */
  pause(name: string): Promise<ScheduleChange> {
    return this.#call(() => this.#api.schedules.pause(checked("schedule/pause", { name }).name));
  }

  resume(name: string): Promise<ScheduleChange> {
    return this.#call(() => this.#api.schedules.resume(checked("schedule/resume", { name }).name));
  }

  /** Starts a worker now. Rejects with INVALID_STATE where another one runs and `overlap` is `forbid`. */
  run(name: string): Promise<ScheduleRunReply> {
    return this.#call(() => this.#api.schedules.run(checked("schedule/run", { name }).name));
  }

  /** The next times of a cron line, of no schedule. */
  next(cron: string, options: NextTimesOptions = {}): Promise<NextTimes> {
    return this.#call(() =>
      Effect.flatMap(
        Effect.try({ try: () => checked("schedule/next", { ...options, cron }), catch: asHoldfastError }),
        (asked): Effect.Effect<NextTimes, HoldfastError> => this.#api.schedules.next(asked),
      ),
    );
  }
}
