/**
 * The records that a worker writes and reads. A request fails if the store refuses. A record of something that has
 * already happened is offered again until the store takes it.
 */
import { Effect } from "effect";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../protocol/records.ts";
import type { AppendOptions, RecordFilter } from "../../store/event-log.ts";
import type { ChildInput, ChildState } from "../../supervisor/child/inputs.ts";
import type { Alarms } from "../machine/alarms.ts";
import { attempt, attemptAsync } from "../machine/attempt.ts";
import type { Services } from "../ports.ts";
import { eachPageBy } from "./paging.ts";
import { untilTaken } from "./until-taken.ts";
import type { NextInput, WorkerDecider } from "./worker-decider.ts";

export class Journal {
  private readonly services: Pick<Services, "log" | "views" | "report">;
  private readonly alarms: Pick<Alarms, "now">;
  private readonly decider: WorkerDecider;

  constructor(
    services: Pick<Services, "log" | "views" | "report">,
    alarms: Pick<Alarms, "now">,
    decider: WorkerDecider,
  ) {
    this.services = services;
    this.alarms = alarms;
    this.decider = decider;
  }

  /** The state of the worker by its records. */
  child(): ChildState {
    return this.decider.child();
  }

  /** Monotonic milliseconds. */
  now(): number {
    return Number(this.alarms.now() / 1_000_000n);
  }

  /** For requests. Fails if the store refuses, and then nothing has changed. Has no effect on an ended worker. */
  input(input: ChildInput): Effect.Effect<unknown, HoldfastError> {
    return this.decider.input(input);
  }

  /** Writes records without a decision. */
  commit(
    drafts: readonly RecordDraft[],
    options?: AppendOptions,
  ): Effect.Effect<readonly LogRecord[], HoldfastError> {
    return attemptAsync(() => this.services.log.commit(drafts, options));
  }

  /** For an input that has already happened. `extra` comes first and `then` last, in one transaction. */
  fact(
    input: ChildInput,
    extra?: readonly RecordDraft[],
    options?: AppendOptions,
    then?: NextInput,
  ): Effect.Effect<void> {
    return Effect.asVoid(this.insist(this.decider.input(input, extra, options, then)));
  }

  /**
   * Records events that have already happened. On a full disk they are held, unless `options` says otherwise because
   * something waits for the record. `options` is called at each attempt.
   */
  note(drafts: readonly RecordDraft[], options: () => AppendOptions = HELD): Effect.Effect<void> {
    return Effect.asVoid(this.insist(Effect.suspend(() => this.commit(drafts, options()))));
  }

  /** True while the log's disk is full. */
  hasNoRoom(): boolean {
    return this.services.log.trouble()?.code === "DISK_FULL";
  }

  /** Reads the store; waits if it cannot be read now. */
  ask<A>(read: (store: Pick<Services, "log" | "views">) => A): Effect.Effect<A> {
    return this.insist(attempt(() => read(this.services)));
  }

  /** Reads each record after `from` up to the end of the log; waits as `ask` does. */
  records(from: number, filter: RecordFilter, take: (record: LogRecord) => void): Effect.Effect<void> {
    const range = { from, to: Number.POSITIVE_INFINITY };
    const read = <A>(look: () => A) => this.ask(look);
    return eachPageBy(read, this.services.log, range, filter, ({ lines }) => {
      for (const line of lines) take(JSON.parse(line));
    });
  }

  private insist<A>(work: Effect.Effect<A, HoldfastError>): Effect.Effect<A> {
    return untilTaken(work, ({ message }) =>
      this.services.report(`worker ${this.child().worker_id} waits for the store: ${message}`),
    );
  }
}

const HELD = (): AppendOptions => ({ holds: true });
/** Options for a record that must be on the disk before the next step begins: it is not held. */
export const ON_RECORD = (): AppendOptions => ({});
