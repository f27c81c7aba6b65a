/** The port of messages and approvals to the worker whose agent they talk to. */
import type { Effect } from "effect";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { Redactor } from "../../protocol/redact.ts";
import type { Bridge } from "../bridge.ts";
import type { ActivityClock } from "../clocks/activity-clock.ts";
import type { Journal } from "../deciding/journal.ts";
import type { Incarnation } from "../intake/incarnation.ts";
import type { MachineEvent } from "../machine/worker-machine.ts";
import type { Services } from "../ports.ts";
import type { Spender } from "../spending.ts";

export interface Speaker extends Spender {
  readonly services: Services;
  readonly bridge: Bridge;
  readonly journal: Journal;
  readonly activityClock: ActivityClock;
  /** Masks what its agent knows and nobody else may. */
  readonly redact: Redactor;
  /** Undefined while no agent of it runs. */
  readonly incarnation: Incarnation | undefined;
  readonly mail: { deliver(): Effect.Effect<void> } | undefined;
  readonly approvals: { waiting(): number } | undefined;
  tell(event: MachineEvent): void;
  /** Work in the scope of its fiber; a defect of it is the worker's. */
  fork(work: Effect.Effect<void>): void;
  /** The same for somebody who waits for it: who goes away ends the wait and not the work. Undefined where the worker is let go. */
  inScope<A, E>(work: Effect.Effect<A, E>): Effect.Effect<A | undefined, E>;
  /** Work that fails is reported, and changes nothing. */
  tried<A, B>(what: string, work: Effect.Effect<A, HoldfastError>, otherwise: B): Effect.Effect<A | B>;
  /** A call to a run that fails is reported, and changes nothing. */
  call<A, B>(what: string, made: () => Promise<A>, otherwise: B): Effect.Effect<A | B>;
}
