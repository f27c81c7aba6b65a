/**
 * What a worker's shell writes and reads. A request fails where the store does; what has happened already is offered to
 * the store until it takes it. Once the journal is closed, whoever waits for it waits for ever: nobody goes on with the
 * work of a worker that is let go.
 */
import type { Alarms } from "../actors/alarms.ts";
import { asHoldfastError } from "../protocol/errors.ts";
import { STORE_RETRY_MS } from "../protocol/limits.ts";
import type { LogRecord, RecordDraft } from "../protocol/records.ts";
import type { AppendOptions, EventLog } from "../store/port.ts";
import type { Decider } from "./decider.ts";
import type { ChildState, Input } from "./inputs.ts";
import type { Services } from "./services.ts";

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

  /** What the records say of the worker. */
  child(): ChildState {
    return this.decider.child();
  }

  /** Monotonic milliseconds. */
  now(): number {
    return Number(this.alarms.now() / 1_000_000n);
  }

  /** For requests: rejects where the store does, and nothing has changed then. What has ended takes nothing any more. */
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

  async note(drafts: readonly RecordDraft[], options?: AppendOptions): Promise<void> {
    await this.insist(() => this.commit(drafts, options));
  }

  /** Reads the log, now or when it can be read again. */
  ask<A>(read: (log: EventLog) => A): Promise<A> {
    return this.insist(() => read(this.services.log));
  }

  /** Nothing is written or read here any more. */
  close(): void {
    this.closed = true;
  }

  /** Waits for ever where the journal is closed: what comes after it is not done. */
  async stillOpen(): Promise<void> {
    if (this.closed) await new Promise(() => undefined);
  }

  /** INTERNAL is a mistake of ours, which the next attempt would make again. */
  private async insist<A>(attempt: () => A | Promise<A>): Promise<A> {
    for (;;) {
      if (this.closed) await this.stillOpen();
      try {
        const made = await attempt();
        if (this.closed) await this.stillOpen();
        return made;
      } catch (cause) {
        const error = asHoldfastError(cause);
        if (error.code === "INTERNAL") throw error;
        this.services.report(`worker ${this.child().worker_id} waits for the store: ${error.message}`);
        await new Promise<void>((resolve) => {
          this.alarms.after(STORE_RETRY_MS, resolve);
        });
      }
    }
  }
}
