/** The journals of all sessions: in a directory, or in memory. */
import { randomUUID } from "node:crypto";
import { HoldfastError } from "../protocol/errors.ts";
import type { JournalEntry } from "./entries.ts";
import { createJournal, openJournal, readForBranch } from "./file-journal.ts";
import { type EngineJournal, memoryJournal } from "./journal.ts";

/** The session that a run wants. */
export interface WantedSession {
  readonly session?: string | undefined;
  readonly fork?: boolean | undefined;
}

export interface EngineJournals {
  /** Fails with SESSION_NOT_FOUND. */
  open(wanted: WantedSession): Promise<EngineJournal>;
}

export const fileJournals = (directory: string): EngineJournals => ({
  open: async ({ session, fork = false }) => {
    if (session === undefined) return createJournal(directory, randomUUID());
    if (!fork) return openJournal(directory, session);
    return createJournal(directory, randomUUID(), {
      session,
      entries: await readForBranch(directory, session),
    });
  },
});

/** Journals that outlive a run, and no program. */
export const memoryJournals = (): EngineJournals => {
  const known = new Map<string, JournalEntry[]>();
  const begin = (more: readonly JournalEntry[], forked_from?: string): EngineJournal => {
    const session = randomUUID();
    const first: JournalEntry = {
      type: "opened",
      session,
      ...(forked_from === undefined ? {} : { forked_from }),
    };
    const entries = [first, ...more];
    known.set(session, entries);
    return memoryJournal(entries);
  };
  return {
    open: async ({ session, fork = false }) => {
      if (session === undefined) return begin([]);
      const entries = known.get(session);
      if (entries === undefined)
        throw new HoldfastError("SESSION_NOT_FOUND", "session not found", { details: { session } });
      if (!fork) return memoryJournal(entries);
      const end = entries.findLastIndex(({ type }) => type === "ended");
      return begin(entries.slice(1, end + 1), session);
    },
  };
};
