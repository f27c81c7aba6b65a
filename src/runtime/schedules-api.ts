/** Schedules as their users see them: part of `RuntimeApi`. Every change is durable before the call returns. */
import type { Effect } from "effect";
import type { Caller } from "../protocol/caller.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type {
  NextTimes,
  ScheduleChange,
  ScheduleInfo,
  ScheduleRunReply,
  SchedulesReply,
} from "../protocol/replies/schedules.ts";
import type { RequestData } from "../protocol/requests.ts";
import type { ScheduleSpec } from "../protocol/schedule-spec.ts";

/** The caller of a request, as in `CallerOptions`. */
export interface ScheduleAsker {
  readonly caller?: Caller | undefined;
  readonly by?: string | undefined;
}

export interface SchedulesApi {
  /** Adds a schedule. Fails as a spawn does, with ALREADY_EXISTS if the name is taken, and with QUEUE_FULL at the bound. */
  add(schedule: ScheduleSpec, options?: ScheduleAsker): Effect.Effect<ScheduleChange, HoldfastError>;
  /** Schedules in the order of their names. */
  list(page: RequestData<"schedule/list">): Effect.Effect<SchedulesReply, HoldfastError>;
  /** Shows a schedule. Like all calls below that take a name, it fails with SCHEDULE_NOT_FOUND if there is none. */
  show(name: string): Effect.Effect<ScheduleInfo, HoldfastError>;
  /** Removes a schedule. Fails with INVALID_STATE if it belongs to a file. */
  remove(name: string, options?: ScheduleAsker): Effect.Effect<ScheduleChange, HoldfastError>;
  /** Pauses a schedule: times that pass meanwhile have no run. `noop`: it is paused already. */
  pause(name: string, options?: ScheduleAsker): Effect.Effect<ScheduleChange, HoldfastError>;
  resume(name: string, options?: ScheduleAsker): Effect.Effect<ScheduleChange, HoldfastError>;
  /** Starts a worker now. Fails with INVALID_STATE if another one runs and the schedule forbids overlap. */
  run(name: string, options?: ScheduleAsker): Effect.Effect<ScheduleRunReply, HoldfastError>;
  /** The next times of a cron line, without a schedule. */
  next(asked: RequestData<"schedule/next">): Effect.Effect<NextTimes, HoldfastError>;
}
