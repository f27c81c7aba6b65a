/**
 * Records that the log holds while it cannot be written (docs/decisions/0031): stops, and what follows from them, must not wait for a disk.
 * They are written to the reserve, and shown: applied in a transaction that stays open, so that every row says what they say. With
 * room again they are recorded in their order, before anything else is. Nobody reads them as records before that.
 */

import {
  HELD_MAX_BYTES,
  HELD_OUTPUT_MAX_BYTES,
  HELD_RETRY_MS,
  TRANSACTION_MAX_RECORDS,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../protocol/records.ts";
import type { AppendBatch, Writer } from "./append.ts";
import type { Reserve } from "./reserve.ts";

/** One caller's drafts; each has its id, so that it is recorded once however often it is offered. */
interface HeldDraft extends AppendBatch {
  readonly recorded_at: number;
  readonly bytes: number;
}

/** As it is in the reserve. */
type ReservedDraft = Omit<HeldDraft, "bytes"> & { readonly store_id: string };

export interface HeldParts {
  readonly reserve: Reserve;
  readonly writer: () => Writer;
  /** A reserve of another log says nothing about this one. */
  readonly store_id: string;
  /** Whether a write might succeed now. */
  readonly hasRoom: () => boolean;
  /** Throws where nothing can be written for another reason. */
  readonly allow: () => void;
  readonly newId: () => string;
  readonly now: () => number;
  /** Rows that were read may say something else now. */
  readonly forgetRows: () => void;
}

const noRoom = (): HoldfastError =>
  new HoldfastError("DISK_FULL", "The disk of the event log is full, and stops that are held come first.");

export class HeldDrafts {
  private readonly parts: HeldParts;
  private readonly held: HeldDraft[] = [];
  private bytes = 0;
  private triedAt = 0;
  private isShown = false;

  constructor(parts: HeldParts) {
    this.parts = parts;
  }

  readonly count = (): number => this.held.length;

  /** Throws DISK_FULL where it would hold too much. */
  readonly hold = ({ drafts, options }: AppendBatch): readonly LogRecord[] => {
    const { reserve, store_id, newId, now } = this.parts;
    const { instead, ...how } = options ?? {};
    const isTooMuch = instead !== undefined && drafts.length > 1 && this.bytes > HELD_OUTPUT_MAX_BYTES;
    const named = (isTooMuch ? [instead] : drafts).map(
      (draft): RecordDraft => ({ ...draft, id: draft.id ?? newId() }),
    );
    const facts = { drafts: named, options: how, recorded_at: now() };
    const size = JSON.stringify(facts).length;
    if (this.bytes + size > HELD_MAX_BYTES) throw noRoom();
    const draft = { ...facts, bytes: size };
    this.held.push(draft);
    this.bytes += size;
    const records = this.apply(this.isShown ? [draft] : this.held);
    // Output would leave no room for what was decided.
    if (instead === undefined) reserve.add({ store_id, ...facts });
    return records;
  };

  /** Records all of it. Throws why it cannot; the rows go on saying what is held. */
  flush(): void {
    const { reserve, hasRoom, allow, now, forgetRows } = this.parts;
    if (this.held.length === 0) return;
    allow();
    if (!hasRoom() && now() - this.triedAt < HELD_RETRY_MS) throw noRoom();
    this.triedAt = now();
    this.hide();
    try {
      this.write();
      reserve.clear();
      forgetRows();
    } catch (cause) {
      this.show();
      throw cause;
    }
  }

  /** The records that an earlier process left in the reserve. */
  takeUp(): void {
    for (const { store_id: of, ...one } of this.parts.reserve.read() as ReservedDraft[]) {
      if (of !== this.parts.store_id) continue;
      const size = JSON.stringify(one).length;
      this.held.push({ ...one, bytes: size });
      this.bytes += size;
    }
    this.show();
  }

  /** The connection is lent to who must not see it, or goes. */
  hide(): void {
    this.isShown = false;
    this.parts.writer().hide();
    this.parts.forgetRows();
  }

  show(): void {
    if (this.held.length > 0) this.apply(this.held);
    this.parts.forgetRows();
  }

  /** If even this fails, the rows are behind what is held, and it is recorded all the same. */
  private apply(drafts: readonly HeldDraft[]): readonly LogRecord[] {
    try {
      const records = this.parts.writer().show(drafts).at(-1) ?? [];
      this.isShown = true;
      return records;
    } catch {
      this.hide();
      return [];
    }
  }

  private write(): void {
    while (this.held.length > 0) {
      const some = this.held.slice(0, TRANSACTION_MAX_RECORDS);
      this.parts.writer().write(some);
      this.held.splice(0, some.length);
      for (const one of some) this.bytes -= one.bytes;
    }
  }
}
