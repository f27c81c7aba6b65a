/** The parts that all workers of a runtime share: its clocks, its counters and its way to start a fiber. */
import { Clock, Effect, type Fiber, type Scope } from "effect";
import { EXITS_PER_TURN_MAX } from "../base/limits.ts";
import { Pace } from "../base/pace.ts";
import type { Gaps } from "../supervisor/clocks/gaps.ts";
import type { DeciderPorts } from "./deciding/decider.ts";
import { type Alarms, makeAlarms } from "./machine/alarms.ts";
import { OutputActivity } from "./output-activity.ts";
import type { Services } from "./ports.ts";
import type { Sessions } from "./sessions.ts";
import type { Spending } from "./spending.ts";

export interface SharedParts {
  readonly alarms: Alarms;
  /** The log, the clock and the tracer of every decider. */
  readonly ground: DeciderPorts;
  /**
   * Wall clock, in milliseconds since 1970: only for ids and for times on record. Durations use the monotonic clock.
   */
  wallMs(): number;
  /** Gaps in which the daemon could not check its workers: no timeout counts them. */
  readonly gaps: Gaps;
  readonly accounts: Spending;
  /** The holders of sessions. */
  readonly sessions: Sessions;
  /** Called when a worker waits without a process, for an answer or a message: it needs no slot. */
  rested(id: string): void;
  /** Settles the ends of agents, at most EXITS_PER_TURN_MAX in one turn of the event loop. */
  readonly exits: Pace;
  /** The workers that wrote output most recently. */
  readonly outputActivity: OutputActivity;
  /** Starts a fiber at once, in the context of the runtime. */
  fork<A, E>(work: Effect.Effect<A, E>): Fiber.Fiber<A, E>;
}

export const makeShared = (
  services: Services,
  ground: DeciderPorts,
): Effect.Effect<Omit<SharedParts, "gaps" | "accounts" | "sessions" | "rested">, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock;
    return {
      alarms: yield* makeAlarms((cause) => services.defects.tell("an alarm", cause)),
      ground,
      wallMs: () => clock.currentTimeMillisUnsafe(),
      exits: new Pace(EXITS_PER_TURN_MAX),
      outputActivity: new OutputActivity(),
      fork: Effect.runForkWith(yield* Effect.context<never>()),
    };
  });
