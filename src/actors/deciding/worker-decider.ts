/** The decider of a worker, as the worker sees it: its own, or that of the tree in which it is a member. */
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
  /** The state of the worker, by its records. */
  child(): ChildState;
  /** Fails with what the store refuses. `extra` comes first, in the same transaction. */
  input(
    input: ChildInput,
    extra?: readonly RecordDraft[],
    options?: AppendOptions,
    then?: NextInput,
  ): Effect.Effect<unknown, HoldfastError>;
}

/** A second input of the same transaction, if what the worker is told by the first one leads to it. */
export type NextInput = (told: Pick<Decision, "commands">) => ChildInput | undefined;

/** A worker's machine, as its decider sees it. */
export interface WorkerListener {
  tell(event: MachineEvent): void;
}

/** The decider of a worker that was spawned, which is the only child of its supervisor. */
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

/** The event of a worker's machine for a command of its supervisor. */
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
