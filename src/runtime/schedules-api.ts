/** Schedules as their users see them: part of `RuntimeApi`. Every answer is durable before it is told. */
import type { Effect } from "effect";
import type { Caller } from "../protocol/caller.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { RequestData } from "../protocol/requests.ts";
import type { ScheduleSpec } from "../protocol/schedule-spec.ts";
import type {
  NextTimes,
  ScheduleChange,
  ScheduleInfo,
  ScheduleRunReply,
  SchedulesReply,
} from "./schedule-replies.ts";

/** The caller, as in `CallerOptions`. */
export interface ScheduleAsker {
  readonly caller?: Caller | undefined;
  readonly by?: string | undefined;
}

export interface SchedulesApi {
  /** Fails with ALREADY_EXISTS where there is one of that name, QUEUE_FULL where there are all that there may be, and as a spawn does. */
  add(schedule: ScheduleSpec, options?: ScheduleAsker): Effect.Effect<ScheduleChange, HoldfastError>;
  /** In the order of their names. */
  list(page: RequestData<"schedule/list">): Effect.Effect<SchedulesReply, HoldfastError>;
  /** This one and all below fail with SCHEDULE_NOT_FOUND where there is none of that name. */
  show(name: string): Effect.Effect<ScheduleInfo, HoldfastError>;
  /** INVALID_STATE where a file holds it. */
  remove(name: string, options?: ScheduleAsker): Effect.Effect<ScheduleChange, HoldfastError>;
  /** `noop` where it is paused. Times that pass meanwhile have no run. */
  pause(name: string, options?: ScheduleAsker): Effect.Effect<ScheduleChange, HoldfastError>;
  resume(name: string, options?: ScheduleAsker): Effect.Effect<ScheduleChange, HoldfastError>;
  /** Starts a worker now. INVALID_STATE where another one runs and its schedule forbids that they overlap. */
  run(name: string, options?: ScheduleAsker): Effect.Effect<ScheduleRunReply, HoldfastError>;
  /** The next times of a cron line, of no schedule. */
  next(asked: RequestData<"schedule/next">): Effect.Effect<NextTimes, HoldfastError>;
}
