/** One run of a worker's agent, from its launch or its take-over until it is settled. */
import type { AgentAdapter, Opening } from "../../adapters/adapter.ts";
import type { Run } from "../../adapters/spawner.ts";
import { modelAsked } from "../../protocol/extensions.ts";
import type { RunExit } from "../../protocol/incarnation.ts";
import type { Redactor } from "../../protocol/redact.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { Journal } from "../deciding/journal.ts";
import type { Services } from "../ports.ts";
import type { SharedParts } from "../shared.ts";
import { Intake, type RecordsListener } from "./intake.ts";

export interface Incarnation {
  readonly run: Run;
  readonly intake: Intake;
  /** Masks the secrets that the agent was given. */
  readonly redact: Redactor;
  /** The name of the agent's program, for sentences. */
  readonly program: string | undefined;
  /** Undefined while it runs. */
  exit: RunExit | undefined;
  /** Signals sent to it, in order. */
  signals: readonly string[];
}

/** The worker as its incarnation sees it. */
export interface IncarnationWorker {
  readonly services: Pick<Services, "estimate">;
  readonly shared: Pick<SharedParts, "outputActivity">;
  readonly journal: Journal;
  readonly adapter: AgentAdapter;
  readonly spec: WorkerSpec;
}

export const incarnate = (
  worker: IncarnationWorker & RecordsListener,
  opening: Opening,
  begun: Omit<Incarnation, "intake">,
): Incarnation => {
  const { services, spec, journal, adapter, shared } = worker;
  const account = { model: modelAsked(adapter, spec), estimate: services.estimate ?? ((one) => one) };
  const { run, redact } = begun;
  const { outputActivity } = shared;
  const intake = new Intake({
    journal,
    adapter,
    run,
    opening,
    redact,
    reader: worker,
    outputActivity,
    account,
  });
  return { ...begun, intake };
};
