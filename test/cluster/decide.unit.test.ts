/** One node: what it does when something happens. */
import { describe, expect, it } from "vitest";
import {
  CLUSTER_BEGINNING_MAX,
  CLUSTER_HEARTBEAT_MS,
  CLUSTER_LEASE_MS,
  CLUSTER_LOOK_MS,
} from "../../src/base/limits.ts";
import { decideMember, memberAtStart } from "../../src/cluster/decide.ts";
import { leaseFrom } from "../../src/cluster/lease.ts";
import type { ClusterMember, MemberCommand, MemberInput } from "../../src/cluster/member.ts";
import type { ClusterView, Placement } from "../../src/cluster/rows.ts";
import { nodeInView as node, placement as placed } from "./support/rows.ts";

/** A node with a lease from 0 on, and all that it was told to do. */
class Node {
  member: ClusterMember;
  readonly commands: MemberCommand[] = [];

  constructor(sent_ms = 0) {
    const lease = { phase: "held", term: 1, until_ms: leaseFrom(sent_ms) } as const;
    this.member = memberAtStart("me", lease, []).member;
  }

  takes(input: MemberInput, now: number): readonly MemberCommand[] {
    const { member, commands } = decideMember(this.member, input, now);
    this.member = member;
    this.commands.push(...commands);
    return commands;
  }

  sees(view: ClusterView, now: number): readonly MemberCommand[] {
    this.member = { ...this.member, look: { asked_ms: now, isOpen: true } };
    return this.takes({ type: "looked", asked_ms: now, view }, now);
  }
}

const types = (commands: readonly MemberCommand[]): readonly string[] => commands.map(({ type }) => type);
const alone = (placement: Placement): ClusterView => ({ nodes: [node("me")], placements: [placement] });
const w = { worker: "w", term: 3 };

describe("a node of a cluster", () => {
  it("searches the machine, asks the store, and only then starts", () => {
    const me = new Node();
    expect(me.sees(alone(placed()), 100)).toEqual([{ type: "sweep", ...w }]);
    expect(me.takes({ type: "swept", ...w }, 200)).toEqual([{ type: "begin", ...w }]);
    expect(me.takes({ type: "begun", ...w, isTrue: true }, 300)).toEqual([{ type: "launch", ...w }]);
    expect(me.sees(alone(placed()), 400)).toEqual([]);
  });

  const many = (over: Partial<Placement>): ClusterView => ({
    nodes: [node("me", { capacity: 1_000 })],
    placements: Array.from({ length: CLUSTER_BEGINNING_MAX + 20 }, (_, at) =>
      placed({ worker: `w${1_000 + at}`, ...over }),
    ),
  });

  it("begins so many at once that it has turns for its lease, and the others as these were told to start", () => {
    const me = new Node();
    const first = me.sees(many({}), 100);
    expect(new Set(types(first))).toEqual(new Set(["sweep"]));
    expect(first.length).toBe(CLUSTER_BEGINNING_MAX);
    expect(me.sees(many({}), 200)).toEqual([]);
    for (const command of first.slice(0, 7))
      if (command.type === "sweep") me.takes({ ...command, type: "swept" }, 300);
    expect(me.sees(many({}), 400)).toEqual([]);
    for (const command of first.slice(0, 7))
      if (command.type === "sweep") me.takes({ ...command, type: "begun", isTrue: true }, 500);
    expect(me.sees(many({}), 600).length).toBe(7);
  });

  it("claims no more at once than it may begin", () => {
    const me = new Node();
    const claimed = me.sees(many({ node: null, node_term: null }), 100);
    expect(new Set(types(claimed))).toEqual(new Set(["claim"]));
    expect(claimed.length).toBe(CLUSTER_BEGINNING_MAX);
    const own = many({});
    me.sees(own, 200);
    const free = placed({ worker: "free", node: null, node_term: null });
    expect(me.sees({ ...own, placements: [...own.placements, free] }, 300)).toEqual([]);
  });

  it("starts nothing where the answer comes too late, or says no", () => {
    for (const [now, isTrue] of [
      [CLUSTER_LEASE_MS, true],
      [300, false],
    ] as const) {
      const me = new Node();
      me.sees(alone(placed()), 100);
      me.takes({ type: "swept", ...w }, 200);
      expect(me.takes({ type: "begun", ...w, isTrue }, now)).toEqual([]);
    }
  });

  const stops = (me: Node): void => {
    me.member = { ...me.member, isStopping: true };
  };

  it("takes and begins nothing while its daemon is being stopped", () => {
    const me = new Node();
    stops(me);
    expect(me.sees(alone(placed()), 100)).toEqual([]);
    expect(me.sees(alone(placed({ node: null, node_term: null })), 200)).toEqual([]);
  });

  it("gives back the worker that it was about to begin when the stop of its daemon began", () => {
    const me = new Node();
    me.sees(alone(placed()), 100);
    stops(me);
    expect(me.takes({ type: "swept", ...w }, 200)).toMatchObject([{ type: "release", ...w }]);
    const later = new Node();
    later.sees(alone(placed()), 100);
    later.takes({ type: "swept", ...w }, 200);
    stops(later);
    expect(later.takes({ type: "begun", ...w, isTrue: true }, 300)).toEqual([]);
  });

  const started = (): Node => {
    const me = new Node();
    me.sees(alone(placed()), 100);
    me.takes({ type: "swept", ...w }, 200);
    me.takes({ type: "begun", ...w, isTrue: true }, 300);
    return me;
  };

  it.each([
    ["killed", placed({ desired: "killed" })],
    ["ended", placed({ desired: "ended" })],
    ["placed elsewhere", placed({ node: "other", term: 4 })],
    ["claimed again", placed({ term: 4 })],
  ])("stops what was %s", (_, placement) => {
    expect(started().sees(alone(placement), 400)).toContainEqual({ type: "stop", ...w });
  });

  it("moves a worker in a drain: stop, search, release", () => {
    const me = started();
    const view = { nodes: [node("me", { state: "draining" as const })], placements: [placed()] };
    expect(me.sees(view, 400)).toEqual([{ type: "stop", ...w }]);
    me.takes({ type: "ended", ...w }, 500);
    expect(me.sees(view, 600)).toEqual([{ type: "sweep", ...w }]);
    expect(me.takes({ type: "swept", ...w }, 700)).toEqual([{ type: "release", ...w, starts: 0 }]);
  });

  it("leaves in a drain what can start nowhere else", () => {
    const view = {
      nodes: [node("me", { state: "draining" as const })],
      placements: [placed({ needs: null })],
    };
    expect(started().sees(view, 400)).toEqual([]);
  });

  it("keeps what went on without a lease, in its new term", () => {
    const old = placed({ on_partition: "continue", node_term: 0 });
    expect(new Node().sees(alone(old), 100)).toEqual([{ type: "adopt", ...w }]);
  });

  it("takes what is free only for itself, and only with a lease", () => {
    const free = alone(placed({ node: null, node_term: null }));
    expect(new Node().sees(free, 100)).toEqual([{ type: "claim", ...w }]);
    expect(new Node().sees(free, CLUSTER_LEASE_MS)).toEqual([]);
  });

  it("leaves to another what is the other's turn", () => {
    const free = (worker: string): Placement => placed({ worker, node: null, node_term: null });
    const view = { nodes: [node("me"), node("other")], placements: [free("b"), free("c"), free("a")] };
    expect(new Node().sees(view, 100).map((command) => "worker" in command && command.worker)).toEqual([
      "a",
      "c",
    ]);
  });

  it("renews on time, looks often, and stops all before its lease is over", () => {
    const me = new Node();
    expect(types(me.takes({ type: "tick" }, 0))).toEqual(["renew", "look"]);
    me.takes({ type: "granted", term: 1, sent_ms: 0 }, 10);
    me.takes({ type: "looked", asked_ms: 0, view: alone(placed({ node: "other" })) }, 10);
    expect(types(me.takes({ type: "tick" }, CLUSTER_LOOK_MS))).toEqual(["look"]);
    expect(types(me.takes({ type: "tick" }, CLUSTER_HEARTBEAT_MS))).toEqual(["renew"]);
    expect(types(me.takes({ type: "tick" }, CLUSTER_LEASE_MS))).toEqual(["stop_all"]);
    me.takes({ type: "renewal_failed", sent_ms: CLUSTER_HEARTBEAT_MS }, CLUSTER_LEASE_MS);
    expect(types(me.takes({ type: "tick" }, CLUSTER_LEASE_MS + 100))).not.toContain("renew");
    me.takes({ type: "stopped_all" }, CLUSTER_LEASE_MS + 200);
    expect(types(me.takes({ type: "tick" }, CLUSTER_LEASE_MS + 200))).toContain("renew");
  });

  it("joins after a refusal, once all has stopped", () => {
    const me = new Node();
    me.takes({ type: "tick" }, 0);
    expect(types(me.takes({ type: "refused", term: 1, sent_ms: 0 }, 10))).toEqual(["stop_all"]);
    me.takes({ type: "stopped_all" }, 1_000);
    expect(me.takes({ type: "tick" }, 1_000)).toContainEqual({ type: "join", sent_ms: 1_000 });
  });
});
