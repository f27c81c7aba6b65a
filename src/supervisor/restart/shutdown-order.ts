/**
 * The order in which workers of `agent spawn` are stopped. They are children of a dynamic supervisor, whose children are
 * stopped all at once (OTP's simple_one_for_one, docs/decisions/0011). Only workers that an agent has spawned are stopped
 * before that agent.
 */
interface Child {
  readonly id: string;
  /** Place in the start order. */
  readonly order: number;
  readonly spec: { readonly parent?: string | undefined };
}

/** Waves to stop one after the other; within a wave, the last started comes first. */
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
