/**
 * The one place where an input to a worker is decided and recorded, and only then folded and told to its machine: what
 * the store refuses has changed nothing. One decision at a time.
 */

import { asHoldfastError } from "../../protocol/errors.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { AppendOptions } from "../../store/port.ts";
import { decide } from "../../supervisor/child/decide.ts";
import { evolve } from "../../supervisor/child/evolve.ts";
import { mayHold } from "../../supervisor/child/holding.ts";
import type { ChildState, Command, Decision, Input } from "../../supervisor/child/inputs.ts";
import type { Now } from "../../supervisor/clocks/now.ts";
import type { Alarms } from "../machine/alarms.ts";
import { Turns } from "../machine/turns.ts";
import type { WorkerEvent } from "../machine/worker-machine.ts";
import type { Services } from "../ports.ts";

export interface Decider {
  /** The state of the worker, by its records. */
  child(): ChildState;
  /**
   * Rejects with a HoldfastError where the store refuses. `extra` comes first, in the same transaction. Whoever asked may
   * go away in the middle: what is on record by then is carried out all the same.
   */
  input(input: Input, extra?: readonly RecordDraft[], options?: AppendOptions): Promise<void>;
}

/** A worker's machine, as whoever decides for it sees it. */
export interface Told {
  tell(event: WorkerEvent): void;
}

/** Decides for one worker alone: it is the only child of its supervisor. */
export class SoloDecider implements Decider {
  private readonly services: Services;
  private readonly alarms: Alarms;
  private readonly worker: Told;
  private readonly turns = new Turns();
  private state: ChildState;

  constructor(services: Services, alarms: Alarms, initial: ChildState, worker: Told) {
    this.services = services;
    this.alarms = alarms;
    this.state = initial;
    this.worker = worker;
  }

  child(): ChildState {
    return this.state;
  }

  input(input: Input, extra: readonly RecordDraft[] = NONE, options?: AppendOptions): Promise<void> {
    const turn = this.turns.take();
    if (turn === undefined) return this.decide(input, extra, options);
    return turn.then(() => this.decide(input, extra, options));
  }

  /** In its turn, which it gives back. Chained by hand: this is the way of every record of every worker. */
  private decide(
    input: Input,
    extra: readonly RecordDraft[],
    options: AppendOptions | undefined,
  ): Promise<void> {
    try {
      const now = nowOf(this.services, this.alarms);
      // A worker that has ended takes nothing any more.
      const decision = isEnded(this.state.state) ? NOTHING : decide(this.state, input, now);
      const { events } = decision;
      const drafts = decision === NOTHING || extra.length === 0 ? events : [...extra, ...events];
      const how = mayHold(this.state, input, decision.commands) ? { ...options, holds: true } : options;
      const commit = drafts.length === 0 ? DONE : this.services.log.commit(drafts, how);
      return commit.then(
        () => this.recorded(input, decision, now),
        (cause) => this.refused(cause),
      );
    } catch (cause) {
      return DONE.then(() => this.refused(cause));
    }
  }

  private recorded(input: Input, { events, commands }: Decision, now: Now): void {
    try {
      for (const event of events) this.state = evolve(this.state, event, now.mono_ms);
      if (events.length > 0) this.traced(input, events, now);
    } finally {
      this.turns.give();
    }
    for (const command of commands) this.worker.tell(eventOf(command));
  }

  private traced({ type }: Input, events: readonly RecordDraft[], { clock }: Now): void {
    const { trace } = this.services;
    if (trace === undefined) return;
    trace({ tree: null, worker_id: this.state.worker_id, input: type, events, at: BigInt(clock.mono_ns) });
  }

  private refused(cause: unknown): never {
    this.turns.give();
    throw asHoldfastError(cause);
  }
}

const NOTHING: Decision = { events: [], commands: [] };
const DONE: Promise<unknown> = Promise.resolve();
const NONE: readonly never[] = [];

const nowOf = ({ boot_id, random, zone }: Services, alarms: Alarms): Now => {
  const nanos = alarms.now();
  return {
    mono_ms: Number(nanos / 1_000_000n),
    clock: { boot_id, mono_ns: String(nanos) },
    random: random(),
    wall: { ms: alarms.wallMs(), zone },
  };
};

/** The input of a worker's machine for a command of the supervisor. */
export const eventOf = (command: Command): WorkerEvent => {
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
