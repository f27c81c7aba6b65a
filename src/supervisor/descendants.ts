/** Workers with all that their agents asked for, and theirs, and all that stood below a supervisor: each once, ended ones too. */
import type { EventLog } from "../store/port.ts";
import { pathsBelow } from "./tree/fold.ts";

export const withDescendants = (
  log: Pick<EventLog, "spawnedBy">,
  ids: readonly string[],
): readonly string[] => {
  const found = new Set(ids);
  // A set goes on over what is added to it.
  for (const id of found) for (const below of log.spawnedBy(id)) found.add(below);
  return [...found];
};

/** Without their descendants; those that a tree of this name had before it was taken down are of another tree. */
export const workersBelowPath = (log: EventLog, tree: string, path: string): readonly string[] => {
  const { since, paths } = pathsBelow(log, tree, path);
  return log.workersUnder([...paths]).flatMap((row) => (row.created_at >= since ? [row.id] : []));
};
