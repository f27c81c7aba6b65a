/** The one place that says who may hold an item: tables, and a simple model beside it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decideItem, type ItemInput } from "../../../src/control/blackboard/decide.ts";
import type { BlackboardItem } from "../../../src/protocol/blackboard.ts";
import { after, at, item } from "./support.ts";

const claim = (lease_ms = 1_000, by = "user"): ItemInput => ({ type: "claim", by, lease_ms });
const extend = (token: number, lease_ms = 1_000): ItemInput => ({
  type: "extend",
  by: "user",
  token,
  lease_ms,
});
const release = (token: number, done = false): ItemInput => ({ type: "release", by: "user", token, done });
const look: ItemInput = { type: "look" };

/** Claimed as record 2, 100 ms after it was posted, for a second. */
const claimed = (): BlackboardItem =>
  after(item(), decideItem(item(), claim(), at(100)).events, 2, 100) as BlackboardItem;

const typesOf = (of: BlackboardItem | undefined, input: ItemInput, ms: number, boot?: string): string[] =>
  decideItem(of, input, at(ms, boot)).events.map(({ type, payload }) =>
    "what" in payload ? `${type} ${payload.what}` : type,
  );

describe("a record", () => {
  test.each<[string, BlackboardItem | undefined, ItemInput, number, string[]]>([
    ["a claim of a free item", item(), claim(), 1, ["bb_claimed"]],
    ["a claim of a held item", claimed(), claim(), 200, []],
    [
      "a claim at the moment at which the lease is over",
      claimed(),
      claim(),
      1_100,
      ["bb_expired lease", "bb_claimed"],
    ],
    ["a claim past the time to live", item(), claim(), 60_000, ["bb_expired item"]],
    ["a claim of nothing", undefined, claim(), 1, []],
    ["an extension", claimed(), extend(2), 1_099, ["bb_extended"]],
    ["an extension by another token", claimed(), extend(1), 200, []],
    ["an extension a moment too late", claimed(), extend(2), 1_100, ["bb_expired lease"]],
    ["a release", claimed(), release(2), 200, ["bb_released"]],
    ["a release by another token", claimed(), release(3), 200, []],
    ["a release of what nobody holds", item(), release(1), 200, []],
    ["a release too late", claimed(), release(2, true), 5_000, ["bb_expired lease"]],
    ["a look before anything is over", claimed(), look, 1_099, []],
    ["a look after the lease", claimed(), look, 1_100, ["bb_expired lease"]],
    [
      "a look after the lease and the time to live",
      claimed(),
      look,
      61_000,
      ["bb_expired lease", "bb_expired item"],
    ],
    ["a look after the time to live", item(), look, 60_000, ["bb_expired item"]],
  ])("%s", (_, of, input, ms, types) => {
    expect(typesOf(of, input, ms)).toEqual(types);
  });

  test("a holder keeps its item beyond the time to live, until its lease is over", () => {
    const late = after(item(), decideItem(item(), claim(10_000), at(59_000)).events, 2, 59_000);
    expect(typesOf(late, look, 68_999)).toEqual([]);
    expect(typesOf(late, release(2), 68_999)).toEqual(["bb_released"]);
    expect(typesOf(late, look, 69_000)).toEqual(["bb_expired lease", "bb_expired item"]);
  });

  test("after a reboot no more than the whole lease is left, and no less than none", () => {
    // The wall clock was put back: by it the lease would last an hour.
    const later = { ...at(5, "boot-2"), wall_ms: -3_600_000 };
    const { refused } = decideItem(claimed(), claim(), later);
    expect(refused).toMatchObject({ why: "claimed", left_ms: 1_000 });
    expect(typesOf(claimed(), claim(), 1_100, "boot-2")).toEqual(["bb_expired lease", "bb_claimed"]);
  });
});

test("a refusal says who holds it, and for how long", () => {
  expect(decideItem(claimed(), claim(), at(600)).refused).toMatchObject({
    why: "claimed",
    lease: { token: 2, by: "user" },
    left_ms: 500,
  });
  expect(decideItem(claimed(), release(9), at(600)).refused).toMatchObject({
    why: "stale",
    lease: { token: 2 },
  });
  expect(decideItem(item(), release(9), at(600)).refused).toEqual({ why: "stale", lease: null });
  expect(decideItem(undefined, release(9), at(600)).refused).toEqual({ why: "gone" });
});

/** The rules in a few lines: one token and when it ends. */
interface Model {
  isGone: boolean;
  token: number | undefined;
  until: number;
}

const LEASE_MS = 50;
const TTL_MS = 400;

/** Whether the model grants it; time has been looked at. */
const granted = (model: Model, kind: string, token: number, now: number): boolean => {
  if (model.token !== undefined && now >= model.until) model.token = undefined;
  if (model.token === undefined && now >= TTL_MS) model.isGone = true;
  if (model.isGone) return false;
  if (kind === "claim") return model.token === undefined;
  return model.token === token;
};

const step = fc.record({
  wait: fc.integer({ min: 0, max: 40 }),
  kind: fc.constantFrom("claim", "extend", "release", "done", "look"),
  /** Which of the tokens that were ever given: 0 is the newest. */
  old: fc.nat({ max: 3 }),
});

test("it grants what a simple model grants, and a token that was replaced never again", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const model: Model = { isGone: false, token: undefined, until: 0 };
      let state: BlackboardItem | undefined = item(0, TTL_MS);
      let [now, seq] = [0, 2];
      const tokens: number[] = [];
      for (const { wait, kind, old } of steps) {
        now += wait;
        const token = tokens.at(-1 - old) ?? 0;
        const isGranted = granted(model, kind, token, now);
        const { events, refused } = decideItem(state, inputOf(kind, token), at(now));
        if (kind !== "look") expect(refused === undefined, `${kind} at ${now}`).toBe(isGranted);
        state = after(state, events, seq, now);
        if (kind === "claim" && isGranted) {
          model.token = seq + events.length - 1;
          tokens.push(model.token);
        }
        if (isGranted && (kind === "claim" || kind === "extend")) model.until = now + LEASE_MS;
        if (isGranted && (kind === "release" || kind === "done")) model.token = undefined;
        if (isGranted && kind === "done") model.isGone = true;
        seq += events.length;
        expect(state?.lease?.token).toBe(model.token);
        expect(state === undefined).toBe(model.isGone);
      }
    }),
  );
});

const inputOf = (kind: string, token: number): ItemInput => {
  if (kind === "claim") return claim(LEASE_MS);
  if (kind === "extend") return extend(token, LEASE_MS);
  return kind === "look" ? look : release(token, kind === "done");
};
