import { describe, expect, it } from "vitest";
import { limitsOf } from "../../../src/daemon/limits.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import {
  type Ancestor,
  ancestorsOf,
  comesBefore,
  type Fleet,
  isSlotFree,
  LIMITS,
  type Limits,
  queueReason,
  refusalOf,
  type SeatRequest,
} from "../../../src/supervisor/admission/seats.ts";

const limits: Limits = { ...LIMITS, running_max: 4, depth_max: 3, live_max: 100 };
const chain = (...own: readonly Partial<Ancestor>[]): readonly Ancestor[] =>
  own.map((each, at) => ({ id: `a${at}`, ...each }));
const ask = (over: Partial<SeatRequest> = {}): SeatRequest => ({
  priority: "normal",
  ancestors: [],
  ...over,
});
const fleet = (over: Partial<Fleet> = {}): Fleet => ({
  live: 0,
  running: 0,
  holdsSlot: () => false,
  below: () => 0,
  ...over,
});
const denied = (asked: SeatRequest, full: Fleet = fleet()) => {
  const refused = refusalOf(asked, limits, full);
  return refused && [refused.code, refused.info.details?.reason_code];
};

describe("a spawn is denied with its reason code", () => {
  it.each([
    ["at the depth that is allowed", ask({ ancestors: chain({}, {}, {}) }), undefined],
    [
      "one deeper",
      ask({ ancestors: chain({}, {}, {}, {}) }),
      ["DEPTH_LIMIT_EXCEEDED", "depth_limit_exceeded"],
    ],
    [
      "deeper than one above it allows",
      ask({ ancestors: chain({}, { max_depth: 1 }) }),
      ["LOCAL_LIMIT_EXCEEDED", "local_limit_exceeded"],
    ],
    [
      "asking for more depth than the daemon has",
      ask({ max_depth: 4 }),
      ["POLICY_VIOLATION", "policy_violation"],
    ],
    [
      "asking for more depth than one above it has",
      ask({ ancestors: chain({ max_depth: 2 }), max_depth: 3 }),
      ["POLICY_VIOLATION", "policy_violation"],
    ],
    [
      "asking for as much as one above it has",
      ask({ ancestors: chain({ max_depth: 2 }), max_depth: 2 }),
      undefined,
    ],
    [
      "asking for more at once than the tightest above it has",
      ask({ ancestors: chain({ max_concurrency: 4 }, { max_concurrency: 2 }), max_concurrency: 3 }),
      ["POLICY_VIOLATION", "policy_violation"],
    ],
    [
      "asking for more at once than the daemon has",
      ask({ max_concurrency: 5 }),
      ["POLICY_VIOLATION", "policy_violation"],
    ],
    [
      "below one that may spawn nothing",
      ask({ ancestors: chain({ max_concurrency: 0 }) }),
      ["LOCAL_LIMIT_EXCEEDED", "local_limit_exceeded"],
    ],
  ] as const)("%s", (_title, asked, answer) => {
    expect(denied(asked)).toEqual(answer);
  });

  it("when the daemon supervises no more", () => {
    expect(denied(ask(), fleet({ live: 100 }))).toEqual(["RESOURCE_EXHAUSTED", "resource_exhausted"]);
  });

  it("when workers that may wait for it hold every slot that it could get", () => {
    const held = fleet({ running: 4, holdsSlot: () => true });
    const tight = { ...limits, running_max: 2 };
    expect(refusalOf(ask({ ancestors: chain({}, {}) }), tight, held)?.code).toBe("RESOURCE_EXHAUSTED");
    expect(refusalOf(ask({ ancestors: chain({}) }), tight, held)).toBeUndefined();
    const below = ask({ ancestors: chain({}, { max_concurrency: 1 }) });
    expect(denied(below, held)).toEqual(["LOCAL_LIMIT_EXCEEDED", "local_limit_exceeded"]);
    // The one between has ended: its slot is free.
    expect(denied(below)).toBeUndefined();
  });

  it("and each denial says what to do", () => {
    const refused = refusalOf(ask({ max_depth: 9 }), limits, fleet()) as HoldfastError;
    expect(refused.suggestion).toBe("Ask for at most 3, or leave max_depth out.");
  });
});

describe("a slot", () => {
  it("is free below the daemon's bound and below that of every ancestor", () => {
    expect(isSlotFree(ask(), limits, fleet({ running: 3 }))).toBe(true);
    expect(isSlotFree(ask(), limits, fleet({ running: 4 }))).toBe(false);
    const nested = ask({ ancestors: chain({ max_concurrency: 3 }, { max_concurrency: 2 }) });
    expect(isSlotFree(nested, limits, fleet({ below: () => 1 }))).toBe(true);
    expect(isSlotFree(nested, limits, fleet({ below: (id) => (id === "a1" ? 2 : 0) }))).toBe(false);
  });
});

describe("the queue", () => {
  it("goes by priority, then by arrival", () => {
    const waiting = (["background", "normal", "critical", "low", "high", "normal"] as const).map(
      (priority, arrival) => ({ priority, arrival }),
    );
    const order = [...waiting].sort((a, b) => (comesBefore(a, b) ? -1 : 1)).map(({ arrival }) => arrival);
    expect(order).toEqual([2, 4, 1, 5, 3, 0]);
  });

  it("is told as a reason", () => {
    expect(queueReason({ place: 3, priority: "normal", waits_for: "slot" })).toBe(
      "queued: place 3, priority normal, waits for a slot",
    );
  });
});

describe("ancestors", () => {
  const tree: Record<string, { parent?: string; max_depth?: number }> = {
    a: {},
    b: { parent: "a", max_depth: 2 },
    c: { parent: "b" },
    x: { parent: "y" },
    y: { parent: "x" },
  };
  const specOf = (id: string) => tree[id];

  it("are the parent and those above it, nearest first, with their limits", () => {
    expect(ancestorsOf("c", specOf)).toMatchObject([{ id: "c" }, { id: "b", max_depth: 2 }, { id: "a" }]);
    expect(ancestorsOf(undefined, specOf)).toEqual([]);
  });

  it("end where the chain does, or comes round", () => {
    expect(ancestorsOf("gone", specOf)).toEqual([]);
    expect(ancestorsOf("x", specOf).map(({ id }) => id)).toEqual(["x", "y"]);
  });
});

describe("the daemon's limits", () => {
  it("are read from its environment", () => {
    expect(
      limitsOf({
        HOLDFAST_MAX_RUNNING: "7",
        HOLDFAST_MAX_DEPTH: "0",
        HOLDFAST_MEM_MIN: "512M",
        HOLDFAST_DISK_MIN: "1G",
      }),
    ).toEqual({
      running_max: 7,
      depth_max: 0,
      mem_min_bytes: 512 * 1024 * 1024,
      disk_min_bytes: 1024 ** 3,
    });
    expect(limitsOf({ HOLDFAST_MAX_RUNNING: "" })).toEqual({});
  });

  it.each([
    ["HOLDFAST_MAX_RUNNING", "0"],
    ["HOLDFAST_MAX_RUNNING", "many"],
    ["HOLDFAST_MAX_DEPTH", "-1"],
    ["HOLDFAST_MEM_MIN", "256 MB"],
    ["HOLDFAST_DISK_MIN", "much"],
  ])("%s=%s stops the daemon with a sentence", (name, value) => {
    expect(() => limitsOf({ [name]: value })).toThrowError(HoldfastError);
    expect(() => limitsOf({ [name]: value })).toThrowError(name);
  });
});
