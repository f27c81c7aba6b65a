/** The row of a worker in the cluster says what `agent up` does with it. */
import { describe, expect, it } from "vitest";
import { type OwnedRow, planTree } from "../../src/cluster/tree.ts";

const OWNER = { tree: "shop", file: "/shop/holdfast.yaml" };
const wanted = (worker: string, spec_digest = "1") => ({
  worker,
  spec_digest,
  on_partition: "stop" as const,
  needs: {},
});
const row = (worker: string, over: Partial<OwnedRow> = {}): OwnedRow => ({
  worker,
  desired: "running",
  spec_digest: "1",
  node: "b",
  worker_id: "W",
  why: null,
  over: null,
  is_over: over.desired === "ended",
  ...OWNER,
  ...over,
});
const NOBODY = { tree: null, file: null };

describe("a worker of the file", () => {
  it.each<[string, OwnedRow | undefined, string, { place?: boolean; replace?: boolean }]>([
    ["is new", undefined, "create", { place: true }],
    ["runs", row("far"), "unchanged", {}],
    ["runs with another spec", row("far", { spec_digest: "0" }), "restart", { place: true, replace: true }],
    ["has completed", row("far", { desired: "ended", over: "completed" }), "unchanged", {}],
    [
      "has completed with another spec",
      row("far", { desired: "ended", over: "completed", spec_digest: "0" }),
      "restart",
      { place: true },
    ],
    ["was killed by name", row("far", { desired: "ended", over: "killed" }), "kept_dead", {}],
    [
      "was killed, and has another spec",
      row("far", { desired: "killed", over: "killed", spec_digest: "0" }),
      "kept_dead",
      {},
    ],
    ["has failed for good", row("far", { desired: "ended" }), "start", { place: true }],
    ["could not be started", row("far", { desired: "ended", why: "no program" }), "start", { place: true }],
    ["ends for an `up` that was cut off", row("far", { desired: "killed" }), "start", { place: true }],
    [
      "has the name of an ended one",
      row("far", { desired: "ended", over: "killed", ...NOBODY }),
      "create",
      { place: true },
    ],
  ])("that %s", (_, before, action, { place = false, replace = false }) => {
    expect(planTree(OWNER, [wanted("far")], before === undefined ? [] : [before])).toMatchObject({
      changes: [{ path: "far", action }],
      remove: [],
      place: place ? ["far"] : [],
      replace: replace ? ["far"] : [],
    });
  });

  it("that is in the file no more is removed, however it stands", () => {
    const rows = [row("old"), row("dead", { desired: "ended", over: "killed" })];
    expect(planTree(OWNER, [wanted("far")], [...rows, row("far")])).toMatchObject({
      changes: [
        { path: "far", action: "unchanged" },
        { path: "old", action: "remove" },
        { path: "dead", action: "remove" },
      ],
      remove: ["old", "dead"],
      place: [],
    });
  });
});

describe("a name", () => {
  it("of a worker that somebody spawned is taken while it runs", () => {
    expect(planTree(OWNER, [wanted("far")], [row("far", NOBODY)])).toEqual({ worker: "far", owner: null });
  });

  it("of another tree's worker is taken", () => {
    const owner = { tree: "other", file: "/other.yaml" };
    expect(planTree(OWNER, [wanted("far")], [row("far", owner)])).toEqual({ worker: "far", owner });
  });

  it("of a tree belongs to its file, and a file that places nothing leaves another one's alone", () => {
    const owner = { tree: "shop", file: "/elsewhere/holdfast.yaml" };
    const rows = [row("old", owner)];
    expect(planTree(OWNER, [wanted("far")], rows)).toEqual({ worker: "old", owner });
    expect(planTree(OWNER, [], rows)).toEqual({ changes: [], remove: [], replace: [], place: [] });
  });
});
