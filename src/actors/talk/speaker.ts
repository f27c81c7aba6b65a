/** The port through which messages and approvals see their worker. */
import type { Effect } from "effect";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { Redactor } from "../../protocol/redact.ts";
import type { ActivityClock } from "../clocks/activity-clock.ts";
import type { Journal } from "../deciding/journal.ts";
import type { Incarnation } from "../intake/incarnation.ts";
import type { MachineEvent } from "../machine/worker-machine.ts";
import type { Services } from "../ports.ts";
import type { SharedParts } from "../shared.ts";
import type { Spender } from "../spending.ts";

export interface Speaker extends Spender {
  readonly services: Services;
  readonly shared: SharedParts;
  readonly journal: Journal;
  readonly activityClock: ActivityClock;
  /** Masks the secrets that the agent was given. */
  readonly redact: Redactor;
  /** Undefined while no agent runs. */
  readonly incarnation: Incarnation | undefined;
  readonly mail: { deliver(): Effect.Effect<void> } | undefined;
  readonly approvals: { waiting(): number } | undefined;
  tell(event: MachineEvent): void;
  /** Runs work in the scope of the worker's fiber; a defect in it is the worker's. */
  fork(work: Effect.Effect<void>): void;
  /**
   * As `fork`, for a caller that waits: if the caller goes away, the work goes on. Undefined if the worker is let go.
   */
  inScope<A, E>(work: Effect.Effect<A, E>): Effect.Effect<A | undefined, E>;
  /** Runs work; a failure is reported and answers `otherwise`. */
  tried<A, B>(what: string, work: Effect.Effect<A, HoldfastError>, otherwise: B): Effect.Effect<A | B>;
  /** Calls a run; a failure is reported and answers `otherwise`. */
  call<A, B>(what: string, made: () => Promise<A>, otherwise: B): Effect.Effect<A | B>;
}
