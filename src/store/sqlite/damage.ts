/**
 * Decides whether a log that SQLite calls corrupt is really damaged. SQLite also says SQLITE_CORRUPT if the disk fails a
 * read with EIO, and people delete what is called damaged. So the file is first checked again on a separate connection.
 */
import type { Database } from "better-sqlite3";
import { DAMAGE_LOOK_MAX_BYTES, DAMAGE_LOOK_PERIOD_MS, STORE_BUSY_OPEN_MS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { openDatabase } from "./database.ts";

/** `unsure`: the file is too large to check while everybody waits. */
export type DamageVerdict = "damaged" | "whole" | "unreadable" | "unsure";

/** The low byte of SQLite's codes for disk errors. */
const IOERR = 10;

/** The verdict by the findings of `quick_check`. An unreadable page has the number of a disk error (`error code=8458`). */
export const verdictOf = (findings: readonly string[]): DamageVerdict => {
  if (findings.length === 1 && findings[0] === "ok") return "whole";
  const codes = findings.map((found) => Number(/error code=(\d+)/.exec(found)?.[1] ?? Number.NaN));
  return codes.some((code) => (code & 0xff) === IOERR) ? "unreadable" : "damaged";
};

const look = (file: string): DamageVerdict => {
  let db: Database | undefined;
  try {
    db = openDatabase(file, { readonly: true, timeout: STORE_BUSY_OPEN_MS });
    const number = (pragma: string): number => db?.pragma(pragma, { simple: true }) as number;
    if (number("page_count") * number("page_size") > DAMAGE_LOOK_MAX_BYTES) return "unsure";
    const found = db.pragma("quick_check") as { quick_check: string }[];
    return verdictOf(found.map(({ quick_check }) => quick_check));
  } catch (cause) {
    return cause instanceof Error && "code" in cause && /^SQLITE_IOERR/.test(String(cause.code))
      ? "unreadable"
      : "damaged";
  } finally {
    db?.close();
  }
};

const SENTENCES: Readonly<Record<Exclude<DamageVerdict, "damaged">, string>> = {
  whole: "The disk of the event log failed for a moment; the log was looked at again and is whole",
  unreadable: "The disk of the event log fails: pages of it cannot be read",
  unsure: "A page of the event log could not be read: the disk failed for a moment, or the page is damaged",
};

export const diskFails = (verdict: keyof typeof SENTENCES, cause?: unknown): HoldfastError =>
  new HoldfastError("STORE_FAILED", `${SENTENCES[verdict]} (SQLITE_CORRUPT).`, {
    cause: cause ?? Object.assign(new Error("the disk does not answer"), { code: "EIO" }),
    suggestion: "Keep the file. See the kernel's log about the disk, then: agent db check",
  });

const isCalledCorrupt = ({ code, cause }: HoldfastError): boolean =>
  code === "STORE_CORRUPT" &&
  cause instanceof Error &&
  "code" in cause &&
  /^SQLITE_CORRUPT/.test(String(cause.code));

/**
 * Returns the error itself or, after a check of the file, the true one. A check counts for DAMAGE_LOOK_PERIOD_MS, because a
 * damaged log may be read again and again.
 */
export const makeJudge = (file: string, now: () => number) => {
  let known: { readonly verdict: DamageVerdict; readonly at: number } | undefined;
  return (error: HoldfastError): HoldfastError => {
    if (!isCalledCorrupt(error)) return error;
    if (known === undefined || now() - known.at > DAMAGE_LOOK_PERIOD_MS)
      known = { verdict: look(file), at: now() };
    const { verdict } = known;
    if (verdict === "damaged") return error;
    return diskFails(verdict, error.cause);
  };
};
