/** The port of messages and approvals to the worker whose agent they talk to. */
import type { Run } from "../../adapters/spawner.ts";
import type { RunExit } from "../../protocol/incarnation.ts";
import type { Redactor } from "../../protocol/redact.ts";
import type { Bridge } from "../bridge.ts";
import type { Vitals } from "../clocks/vitals.ts";
import type { Journal } from "../deciding/journal.ts";
import type { Intake } from "../intake/intake.ts";
import type { WorkerEvent } from "../machine/worker-machine.ts";
import type { Services } from "../ports.ts";
import type { Spender } from "../spending.ts";

export interface Speaker extends Spender {
  readonly services: Services;
  readonly bridge: Bridge;
  readonly journal: Journal;
  readonly vitals: Vitals;
  /** Masks what its agent knows and nobody else may. */
  readonly redact: Redactor;
  /** Undefined while no agent of it runs. */
  readonly run: Run | undefined;
  readonly intake: Intake | undefined;
  readonly exit: RunExit | undefined;
  readonly mail: { deliver(): Promise<void> } | undefined;
  readonly approvals: { waiting(): number } | undefined;
  tell(event: WorkerEvent): void;
  /** Work whose failure is this worker's end. */
  fork(work: Promise<void>): void;
  /** A call to a run that fails is reported, and changes nothing. */
  call<A, B>(what: string, made: () => Promise<A>, otherwise: B): Promise<A | B>;
}
