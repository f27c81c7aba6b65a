/**
 * `AgentEngine`, the port of the engine side (runtime-architecture.txt, Runtime vs engine layers): it answers messages, and
 * owns no truth. The runtime says what is; an engine tells it what happens. `native.ts` implements it with a model and
 * tools, `echo.ts` without either, and a program may bring its own.
 */
import type { EngineInput, EngineLine, EngineOpening } from "../protocol/engine-lines.ts";

export interface EngineRun {
  readonly opening: EngineOpening;
  /** Messages, answers to requests for permission, and interruptions, in their order. It ends with the input. */
  readonly inputs: AsyncIterable<EngineInput>;
  /** Tells the runtime what happens. It never fails, and keeps the order. */
  readonly tell: (line: EngineLine) => void;
  /** Aborted once the run has to end: what is under way is left as it is, and the journal says how far it came. */
  readonly signal: AbortSignal;
}

export interface AgentEngine {
  readonly name: string;
  /** Resolves once the run is over: its input has ended, or its only message is answered. A failure of a turn is told. */
  run(run: EngineRun): Promise<void>;
}
