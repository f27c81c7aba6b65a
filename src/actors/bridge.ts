/** The ground of a worker's promises: the clock of the runtime, and its way to run an Effect of somebody else's. */
import { Cause, Clock, Effect, Exit, type Scope } from "effect";
import { EXITS_PER_TURN_MAX } from "../base/limits.ts";
import { Pace } from "../base/pace.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { Gaps } from "../supervisor/clocks/gaps.ts";
import { Company } from "./company.ts";
import type { Defects } from "./defects.ts";
import { type Alarms, makeAlarms } from "./machine/alarms.ts";
import type { Sessions } from "./sessions.ts";
import type { Spending } from "./spending.ts";

export interface Bridge {
  readonly alarms: Alarms;
  /** Milliseconds since 1970: only for what is told in them. */
  wallMs(): number;
  /** Time that counts for nothing. */
  readonly gaps: Gaps;
  readonly accounts: Spending;
  /** The holders of sessions. */
  readonly sessions: Sessions;
  /** It waits without a process, for an answer or a message: it needs no slot. */
  rested(id: string): void;
  /** The ends of agents come one after the other through here. */
  readonly exits: Pace;
  /** The workers that have output just now. */
  readonly company: Company;
  /** Throws or rejects with what the effect fails or dies with. One that has its value already gives it at once. */
  run<A>(effect: Effect.Effect<A, HoldfastError>): A | Promise<A>;
}

export const makeBridge = (
  defects: Defects,
): Effect.Effect<Omit<Bridge, "gaps" | "accounts" | "sessions" | "rested">, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock;
    const runPromise = Effect.runPromiseWith(yield* Effect.context<never>());
    return {
      alarms: yield* makeAlarms((cause) => defects.tell("an alarm", cause)),
      wallMs: () => clock.currentTimeMillisUnsafe(),
      exits: new Pace(EXITS_PER_TURN_MAX),
      company: new Company(),
      run: (effect) => {
        if (!Exit.isExit(effect)) return runPromise(effect);
        const exit = effect as Exit.Exit<never, HoldfastError>;
        if (Exit.isSuccess(exit)) return exit.value;
        throw Cause.squash(exit.cause);
      },
    };
  });
