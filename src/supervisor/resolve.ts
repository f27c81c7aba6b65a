/** A worker is named by id, by a unique prefix of it, or by --name: of a living worker first, else the newest that had it. Pure. */
import { HoldfastError } from "../protocol/errors.ts";
import { isEnded } from "../protocol/worker.ts";
import type { WorkerRow } from "../store/port.ts";

/** Shorter prefixes would be guesses: a ULID's first characters are its time. */
const PREFIX_MIN_CHARS = 4;
const SHOWN_MAX = 5;

export const resolveRef = (rows: readonly WorkerRow[], ref: string): WorkerRow | HoldfastError => {
  const exact = rows.find((row) => row.id === ref.toUpperCase());
  if (exact !== undefined) return exact;
  const named = rows.filter((row) => row.name === ref);
  const living = named.find((row) => !isEnded(row.state));
  const newest = living ?? named.at(-1);
  if (newest !== undefined) return newest;
  const prefix = ref.toUpperCase();
  const matching = ref.length >= PREFIX_MIN_CHARS ? rows.filter((row) => row.id.startsWith(prefix)) : [];
  if (matching.length === 1) return matching[0] as WorkerRow;
  if (matching.length === 0)
    return new HoldfastError("WORKER_NOT_FOUND", `No worker has the id or name "${ref}".`, hintOf(rows, ref));
  const shown = matching
    .slice(-SHOWN_MAX)
    .map((row) => (row.name === null ? row.id : `${row.id} (${row.name})`));
  return new HoldfastError(
    "AMBIGUOUS_ID",
    `"${ref}" is the beginning of ${matching.length} ids: ${shown.join(", ")}${matching.length > SHOWN_MAX ? ", …" : ""}.`,
  );
};

/** A worker of a file is named by its whole path; who gives the last part of it is told the rest. */
const hintOf = (rows: readonly WorkerRow[], ref: string): { readonly suggestion?: string } => {
  const paths = new Set(
    rows.flatMap(({ name, state }) => (name?.endsWith(`/${ref}`) && !isEnded(state) ? [name] : [])),
  );
  if (paths.size === 0) return {};
  const shown = [...paths].slice(0, SHOWN_MAX).join(", ");
  return {
    suggestion: `A worker of a file is named by its path: ${shown}${paths.size > SHOWN_MAX ? ", …" : ""}.`,
  };
};
