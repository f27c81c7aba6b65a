/** The decider as a worker sees it: its own, or that of the tree it belongs to. */
import type { Effect } from "effect";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { AppendOptions } from "../../store/event-log.ts";
import { decide } from "../../supervisor/child/decide.ts";
import { evolve } from "../../supervisor/child/evolve.ts";
import { mayHold } from "../../supervisor/child/holding.ts";
import type { ChildCommand, ChildInput, ChildState, Decision } from "../../supervisor/child/inputs.ts";
import type { Now } from "../../supervisor/clocks/now.ts";
import type { MachineEvent } from "../machine/worker-machine.ts";
import { Decider, type DeciderPorts } from "./decider.ts";

export interface WorkerDecider {
  /** The state of the worker by its records. */
  child(): ChildState;
  /** Fails if the store refuses. `extra` comes first, in the same transaction. */
  input(
    input: ChildInput,
    extra?: readonly RecordDraft[],
    options?: AppendOptions,
    then?: NextInput,
  ): Effect.Effect<unknown, HoldfastError>;
}

/** Makes a second input for the same transaction from the commands of the first decision; undefined for none. */
export type NextInput = (told: Pick<Decision, "commands">) => ChildInput | undefined;

/** A worker's machine as its decider sees it. */
export interface WorkerListener {
  tell(event: MachineEvent): void;
}

/** The decider of a spawned worker, which is the only child of its supervisor. */
export class SoloDecider extends Decider<ChildState, ChildInput, Decision> implements WorkerDecider {
  private readonly worker: WorkerListener;

  constructor(ground: DeciderPorts, initial: ChildState, worker: WorkerListener) {
    super(ground, initial);
    this.worker = worker;
  }

  child(): ChildState {
    return this.state();
  }

  protected decide(state: ChildState, input: ChildInput, now: Now): Decision | undefined {
    return isEnded(state.state) ? undefined : decide(state, input, now);
  }

  protected evolve(state: ChildState, { events }: Decision, { mono_ms }: Now): ChildState {
    return events.reduce((child, event) => evolve(child, event, mono_ms), state);
  }

  protected mayHold(state: ChildState, input: ChildInput, { commands }: Decision): boolean {
    return mayHold(state, input, commands);
  }

  protected carryOut(_: ChildInput, { commands }: Decision): void {
    for (const command of commands) this.worker.tell(eventOf(command));
  }

  protected about({ type }: ChildInput) {
    return { tree: null, worker_id: this.state().worker_id, input: type };
  }
}

/** Turns a supervisor's command into an event of the worker's machine. */
export const eventOf = (command: ChildCommand): MachineEvent => {
  switch (command.type) {
    case "start":
      return { type: "START" };
    case "stop":
      return { type: "STOP", grace_ms: command.grace_ms, signal: command.signal };
    case "pause":
      return { type: "PAUSE" };
    case "unpause":
      return { type: "UNPAUSE" };
    case "restart_after":
      return { type: "RESTART_AFTER", delay_ms: command.delay_ms };
    case "wait":
      return { type: "WAIT" };
    case "end":
      return { type: "END", state: command.state };
  }
};
