/** Rows of several hosts, of which some are one: a question of a cluster is a row of each of its nodes. Pure. */

/** The first of those with the same `shared_id`; a row without one is its host's own. */
export const eachOnce = <Row extends object>(rows: readonly Row[]): readonly Row[] => {
  const seen = new Set<unknown>();
  return rows.filter((row) => {
    const { shared_id } = row as { readonly shared_id?: unknown };
    if (shared_id === undefined) return true;
    const isFirst = !seen.has(shared_id);
    seen.add(shared_id);
    return isFirst;
  });
};
