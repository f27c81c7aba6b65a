/** A journal in a file: one line of JSON an entry. The next opening cuts away a last line that a crash tore off. */
import { constants } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { ENGINE_JOURNAL_MAX_BYTES } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { JournalEntry } from "./entries.ts";
import type { EngineJournal } from "./journal.ts";

/** A session id is the name of a file. */
const SESSION_FORM = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

const notFound = (session: string, cause?: unknown): HoldfastError =>
  new HoldfastError("SESSION_NOT_FOUND", "session not found", { details: { session }, cause });

const fileOf = (directory: string, session: string): string => {
  if (!SESSION_FORM.test(session)) throw notFound(session);
  return join(directory, `${session}.jsonl`);
};

interface WholeLines {
  readonly entries: JournalEntry[];
  /** Bytes of the whole lines. */
  readonly end: number;
}

/** Undefined if a whole line is no entry: the file is damaged. */
const linesOf = (bytes: Buffer): WholeLines | undefined => {
  const end = bytes.lastIndexOf(0x0a) + 1;
  try {
    const lines = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
    return { entries: lines.map((line) => JSON.parse(line) as JournalEntry), end };
  } catch {
    return undefined;
  }
};

const journalOf = (file: FileHandle, entries: JournalEntry[]): EngineJournal => {
  let last: Promise<void> = Promise.resolve();
  const write = async (entry: JournalEntry): Promise<void> => {
    await file.appendFile(`${JSON.stringify(entry)}\n`);
    await file.datasync();
    entries.push(entry);
  };
  return {
    entries,
    append: (entry) => {
      last = last.then(() => write(entry));
      return last;
    },
    close: async () => {
      await last.catch(() => undefined);
      await file.close();
    },
  };
};

/** Makes the directory and the directory's entry of the file durable. */
const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, constants.O_RDONLY);
  await handle.datasync().finally(() => handle.close());
};

/** Begins the journal of a new session. `before` are entries of the session that it branches. */
export const createJournal = async (
  directory: string,
  session: string,
  before?: { readonly session: string; readonly entries: readonly JournalEntry[] },
): Promise<EngineJournal> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = fileOf(directory, session);
  const file = await open(path, "ax", 0o600);
  const first: JournalEntry =
    before === undefined
      ? { type: "opened", session }
      : { type: "opened", session, forked_from: before.session };
  const entries = [first, ...(before?.entries.filter(({ type }) => type !== "opened") ?? [])];
  await file.appendFile(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  await file.datasync();
  await syncDirectory(directory);
  return journalOf(file, entries);
};

/** Opens the journal of a session again. Fails with SESSION_NOT_FOUND if there is none, or if it is damaged. */
export const openJournal = async (directory: string, session: string): Promise<EngineJournal> => {
  const path = fileOf(directory, session);
  const file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW).catch(
    (cause) => {
      throw notFound(session, cause);
    },
  );
  try {
    const { size } = await file.stat();
    if (size > ENGINE_JOURNAL_MAX_BYTES) throw notFound(session);
    const found = linesOf(await file.readFile());
    if (found === undefined || found.entries[0]?.type !== "opened") throw notFound(session);
    if (found.end < size) await file.truncate(found.end);
    return journalOf(file, found.entries);
  } catch (cause) {
    await file.close();
    throw cause;
  }
};

/** The entries of a session up to the end of its last whole turn, for a branch. */
export const readForBranch = async (directory: string, session: string): Promise<readonly JournalEntry[]> => {
  const journal = await openJournal(directory, session);
  await journal.close();
  const end = journal.entries.findLastIndex(({ type }) => type === "ended");
  return journal.entries.slice(0, end + 1);
};
