/** Start left to right, stop right to left (OTP Design Principles, Supervisor Behaviour). */
export const shutdownOrder = <A extends { readonly order: number }>(children: Iterable<A>): readonly A[] =>
  [...children].sort((a, b) => b.order - a.order);
