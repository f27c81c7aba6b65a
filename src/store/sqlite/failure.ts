/** Maps errors of SQLite and of the file system to the catalogue (promises R24, R25). */
import { asHoldfastError, type ErrorCode, HoldfastError } from "../../protocol/errors.ts";

const SENTENCES: Partial<Record<ErrorCode, string>> = {
  DISK_FULL: "The disk of the event log is full",
  STORE_CORRUPT: "The file of the event log is damaged or is not a database",
  LOCK_HELD: "Another process holds the event log's file",
  VERSION_CONFLICT: "Another writer has appended to the event log",
  PERMISSION_DENIED: "The file of the event log is not accessible",
  STORE_FAILED: "The event log cannot be read or written",
};

/** Next steps that differ from the catalogue's. */
const NEXT: Partial<Record<ErrorCode, string>> = {
  LOCK_HELD: "Close the program that has holdfast.db open; what waits is recorded then.",
};

const CODES: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^SQLITE_FULL/, "DISK_FULL"],
  [/^SQLITE_(CORRUPT|NOTADB)/, "STORE_CORRUPT"],
  [/^SQLITE_(BUSY|LOCKED)/, "LOCK_HELD"],
  [/^SQLITE_CONSTRAINT/, "VERSION_CONFLICT"],
  [/^SQLITE_/, "STORE_FAILED"],
  [/^(ENOSPC|EDQUOT)$/, "DISK_FULL"],
  [/^(EACCES|EPERM)$/, "PERMISSION_DENIED"],
  [/^E[A-Z]+$/, "STORE_FAILED"],
];

export const storeError = (cause: unknown): HoldfastError => {
  if (!(cause instanceof Error) || cause instanceof HoldfastError) return asHoldfastError(cause);
  if (cause.message === "The database connection is not open")
    return new HoldfastError("STORE_FAILED", "The event log is closed.", { cause });
  const name = "code" in cause ? String(cause.code) : "";
  const code =
    cause.message === "malformed JSON" ? "STORE_CORRUPT" : CODES.find(([pattern]) => pattern.test(name))?.[1];
  return code === undefined
    ? asHoldfastError(cause)
    : new HoldfastError(code, `${SENTENCES[code]}: ${cause.message} (${name}).`, {
        cause,
        ...(NEXT[code] && { suggestion: NEXT[code] }),
      });
};

/** True if the disk is full or fails. A stop does not wait for that. */
export const isOfTheDisk = ({ cause, code }: HoldfastError): boolean =>
  code === "DISK_FULL" ||
  (cause instanceof Error &&
    "code" in cause &&
    /^(SQLITE_IOERR|EIO$|ENOSPC$|EDQUOT$)/.test(String(cause.code)));

type MapError = (error: HoldfastError) => HoldfastError;

/** Wraps a function so that it throws only HoldfastErrors. `told` may replace them with more exact ones. */
export const guardedBy =
  (told: MapError) =>
  <A extends unknown[], R>(run: (...args: A) => R) =>
  (...args: A): R => {
    try {
      return run(...args);
    } catch (cause) {
      throw told(storeError(cause));
    }
  };

export const guarded = guardedBy((error) => error);
