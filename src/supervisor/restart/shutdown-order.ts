/**
 * The shutdown order of the workers of `agent spawn`: they are children of a dynamic supervisor, and such are stopped at once (OTP's
 * simple_one_for_one, docs/decisions/0011). Only what an agent has spawned itself is stopped before it.
 */
interface Child {
  readonly id: string;
  /** Place in the start order. */
  readonly order: number;
  readonly spec: { readonly parent?: string | undefined };
}

/** Waves, one to be stopped after the other; in each, who was started last comes first. */
export const shutdownOrder = <A extends Child>(children: Iterable<A>): readonly (readonly A[])[] => {
  const byId = new Map([...children].map((child) => [child.id, child]));
  const waves: A[][] = [];
  for (const child of [...byId.values()].sort((a, b) => b.order - a.order)) {
    let depth = 0;
    for (let above = parentOf(byId, child); above !== undefined; above = parentOf(byId, above)) depth += 1;
    for (let have = waves.length; have <= depth; have += 1) waves.push([]);
    waves[depth]?.push(child);
  }
  return waves.reverse();
};

const parentOf = <A extends Child>(byId: ReadonlyMap<string, A>, { spec }: A): A | undefined =>
  spec.parent === undefined ? undefined : byId.get(spec.parent);
