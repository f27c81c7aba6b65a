/** Mistakes that somebody could make in the store or the shell of a cluster. The simulator must find each of them. */
export const MISTAKES = {
  no_for_share: "a write about a worker reads its placement without a lock",
  late_renew: "a lease counts from the answer of a renewal instead of its sending",
  skipped_sweep: "a node begins without the search for what an earlier run left",
  stale_start: "a start does not look at the lease in its last instant",
  no_guard: "only the daemon ends runs whose lease is over",
  blind_burial: "a node is buried although its beat has moved",
  late_release: "a release does not look whether the worker was started since it was sent",
  claim_over_tombstone: "a claim does not look whether the worker was killed",
  early_acknowledgement: "a copied record is acknowledged before its transaction is durable",
} as const;

export type Mistake = keyof typeof MISTAKES;
