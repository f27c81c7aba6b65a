/**
 * The records that a worker writes and reads. A request fails where the store does; what has happened already is offered to
 * the store until the store takes it.
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

  /** The state of the worker, by its records. */
  child(): ChildState {
    return this.decider.child();
  }

  /** Monotonic milliseconds. */
  now(): number {
    return Number(this.alarms.now() / 1_000_000n);
  }

  /** For requests: fails where the store does, and nothing has changed then. A worker that has ended takes nothing any more. */
  input(input: ChildInput): Effect.Effect<unknown, HoldfastError> {
    return this.decider.input(input);
  }

  /** Records without a decision. */
  commit(
    drafts: readonly RecordDraft[],
    options?: AppendOptions,
  ): Effect.Effect<readonly LogRecord[], HoldfastError> {
    return attemptAsync(() => this.services.log.commit(drafts, options));
  }

  /** For what has happened already; `extra` comes first, and `then` last, in one transaction. */
  fact(
    input: ChildInput,
    extra?: readonly RecordDraft[],
    options?: AppendOptions,
    then?: NextInput,
  ): Effect.Effect<void> {
    return Effect.asVoid(this.insist(this.decider.input(input, extra, options, then)));
  }

  /** An event that has happened is held on a full disk, unless something waits for its record; `options` are asked at each attempt. */
  note(drafts: readonly RecordDraft[], options: () => AppendOptions = HELD): Effect.Effect<void> {
    return Effect.asVoid(this.insist(Effect.suspend(() => this.commit(drafts, options()))));
  }

  /** The disk has no room for what it writes. */
  hasNoRoom(): boolean {
    return this.services.log.trouble()?.code === "DISK_FULL";
  }

  /** Reads the store, now or when it can be read again. */
  ask<A>(read: (store: Pick<Services, "log" | "views">) => A): Effect.Effect<A> {
    return this.insist(attempt(() => read(this.services)));
  }

  /** Reads each record after `from`, up to the end of the log, as `ask` does. */
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
/** For what must be on record before something is begun. */
export const ON_RECORD = (): AppendOptions => ({});
