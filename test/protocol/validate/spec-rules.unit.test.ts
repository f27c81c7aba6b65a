/** Facts that the fuzzer does not look at: how often a rule tells, and what it says to do. */
import { describe, expect, it } from "vitest";
import { EnvelopeV1 } from "../../../src/protocol/envelope-schemas.ts";
import { okEnvelope } from "../../../src/protocol/envelope-v1.ts";
import { validateEnvelope } from "../../../src/protocol/validate/envelope.ts";

const ok = okEnvelope({ command: "fs/ls", profiles: [] }, { now_ms: 0, duration_ms: 1 }, {});
const DIGEST = `sha256:${"0a".repeat(32)}`;
const summary = { size_bytes: 1, kind: "text/plain", preview: "a" };
const found = (change: { readonly data?: object; readonly meta?: object }) =>
  validateEnvelope(Buffer.from(JSON.stringify({ ...ok, ...change, meta: { ...ok.meta, ...change.meta } })), {
    level: "spec",
  }).list.map(({ rule, place: { pointer } }) => `${rule} ${pointer}`);

describe("at spec", () => {
  it.each([
    "/a/../../b",
    "/a/./b",
    "/..",
    "/a/.",
    "C:\\a\\..\\b",
    "C:/a/../b",
    "a/b",
    "/a//b",
    "//a",
    "/a/",
    "C:\\a\\\\b",
  ])("the workspace %s is refused", (workspace) =>
    expect(found({ meta: { workspace } })).toEqual(["meta.workspace /meta/workspace"]),
  );

  it.each(["/", "C:\\", "/a/..b/.c/d.", "C:\\a\\b", "/a/..."])("the workspace %s is taken", (workspace) =>
    expect(found({ meta: { workspace } })).toEqual([]),
  );

  it.each([
    "2026-05-12T00:00:00Z",
    "2026-05-12T00:00:00+00:00",
    "2026-05-12T00:00:00.5-00:00",
    "2026-05-12t00:00:00z",
    "2016-12-31T23:59:60Z",
  ])("the time %s is taken, and by the published schema", (ts) => {
    expect(found({ meta: { ts } })).toEqual([]);
    expect(EnvelopeV1.safeParse({ ...ok, meta: { ...ok.meta, ts } }).success).toBe(true);
  });

  it.each([
    "2026-05-12T00:00:00",
    "2026-05-12T00:00:00+01:00",
    "2026-05-12T23:59:60Z",
    "2016-12-31T12:59:60Z",
    "2016-12-31T23:59:61Z",
  ])("the time %s is refused, and by the published schema", (ts) => {
    expect(found({ meta: { ts } })).toEqual(["meta.ts /meta/ts"]);
    expect(EnvelopeV1.safeParse({ ...ok, meta: { ...ok.meta, ts } }).success).toBe(false);
  });

  it("a terminal line that is marked as the last progress is refused", () => {
    expect(found({ meta: { final: true } })).toEqual(["meta.final /meta/final"]);
    expect(found({ meta: { final: false } })).toEqual([]);
  });

  it.each([null, 1, true, undefined])("a preview that is %j is refused", (preview) => {
    const told = found({ data: { artifact: DIGEST, summary: { ...summary, preview } } });
    expect(told).toEqual(["data.summary /data/summary/preview"]);
  });

  it.each([["a"], [["a"]], [{ a: 1 }]])("a preview that is %j is taken", (preview) =>
    expect(found({ data: { artifact: DIGEST, summary: { ...summary, preview } } })).toEqual([]),
  );

  it("a summary that is missing is told once", () => {
    expect(found({ data: { artifact: DIGEST } })).toEqual(["data.summary /data/summary"]);
  });
});
