/** Workers with everything that their agents spawned, at any depth: each once, ended ones included. */
import type { Views } from "../store/views.ts";

export const withDescendants = (
  views: Pick<Views, "spawnedBy">,
  ids: readonly string[],
): readonly string[] => {
  const found = new Set(ids);
  // Iteration over a set includes elements that are added meanwhile.
  for (const id of found) for (const below of views.spawnedBy(id)) found.add(below);
  return [...found];
};
