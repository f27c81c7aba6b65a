/**
 * A node's own lease. It counts from the moment at which the renewal was sent, on a clock that goes on in a suspend, and ends early
 * enough for the slowest stop: what is placed on the node has ended before anybody else may start it. Pure.
 */
import {
  CLUSTER_DRIFT_ROOM_MS,
  CLUSTER_HEARTBEAT_MS,
  CLUSTER_LEASE_MS,
  CLUSTER_RETRY_MS,
  CLUSTER_STOP_ROOM_MS,
} from "../base/limits.ts";

export type NodeLease =
  /** By `until_ms` all that stops without a lease has ended. */
  | { readonly phase: "held"; readonly term: number; readonly until_ms: number }
  /** The runs are being ended, and the machine is searched for what they left. */
  | { readonly phase: "stopping"; readonly term: number }
  /** Nothing is left: the node may renew its term. 0 is none, so it joins. */
  | { readonly phase: "waiting"; readonly term: number };

/** Times are milliseconds of the node's clock. */
export type LeaseInput =
  | { readonly type: "tick" }
  | { readonly type: "granted"; readonly term: number; readonly sent_ms: number }
  /** The cluster does not know this term as one that lives. */
  | { readonly type: "refused"; readonly term: number }
  /** All runs that stop have ended, and a search found nothing more. */
  | { readonly type: "swept" };

/** The part that outlives a daemon, for the guard and for the next one. `until_ms` is null where no lease is held in this boot. */
export interface KeptLease {
  readonly term: number;
  readonly until_ms: number | null;
}

export const keptOf = (lease: NodeLease): KeptLease => ({
  term: lease.term,
  until_ms: lease.phase === "held" ? lease.until_ms : null,
});

export const leaseAtStart = ({ term, until_ms }: KeptLease, now: number): NodeLease =>
  until_ms === null || mustStop(until_ms, now)
    ? { phase: "stopping", term }
    : { phase: "held", term, until_ms };

/** From here on the runs must end, whoever sees it: the daemon or its guard. */
export const mustStop = (until_ms: number, now: number): boolean => now >= until_ms - CLUSTER_STOP_ROOM_MS;

/** Asked again in the instant of a start, since a process may stand still for any time before it. */
export const mayRun = (lease: NodeLease, now: number): boolean =>
  lease.phase === "held" && !mustStop(lease.until_ms, now);

/** The end of a lease that is counted from here. */
export const leaseFrom = (sent_ms: number): number => sent_ms + CLUSTER_LEASE_MS - CLUSTER_DRIFT_ROOM_MS;

export const nextLease = (lease: NodeLease, input: LeaseInput, now: number): NodeLease => {
  switch (input.type) {
    case "granted":
      return granted(lease, input, now);
    case "refused":
      if (input.term !== lease.term) return lease;
      return { phase: lease.phase === "waiting" ? "waiting" : "stopping", term: 0 };
    case "swept":
      return lease.phase === "stopping" ? { phase: "waiting", term: lease.term } : lease;
    case "tick":
      return lease.phase === "held" && mustStop(lease.until_ms, now)
        ? { phase: "stopping", term: lease.term }
        : lease;
  }
};

/** A stop that has begun is finished first, whatever arrives: half of the runs may have ended. */
const granted = (
  lease: NodeLease,
  { term, sent_ms }: { readonly term: number; readonly sent_ms: number },
  now: number,
): NodeLease => {
  const until_ms = leaseFrom(sent_ms);
  if (lease.phase === "stopping" || term < lease.term || mustStop(until_ms, now)) return lease;
  const isLonger = lease.phase === "held" && lease.term === term && lease.until_ms > until_ms;
  return isLonger ? lease : { phase: "held", term, until_ms };
};

/** When the next renewal is sent after one at `sent_ms`. One that failed is tried again sooner. */
export const nextRenewalAt = (sent_ms: number, isAnswered: boolean): number =>
  sent_ms + (isAnswered ? CLUSTER_HEARTBEAT_MS : CLUSTER_RETRY_MS);
