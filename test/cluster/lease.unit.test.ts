/** A node's own lease, moment by moment. */
import { describe, expect, it } from "vitest";
import { CLUSTER_DRIFT_ROOM_MS, CLUSTER_LEASE_MS, CLUSTER_STOP_ROOM_MS } from "../../src/base/limits.ts";
import { leaseAtStart, mayRun, type NodeLease, nextLease } from "../../src/cluster/lease.ts";

const UNTIL = CLUSTER_LEASE_MS - CLUSTER_DRIFT_ROOM_MS;
const held: NodeLease = { phase: "held", term: 2, until_ms: UNTIL };
const stopping: NodeLease = { phase: "stopping", term: 2 };
const waiting: NodeLease = { phase: "waiting", term: 2 };

describe("the lease of a node", () => {
  it("counts from the sending of a renewal, however late its answer is", () => {
    expect(nextLease(waiting, { type: "granted", term: 2, sent_ms: 0 }, 3_000)).toEqual(held);
  });

  it("is never shortened by an answer that was overtaken", () => {
    const longer = nextLease(held, { type: "granted", term: 2, sent_ms: 2_000 }, 2_010);
    expect(nextLease(longer, { type: "granted", term: 2, sent_ms: 1_000 }, 2_020)).toEqual(longer);
  });

  it("ends in time for the slowest stop, and nothing starts from then on", () => {
    const last = UNTIL - CLUSTER_STOP_ROOM_MS;
    expect(nextLease(held, { type: "tick" }, last - 1)).toEqual(held);
    expect(mayRun(held, last - 1)).toBe(true);
    expect(nextLease(held, { type: "tick" }, last)).toEqual(stopping);
    expect(mayRun(held, last)).toBe(false);
  });

  it("is not renewed before the stop that has begun is done", () => {
    expect(nextLease(stopping, { type: "granted", term: 2, sent_ms: 5_000 }, 5_010)).toEqual(stopping);
    expect(nextLease(stopping, { type: "swept" }, 6_000)).toEqual(waiting);
  });

  it("takes no answer that is too old to run on", () => {
    expect(nextLease(waiting, { type: "granted", term: 2, sent_ms: 0 }, 6_000)).toEqual(waiting);
  });

  it("that is refused stops all, and the node then joins", () => {
    expect(nextLease(held, { type: "refused", term: 2 }, 1_000)).toEqual({ phase: "stopping", term: 0 });
    expect(nextLease(waiting, { type: "refused", term: 2 }, 1_000)).toEqual({ phase: "waiting", term: 0 });
    expect(nextLease(held, { type: "refused", term: 1 }, 1_000)).toEqual(held);
  });

  it.each([
    [
      "was never there: the machine is searched first",
      { term: 0, until_ms: null },
      0,
      { phase: "stopping", term: 0 },
    ],
    ["is over: so is it then", { term: 2, until_ms: UNTIL }, 7_000, stopping],
    ["goes on with the next daemon", { term: 2, until_ms: UNTIL }, 1_000, held],
  ] as const)("at the start of a daemon, one that %s", (_, kept, now, lease) => {
    expect(leaseAtStart(kept, now)).toEqual(lease);
  });
});
