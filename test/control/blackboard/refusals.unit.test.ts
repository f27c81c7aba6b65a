/** The words of a refusal: the item, its holder, and the next step. */
import { expect, test } from "vitest";
import { noItem, noneFree, refusalError } from "../../../src/control/blackboard/refusals.ts";

const lease = {
  token: 2,
  by: "worker:W",
  claimed_at: "",
  deadline: { clock: { boot_id: "b", mono_ns: "0" }, at: "", after_ms: 1 },
};

test("each refusal has the code of its contract", () => {
  const gone = refusalError("A", { why: "gone" });
  const claimed = refusalError("A", { why: "claimed", lease, left_ms: 1_500 });
  const stale = refusalError("A", { why: "stale", lease });
  expect([gone, claimed, stale].map(({ code, row }) => [code, row.v1])).toEqual([
    ["ITEM_NOT_FOUND", "ENOTFOUND"],
    ["ITEM_CLAIMED", "EPOLICY"],
    ["LEASE_LOST", "EPOLICY"],
  ]);
  expect(claimed.message).toContain("worker:W");
  expect(claimed.info.retry_after_s).toBe(2);
  expect(stale.message).toContain("worker:W holds it now");
  expect(refusalError("A", { why: "stale", lease: null }).message).toContain("nobody holds it now");
});

test("an item that does not exist is refused with a next step", () => {
  expect(noItem("A").suggestion).toContain("agent bb list");
  expect(noItem("A", "other").suggestion).toBe("other");
  expect(noneFree("jobs", ["rust"]).message).toContain("#rust");
  expect(noneFree("jobs", []).message).not.toContain("#");
});
