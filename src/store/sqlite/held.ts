/**
 * Holds records while the log cannot be written (docs/decisions/0031): stops and their consequences must not wait for a
 * disk. Held records are written to the reserve, and applied in a transaction that stays open, so that every row shows
 * them. Once there is room, they are recorded in order, before anything else. Until then nobody reads them as records.
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

/** One caller's drafts. Each has its id, so that it is recorded once, however often it is offered. */
interface HeldDraft extends AppendBatch {
  readonly recorded_at: number;
  readonly bytes: number;
}

/** A held draft as it is in the reserve. */
type ReservedDraft = Omit<HeldDraft, "bytes"> & { readonly store_id: string };

export interface HeldParts {
  readonly reserve: Reserve;
  readonly writer: () => Writer;
  /** The reserve of another log is ignored. */
  readonly store_id: string;
  /** True if a write might succeed now. */
  readonly hasRoom: () => boolean;
  /** Throws if nothing can be written for another reason. */
  readonly allow: () => void;
  readonly newId: () => string;
  readonly now: () => number;
  /** Forgets cached rows, because they may have changed. */
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

  /** Holds one caller's records. Throws DISK_FULL if it would hold too much. */
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
    // Keep the reserve for decisions: output would fill it.
    if (instead === undefined) reserve.add({ store_id, ...facts });
    return records;
  };

  /** Records everything held. If it fails, it throws the reason, and the rows still show the held records. */
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

  /** Takes over the records that an earlier process left in the reserve. */
  takeUp(): void {
    for (const { store_id: of, ...one } of this.parts.reserve.read() as ReservedDraft[]) {
      if (of !== this.parts.store_id) continue;
      const size = JSON.stringify(one).length;
      this.held.push({ ...one, bytes: size });
      this.bytes += size;
    }
    this.show();
  }

  /** Hides held records, before the connection closes or is lent to code that must not see them. */
  hide(): void {
    this.isShown = false;
    this.parts.writer().hide();
    this.parts.forgetRows();
  }

  show(): void {
    if (this.held.length > 0) this.apply(this.held);
    this.parts.forgetRows();
  }

  /** Shows drafts. If even this fails, the rows lack the held records, which are recorded later all the same. */
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
