/**
 * Finds a worker by its id, by a unique prefix of it, or by its name: a living worker's first, else that of the newest that
 * had it. Pure.
 */

import { nearest } from "../base/suggest.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { isEnded } from "../protocol/worker.ts";
import type { Views, WorkerRow } from "../store/views.ts";

/** A shorter prefix would be a guess: a ULID's first characters are its time. */
export const PREFIX_MIN_CHARS = 4;
/** One more than an error message counts. */
export const PREFIX_FOUND_MAX = 101;
const SHOWN_MAX = 5;
/** How many of the newest workers' names are compared with an unknown one. */
const NAMES_COMPARED_MAX = 1_000;

/** Each look-up has an index, so thousands of ended workers cost nothing. */
export type WorkerLookup = Pick<Views, "worker" | "named" | "withPrefix" | "living" | "newestNames">;

export const resolveRef = (views: WorkerLookup, ref: string): WorkerRow | HoldfastError => {
  const exact = views.worker(ref.toUpperCase());
  if (exact !== undefined) return exact;
  const named = views.named(ref);
  const newest = named.find((row) => !isEnded(row.state)) ?? named[0];
  if (newest !== undefined) return newest;
  const matching =
    ref.length >= PREFIX_MIN_CHARS ? views.withPrefix(ref.toUpperCase(), PREFIX_FOUND_MAX) : [];
  if (matching.length === 1) return matching[0] as WorkerRow;
  if (matching.length === 0)
    return new HoldfastError(
      "WORKER_NOT_FOUND",
      `No worker has the id or name "${ref}".`,
      hintOf(views, ref),
    );
  return ambiguous(
    ref,
    matching.map((row) => (row.name === null ? row.id : `${row.id} (${row.name})`)),
  );
};

/** The error for an ambiguous prefix. `found`: the ids that begin with it, newest first, at most PREFIX_FOUND_MAX. */
export const ambiguous = (ref: string, found: readonly string[]): HoldfastError => {
  const count = found.length === PREFIX_FOUND_MAX ? `more than ${PREFIX_FOUND_MAX - 1}` : found.length;
  const shown = found.slice(0, SHOWN_MAX).reverse().join(", ");
  const more = found.length > SHOWN_MAX ? ", …" : "";
  return new HoldfastError("AMBIGUOUS_ID", `"${ref}" is a prefix of ${count} ids: ${shown}${more}.`);
};

export const TOO_SHORT = `A prefix of an id needs at least ${PREFIX_MIN_CHARS} characters.`;

/** The suggestion for an unknown name. If it is the last part of the path of a file's worker, it names the whole path. */
const hintOf = (views: WorkerLookup, ref: string): { readonly suggestion?: string } => {
  const living = views.living().flatMap(({ name }) => name ?? []);
  const all = [...new Set([...living, ...views.newestNames(NAMES_COMPARED_MAX)])];
  const paths = all.filter((name) => name.endsWith(`/${ref}`));
  if (paths.length > 0) {
    const shown = paths.slice(0, SHOWN_MAX).join(", ");
    const more = paths.length > SHOWN_MAX ? ", …" : "";
    return { suggestion: `A worker of a file is named by its path: ${shown}${more}.` };
  }
  const near = nearest(ref, living);
  if (near !== undefined) return { suggestion: `Did you mean ${near}? See all with: agent list` };
  const ended = nearest(ref, all);
  if (ended !== undefined) return { suggestion: `Did you mean ${ended}? See all with: agent list --all` };
  return views.withPrefix(ref.toUpperCase(), 1).length > 0 ? { suggestion: TOO_SHORT } : {};
};

/** By its id, or by the beginning of one or several. */
export const namesApproval = (
  views: Pick<Views, "approval" | "approvalsWithPrefix">,
  ref: string,
): boolean => {
  const id = ref.toUpperCase();
  if (views.approval(id) !== undefined) return true;
  return ref.length >= PREFIX_MIN_CHARS && views.approvalsWithPrefix(id, 1).length > 0;
};
