/**
 * The records that a worker's shell writes and reads. A request fails where the store does; what has happened already is offered to
 * the store until it takes it. Once the journal is closed, whoever asks it waits for ever: nobody goes on with the work
 * of a worker that is let go.
 */

import { STORE_RETRY_MS } from "../../base/limits.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../protocol/records.ts";
import type { AppendOptions, EventLog } from "../../store/port.ts";
import type { ChildState, Input } from "../../supervisor/child/inputs.ts";
import type { Alarms } from "../machine/alarms.ts";
import type { Services } from "../ports.ts";
import type { Decider } from "./decider.ts";

export class Journal {
  private readonly services: Services;
  private readonly alarms: Alarms;
  private readonly decider: Decider;
  private closed = false;

  constructor(services: Services, alarms: Alarms, decider: Decider) {
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

  /** Resolves after so many milliseconds. */
  rest(ms: number): Promise<void> {
    return new Promise((resolve) => void this.alarms.after(ms, resolve));
  }

  /** For requests: rejects where the store does, and nothing has changed then. A worker that has ended takes nothing any more. */
  input(input: Input): Promise<void> {
    return this.decider.input(input);
  }

  /** Records without a decision. */
  commit(drafts: readonly RecordDraft[], options?: AppendOptions): Promise<readonly LogRecord[]> {
    return this.services.log.commit(drafts, options);
  }

  /** For what has happened already: the store takes it, now or when it can again; `extra` comes first, in one transaction. */
  fact(input: Input, extra?: readonly RecordDraft[], options?: AppendOptions): Promise<void> {
    return this.insist(() => this.decider.input(input, extra, options));
  }

  /** An event that has happened is held on a full disk, unless something waits for its record; `options` are asked at each attempt. */
  note(drafts: readonly RecordDraft[], options: () => AppendOptions = HELD): Promise<unknown> {
    return this.insist(() => this.commit(drafts, options()));
  }

  /** The disk has no room for what it writes. */
  hasNoRoom(): boolean {
    return this.services.log.trouble()?.code === "DISK_FULL";
  }

  /** Reads the log, now or when it can be read again. */
  ask<A>(read: (log: EventLog) => A): A | Promise<A> {
    if (this.closed) return forEver();
    try {
      return read(this.services.log);
    } catch (cause) {
      return this.again(async () => read(this.services.log), cause);
    }
  }

  /** Nothing is written or read here any more: who asks waits for ever, and so does nothing more. */
  close(): void {
    this.closed = true;
  }

  isClosed(): boolean {
    return this.closed;
  }

  private insist<A>(attempt: () => Promise<A>): Promise<A> {
    return this.closed ? forEver() : attempt().catch((cause) => this.again(attempt, cause));
  }

  /** INTERNAL is a mistake of ours, which the next attempt would make again. */
  private async again<A>(attempt: () => Promise<A>, refusal: unknown): Promise<A> {
    let told: string | undefined;
    for (let cause = refusal; ; ) {
      const error = asHoldfastError(cause);
      if (error.code === "INTERNAL") throw error;
      // A hundred workers that wait for an hour would otherwise fill what is left of the disk.
      if (error.code !== told)
        this.services.report(`worker ${this.child().worker_id} waits for the store: ${error.message}`);
      told = error.code;
      await new Promise<void>((resolve) => {
        this.alarms.after(STORE_RETRY_MS, resolve);
      });
      if (this.closed) return forEver();
      try {
        return await attempt();
      } catch (next) {
        cause = next;
      }
    }
  }
}

const HELD = (): AppendOptions => ({ holds: true });
/** For what must be on record before something is begun. */
export const ON_RECORD = (): AppendOptions => ({});

/** For work that ends in the middle, because nobody may go on with it. */
export const forEver = (): Promise<never> => new Promise(() => undefined);
