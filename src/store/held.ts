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
} from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../protocol/records.ts";
import type { Draft, Writer } from "./append.ts";
import type { Reserve } from "./reserve.ts";

/** One caller's drafts; each has its id, so that it is recorded once however often it is offered. */
interface HeldDraft extends Draft {
  readonly recorded_at: number;
  readonly bytes: number;
}

/** As it is in the reserve. */
type Reserved = Omit<HeldDraft, "bytes"> & { readonly store_id: string };

export interface Held {
  count(): number;
  /** Throws DISK_FULL where it would hold too much. */
  hold(draft: Draft): readonly LogRecord[];
  /** Records all of it. Throws why it cannot; the rows go on saying what is held. */
  flush(): void;
  /** The records that an earlier process left in the reserve. */
  takeUp(): void;
  /** The connection is lent to who must not see it, or goes. */
  hide(): void;
  show(): void;
}

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

export const makeHeld = (parts: HeldParts): Held => {
  const { reserve, store_id, writer, hasRoom, allow, newId, now } = parts;
  const held: HeldDraft[] = [];
  let bytes = 0;
  let triedAt = 0;

  let isShown = false;

  const hide = (): void => {
    isShown = false;
    writer().hide();
    parts.forgetRows();
  };

  /** If even this fails, the rows are behind what is held, and it is recorded all the same. */
  const apply = (drafts: readonly HeldDraft[]): readonly LogRecord[] => {
    try {
      const records = writer().show(drafts).at(-1) ?? [];
      isShown = true;
      return records;
    } catch {
      hide();
      return [];
    }
  };

  const show = (): void => {
    if (held.length > 0) apply(held);
    parts.forgetRows();
  };

  const write = (): void => {
    while (held.length > 0) {
      const some = held.slice(0, TRANSACTION_MAX_RECORDS);
      writer().write(some);
      held.splice(0, some.length);
      for (const one of some) bytes -= one.bytes;
    }
  };

  return {
    count: () => held.length,
    hold: ({ drafts, options }) => {
      const { instead, ...how } = options ?? {};
      const isTooMuch = instead !== undefined && drafts.length > 1 && bytes > HELD_OUTPUT_MAX_BYTES;
      const named = (isTooMuch ? [instead] : drafts).map(
        (draft): RecordDraft => ({ ...draft, id: draft.id ?? newId() }),
      );
      const facts = { drafts: named, options: how, recorded_at: now() };
      const size = JSON.stringify(facts).length;
      if (bytes + size > HELD_MAX_BYTES) throw noRoom();
      const draft = { ...facts, bytes: size };
      held.push(draft);
      bytes += size;
      const records = apply(isShown ? [draft] : held);
      // Output would leave no room for what was decided.
      if (instead === undefined) reserve.add({ store_id, ...facts });
      return records;
    },
    flush: () => {
      if (held.length === 0) return;
      allow();
      if (!hasRoom() && now() - triedAt < HELD_RETRY_MS) throw noRoom();
      triedAt = now();
      hide();
      try {
        write();
        reserve.clear();
        parts.forgetRows();
      } catch (cause) {
        show();
        throw cause;
      }
    },
    takeUp: () => {
      for (const { store_id: of, ...one } of reserve.read() as Reserved[]) {
        if (of !== store_id) continue;
        const size = JSON.stringify(one).length;
        held.push({ ...one, bytes: size });
        bytes += size;
      }
      show();
    },
    hide,
    show,
  };
};
