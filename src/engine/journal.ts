/** The journal of a conversation: entries that are kept before the deed that they announce. */
import type { JournalEntry } from "./entries.ts";

export interface EngineJournal {
  /** All entries so far, in their order. */
  readonly entries: readonly JournalEntry[];
  /** Resolves once the entry survives a crash of the machine. Appends are made one after the other. */
  append(entry: JournalEntry): Promise<void>;
  close(): Promise<void>;
}

/** A journal that lives as long as its program. */
export const memoryJournal = (entries: JournalEntry[] = []): EngineJournal => ({
  entries,
  append: async (entry) => {
    entries.push(entry);
  },
  close: async () => {},
});
