/** A worker is named by id, by a unique prefix of it, or by --name: of a living worker first, else the newest that had it. Pure. */
import { HoldfastError } from "../protocol/errors.ts";
import { isEnded } from "../protocol/worker.ts";
import type { EventLog, WorkerRow } from "../store/port.ts";

/** Shorter prefixes would be guesses: a ULID's first characters are its time. */
export const PREFIX_MIN_CHARS = 4;
/** One more than are counted. */
export const PREFIX_FOUND_MAX = 101;
const SHOWN_MAX = 5;

/** Each by an index of its own: thousands of workers that have ended cost nothing. */
export type Workers = Pick<EventLog, "worker" | "named" | "withPrefix" | "living">;

export const resolveRef = (log: Workers, ref: string): WorkerRow | HoldfastError => {
  const exact = log.worker(ref.toUpperCase());
  if (exact !== undefined) return exact;
  const named = log.named(ref);
  const newest = named.find((row) => !isEnded(row.state)) ?? named[0];
  if (newest !== undefined) return newest;
  const matching = ref.length >= PREFIX_MIN_CHARS ? log.withPrefix(ref.toUpperCase(), PREFIX_FOUND_MAX) : [];
  if (matching.length === 1) return matching[0] as WorkerRow;
  if (matching.length === 0)
    return new HoldfastError(
      "WORKER_NOT_FOUND",
      `No worker has the id or name "${ref}".`,
      hintOf(log.living(), ref, log.withPrefix(ref.toUpperCase(), 1).length > 0),
    );
  return ambiguous(
    ref,
    matching.map((row) => (row.name === null ? row.id : `${row.id} (${row.name})`)),
  );
};

/** `found`: what has an id that begins so, newest first, at most PREFIX_FOUND_MAX of them. */
export const ambiguous = (ref: string, found: readonly string[]): HoldfastError => {
  const count = found.length === PREFIX_FOUND_MAX ? `more than ${PREFIX_FOUND_MAX - 1}` : found.length;
  const shown = found.slice(0, SHOWN_MAX).reverse().join(", ");
  const more = found.length > SHOWN_MAX ? ", …" : "";
  return new HoldfastError("AMBIGUOUS_ID", `"${ref}" is the beginning of ${count} ids: ${shown}${more}.`);
};

export const TOO_SHORT = `The beginning of an id needs ${PREFIX_MIN_CHARS} characters or more.`;

/** A worker of a file is named by its whole path; who gives the last part of it is told the rest. `begins`: an id does so with it. */
const hintOf = (
  living: readonly WorkerRow[],
  ref: string,
  begins: boolean,
): { readonly suggestion?: string } => {
  const paths = new Set(living.flatMap(({ name }) => (name?.endsWith(`/${ref}`) ? [name] : [])));
  if (paths.size === 0) return begins ? { suggestion: TOO_SHORT } : {};
  const shown = [...paths].slice(0, SHOWN_MAX).join(", ");
  return {
    suggestion: `A worker of a file is named by its path: ${shown}${paths.size > SHOWN_MAX ? ", …" : ""}.`,
  };
};
