/** The tools that a run is told: those that its own profile and all above it name. */
import { describe, expect, it } from "vitest";
import { WorkerSpec } from "../../../src/protocol/worker.ts";
import { toolPolicyOf } from "../../../src/runtime/control/holders.ts";
import { commonTo, SKILL_LISTS } from "../../../src/skills/policy.ts";

const spec = (profile?: WorkerSpec["profile"], parent?: string) =>
  WorkerSpec.parse({ kind: "command", argv: ["true"], cwd: "/", restart: "temporary", profile, parent });
const specs: Readonly<Record<string, WorkerSpec>> = {
  top: spec("overseer"),
  middle: spec("companion", "top"),
  circle: spec("worker", "circle"),
};
const told = (one: WorkerSpec) => toolPolicyOf(SKILL_LISTS, (id) => specs[id], one);

describe("the tools", () => {
  it("are told to a run as what its own and all profiles above it name", () => {
    expect(told(spec("overseer"))).toEqual({
      profile: "overseer",
      allowed: SKILL_LISTS.overseer,
      timeout_ms: 60_000,
    });
    expect(told(spec("overseer", "middle")).allowed).toEqual(SKILL_LISTS.companion);
    expect(told(spec(undefined, "top"))).toMatchObject({ profile: "worker", allowed: SKILL_LISTS.worker });
    expect(told(spec("worker", "circle")).allowed).toEqual(SKILL_LISTS.worker);
    expect(told(spec("worker", "gone")).allowed).toEqual(SKILL_LISTS.worker);
  });

  it.each([
    [[], []],
    [[["a/b", "c/*"], []], []],
    [[["a/*"], ["a/b", "c/d"]], ["a/b"]],
    [
      [
        ["a/b", "c/d"],
        ["a/*", "c/*"],
      ],
      ["a/b", "c/d"],
    ],
    [[["a/*"], ["a/*"]], ["a/*"]],
    [
      [
        ["a/*", "x/y"],
        ["a/b", "x/*"],
        ["*/b", "x/y"],
      ],
      ["x/y"],
    ],
  ])("common to %j are %j", (lists, common) => {
    expect([...commonTo(lists)].sort()).toEqual(common);
  });
});
