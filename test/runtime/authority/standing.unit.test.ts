import { describe, expect, it } from "vitest";
import { type Caller, UNKNOWN, USER } from "../../../src/protocol/caller.ts";
import {
  type CallerStanding,
  type Deed,
  kinOf,
  refusalOf,
  refusalOfAll,
  refusalOfStart,
  refusalOfUnknown,
} from "../../../src/runtime/authority/standing.ts";

it.each([
  ["self", ["a"], ["a"]],
  ["below", ["a"], ["c", "b", "a"]],
  ["above", ["b", "a"], ["a"]],
  ["relative", ["b", "a"], ["c", "a"]],
  ["stranger", ["b", "a"], ["z", "y"]],
] as const)("%s", (kin, caller, target) => {
  expect(kinOf(caller, target)).toBe(kin);
});

const caller: Caller = { type: "worker", worker_id: "b", incarnation: 1 };
const standing = (given: Partial<CallerStanding> = {}): CallerStanding => ({
  caller,
  line: ["b", "a"],
  isReduced: false,
  isBounded: false,
  ending: undefined,
  ...given,
});
const TARGETS = {
  self: ["b", "a"],
  below: ["c", "b", "a"],
  above: ["a"],
  relative: ["d", "a"],
  stranger: ["z"],
} as const;

/** Whom it may do it to, with all rights of its user, and with less. */
const MAY: readonly (readonly [Deed, readonly string[], readonly string[]])[] = [
  ["kill", ["self", "below", "above", "relative", "stranger"], ["self", "below"]],
  ["pause", ["self", "below", "above", "relative", "stranger"], ["self", "below"]],
  ["restart", ["self", "below", "above", "relative", "stranger"], ["self", "below"]],
  ["cancel", ["self", "below", "above", "relative", "stranger"], ["self", "below"]],
  ["remove", ["self", "below", "above", "relative", "stranger"], ["self", "below"]],
  ["unpause", ["below", "relative", "stranger"], ["below"]],
  ["answer", ["below", "relative", "stranger"], ["below"]],
  ["approve", ["stranger"], []],
];

describe("a worker's agent, towards others,", () => {
  it.each(MAY)("%s", (deed, withAll, withLess) => {
    const mayDo = (isReduced: boolean) =>
      Object.entries(TARGETS)
        .filter(([, line]) => refusalOf(standing({ isReduced }), deed, { line, isDone: false }) === undefined)
        .map(([kin]) => kin);
    expect(mayDo(false)).toEqual(withAll);
    expect(mayDo(true)).toEqual(withLess);
  });

  it("says in the error who asked, and how the two stand", () => {
    const refused = refusalOf(standing(), "approve", { line: TARGETS.self, isDone: false });
    expect(refused).toMatchObject({
      code: "POLICY_VIOLATION",
      message: "Worker b may not answer a request for permission of itself.",
      info: { details: { by: "worker:b", worker_id: "b", kin: "self" } },
    });
  });

  it("a user is refused nothing here", () => {
    for (const [deed] of MAY)
      expect(
        refusalOf(standing({ caller: USER, line: [], isReduced: true }), deed, { line: ["a"], isDone: true }),
      ).toBeUndefined();
  });
});

describe("a kill is final", () => {
  it("nothing below what was killed starts it again; a user and a stranger do", () => {
    for (const kin of ["self", "above"] as const)
      expect(refusalOf(standing(), "restart", { line: TARGETS[kin], isDone: true })).toMatchObject({
        code: "INVALID_STATE",
      });
    expect(refusalOf(standing(), "restart", { line: TARGETS.stranger, isDone: true })).toBeUndefined();
    expect(refusalOf(standing(), "restart", { line: TARGETS.below, isDone: true })).toBeUndefined();
  });

  it("a worker that is being ended starts nothing, wakes nobody and brings no tree up, but may end others", () => {
    const ending = standing({ ending: "Worker b is being stopped" });
    expect(refusalOfStart(ending)).toMatchObject({ code: "INVALID_STATE" });
    expect(refusalOfAll(ending, "bring up a tree")).toMatchObject({ code: "INVALID_STATE" });
    for (const deed of ["restart", "unpause"] as const)
      expect(refusalOf(ending, deed, { line: TARGETS.below, isDone: false })).toMatchObject({
        code: "INVALID_STATE",
      });
    expect(refusalOf(ending, "kill", { line: TARGETS.below, isDone: false })).toBeUndefined();
    expect(refusalOfStart(standing())).toBeUndefined();
  });
});

it("a request that concerns all is refused to a worker with any bound", () => {
  expect(refusalOfAll(standing({ isBounded: true }), "stop the daemon")).toMatchObject({
    code: "POLICY_VIOLATION",
    message: "Worker b runs with reduced rights or a budget: it may not stop the daemon.",
  });
  expect(refusalOfAll(standing(), "stop the daemon")).toBeUndefined();
});

it("an unknown caller is refused as long as somebody is bounded whom it could be", () => {
  expect(refusalOfUnknown(UNKNOWN, () => true)).toMatchObject({ code: "POLICY_VIOLATION" });
  expect(refusalOfUnknown(UNKNOWN, () => false)).toBeUndefined();
  expect(refusalOfUnknown(USER, () => true)).toBeUndefined();
});
