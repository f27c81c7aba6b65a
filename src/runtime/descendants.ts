/** Workers with all that their agents asked for, and theirs: each once, ended ones too. */
import type { Views } from "../store/views.ts";

export const withDescendants = (
  views: Pick<Views, "spawnedBy">,
  ids: readonly string[],
): readonly string[] => {
  const found = new Set(ids);
  // A set goes on over what is added to it.
  for (const id of found) for (const below of views.spawnedBy(id)) found.add(below);
  return [...found];
};
