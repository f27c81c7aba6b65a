import { expect, it } from "vitest";
import { asksForEnded, isSelected, type WorkerFilter } from "../../src/runtime/selecting.ts";
import type { WorkerRow } from "../../src/store/views.ts";

const row = (fields: object, spec: object = {}): WorkerRow =>
  ({
    kind: "command",
    state: "running",
    archived: false,
    created_at: "2026-11-23T20:00:00.000Z",
    ...fields,
    spec: { labels: { team: "a", n: "1" }, restart: "transient", ...spec },
  }) as unknown as WorkerRow;

it.each<[WorkerFilter, boolean]>([
  [{}, true],
  [{ labels: {}, statuses: [], kinds: [] }, true],
  [{ labels: { team: "a" } }, true],
  [{ labels: { team: "a", n: "1" } }, true],
  [{ labels: { team: "a", n: "2" } }, false],
  [{ labels: { other: "a" } }, false],
  [{ labels: { constructor: "a" } }, false],
  [{ statuses: ["running", "failed"] }, true],
  [{ statuses: ["failed"] }, false],
  [{ kinds: ["codex"] }, false],
  [{ kinds: ["codex", "command"] }, true],
  [{ restart: "temporary" }, false],
  [{ archived: true }, false],
  [{ created_from_ms: Date.parse("2026-11-23T20:00:00.000Z") }, true],
  [{ created_from_ms: Date.parse("2026-11-23T20:00:00.001Z") }, false],
])("%j: %j", (filter, is) => {
  expect(isSelected(row({}), filter)).toBe(is);
});

it("an archived worker is selected by a filter that asks for it, and by no other", () => {
  expect(isSelected(row({ archived: true }), {})).toBe(false);
  expect(isSelected(row({ archived: true }), { archived: true })).toBe(true);
});

it("a status is that of the wire, and an ended one asks for ended workers", () => {
  expect(isSelected(row({ state: "parked" }), { statuses: ["failed"] })).toBe(true);
  expect(isSelected(row({ state: "backing_off" }), { statuses: ["pending"] })).toBe(true);
  expect(asksForEnded({})).toBe(false);
  expect(asksForEnded({ statuses: ["running", "pending"] })).toBe(false);
  expect(asksForEnded({ statuses: ["running", "cancelled"] })).toBe(true);
});
