/** Values that move to an artifact, the words about them instead, and the refusals (protocol-v1.txt, Artifactization). */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CAPTURE_MAX_BYTES, INLINE_MAX_BYTES, PREVIEW_MAX_BYTES } from "../../src/base/limits.ts";
import {
  type ArtifactizedData,
  artifactizer,
  bytesInline,
  outputLimits,
} from "../../src/protocol/artifactize.ts";
import { sha256Digest } from "../../src/protocol/canonical-json.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { failure, type Outcome, success } from "../../src/protocol/outcome.ts";
import { type Summary, summaryOfBytes, summaryOfJson } from "../../src/protocol/summary.ts";

const limits = { inline_max_bytes: INLINE_MAX_BYTES, capture_max_bytes: CAPTURE_MAX_BYTES };
const kept = () => {
  const artifacts = new Map<string, string>();
  const { outcome, record } = artifactizer(async (bytes) => {
    const digest = sha256Digest(bytes);
    artifacts.set(digest, Buffer.from(bytes).toString());
    return digest;
  }, limits);
  return { artifacts, outcome, record };
};
/** An object of exactly so many bytes of JSON. */
const sized = (bytes: number) => ({ text: "x".repeat(bytes - '{"text":""}'.length) });

describe("an outcome", () => {
  it("of an HTTP server keeps its status, headers and pages in the summary of its artifact", async () => {
    const summary = {
      status_code: 200,
      record_count: 5_000,
      preview: { sample_record: 1 },
      headers: { "content-type": "application/json" },
      pagination: { has_more: false, pages: 3, strategy_used: "link" },
    };
    const body = Array.from({ length: 5_000 }, () => "an item");
    const { outcome } = kept();
    const { value } = (await outcome(success({ operation: {}, summary, body }))) as {
      value: ArtifactizedData;
    };
    expect(value.summary).toEqual({ ...summary, kind: "application/json", size_bytes: expect.any(Number) });
    // One that is no such summary, or is too large, is made anew.
    for (const other of [
      { ...summary, preview: { first_text: "x".repeat(2_000) } },
      { ...summary, headers: { long: "x".repeat(20_000) } },
      { ...summary, status_code: "200" },
      { ...summary, preview: null },
    ]) {
      const { value } = (await outcome(success({ summary: other, body }))) as { value: ArtifactizedData };
      expect(value.summary).not.toHaveProperty("status_code");
    }
  });

  it("is passed as it is, the same object, up to 32 KB of data", async () => {
    const { outcome, artifacts } = kept();
    const fits = success(sized(INLINE_MAX_BYTES));
    expect(outcome(fits)).toBe(fits);
    const over = await outcome(success(sized(INLINE_MAX_BYTES + 1)));
    expect(over.ok && Object.keys(over.value)).toEqual(["summary", "artifact"]);
    expect(artifacts.size).toBe(1);
  });

  it("counts bytes of UTF-8, not characters", () => {
    const { outcome } = kept();
    expect(outcome(success({ text: "é".repeat(INLINE_MAX_BYTES / 2) }))).toBeInstanceOf(Promise);
    expect(outcome(success({ text: "e".repeat(INLINE_MAX_BYTES / 2) }))).not.toBeInstanceOf(Promise);
  });

  it("gives its data back from the artifact, whole", async () => {
    const { outcome, artifacts } = kept();
    const workers = Array.from({ length: 1_000 }, (_, at) => ({
      id: `w${at}`,
      name: null,
      labels: { team: "a" },
    }));
    const { value } = (await outcome(success({ workers }))) as { value: ArtifactizedData };
    const text = artifacts.get(value.artifact)!;
    expect(JSON.parse(text)).toEqual({ workers });
    expect(value.summary).toEqual({
      size_bytes: Buffer.byteLength(text),
      kind: "application/json",
      record_count: 1_000,
      preview: { first_keys: ["id", "name", "labels"], sample_record: { id: "w0", name: null } },
    });
  });

  it("that is a page of a list still says how to have the next one", async () => {
    const { outcome } = kept();
    const paginationOf = async (page: object): Promise<unknown> => {
      const workers = ["x".repeat(INLINE_MAX_BYTES)];
      const { value } = (await outcome(success({ workers, ...page }))) as { value: ArtifactizedData };
      return value.summary.pagination;
    };
    expect(await paginationOf({ total: 9, cursor: "01C" })).toEqual({
      has_more: true,
      total_items: 9,
      cursor: "01C",
    });
    expect(await paginationOf({ total: 9 })).toEqual({ has_more: false, total_items: 9 });
    expect(await paginationOf({ cursor: "01C" })).toEqual({ has_more: true, cursor: "01C" });
    expect(await paginationOf({ cursor: "c".repeat(1_000) })).toEqual({ has_more: true });
    expect(await paginationOf({})).toBeUndefined();
  });

  it("of a failure keeps its error, and has its results in the artifact", async () => {
    const { outcome } = kept();
    const error = new HoldfastError("PARTIAL_FAILURE", "2 of 3 failed.");
    const given = { ...failure<object>(error), value: { results: ["x".repeat(40_000)] } };
    expect(await outcome(given)).toMatchObject({ ok: false, error, value: { summary: { record_count: 1 } } });
  });

  it("is refused over 1024 KB of data", async () => {
    const { outcome, artifacts } = kept();
    expect(await outcome(success(sized(CAPTURE_MAX_BYTES)))).toMatchObject({ ok: true });
    const refused = (await outcome(success(sized(CAPTURE_MAX_BYTES + 1)))) as Outcome<object> & { ok: false };
    expect(refused.error).toMatchObject({
      code: "CAPTURE_TOO_LARGE",
      row: { v1: "EOUTPUT_TOO_LARGE" },
      info: { details: { size_bytes: CAPTURE_MAX_BYTES + 1, limit_bytes: CAPTURE_MAX_BYTES } },
    });
    expect(artifacts.size).toBe(1);
  });

  it("is inline as far as its reader takes it", () => {
    const { outcome } = kept();
    const large = success(sized(2 * CAPTURE_MAX_BYTES));
    expect(outcome(large, 4 * CAPTURE_MAX_BYTES)).toBe(large);
    expect(outcome(success({ text: "abc" }), 4)).toBeInstanceOf(Promise);
  });

  it("is measured as it will stand in its envelope", () => {
    const { outcome } = kept();
    const list = (bytes: number) => ["x".repeat(bytes - '{"value":[""]}'.length)];
    expect(outcome(success(list(INLINE_MAX_BYTES)))).not.toBeInstanceOf(Promise);
    expect(outcome(success(list(INLINE_MAX_BYTES + 1)))).toBeInstanceOf(Promise);
    const error = new HoldfastError("PARTIAL_FAILURE", "2 of 3 failed.");
    expect(outcome({ ...failure<object>(error), value: sized(INLINE_MAX_BYTES) })).toBeInstanceOf(Promise);
  });

  it("is sent whole, with a warning and a hint, where nothing can be kept", async () => {
    const { outcome } = artifactizer(
      () => Promise.reject(new HoldfastError("DISK_FULL", "The disk is full.")),
      limits,
    );
    const large = success(sized(INLINE_MAX_BYTES + 1), ["first"]);
    const hint = "The result is sent whole, because it cannot be kept as an artifact: The disk is full.";
    expect(await outcome(large)).toEqual({
      ...large,
      value: { ...(large.ok && large.value), hint },
      warnings: ["first", hint],
    });
    const failed = failure<object>(new HoldfastError("PARTIAL_FAILURE", "2 of 3 failed."));
    expect(await outcome({ ...failed, value: sized(INLINE_MAX_BYTES + 1) })).toMatchObject({
      value: { hint: expect.stringMatching(/\. The result is sent whole/) },
    });
  });

  it("has its secrets masked in the artifact and in the preview", async () => {
    const { outcome, artifacts } = kept();
    const secret = `sk-ant-${"a1B2c3D4".repeat(4)}`;
    const value = {
      env: { API_KEY: "hunter2-hunter2" },
      note: `use ${secret}`,
      rest: "x".repeat(INLINE_MAX_BYTES),
    };
    const told = JSON.stringify([await outcome(success(value)), ...artifacts.values()]);
    expect(told).toContain("***");
    for (const word of [secret, "hunter2"]) expect(told).not.toContain(word);
  });

  it("is sent whole where it holds bytes: secrets in them cannot be seen", async () => {
    const { outcome, artifacts } = kept();
    const base64 = Buffer.alloc(INLINE_MAX_BYTES).toString("base64");
    expect(await outcome(success({ base64 }))).toMatchObject({ value: { base64, hint: expect.any(String) } });
    expect(artifacts.size).toBe(0);
  });

  it("has room for so many bytes that their reply fits, and never for none", () => {
    for (const inlineMax of [2_048, 4_095, INLINE_MAX_BYTES, CAPTURE_MAX_BYTES]) {
      const base64 = Buffer.alloc(bytesInline(inlineMax)).toString("base64");
      expect(base64.length).toBeLessThan(inlineMax - 1_000);
      expect(base64.length).toBeGreaterThan(inlineMax - 1_100);
    }
    expect(bytesInline(0)).toBeGreaterThan(0);
  });
});

describe("a record of a stream", () => {
  const record = (bytes: number) =>
    JSON.stringify({
      seq: 7,
      id: "r",
      stream: "worker:w",
      version: 3,
      type: "agent.event",
      payload: sized(bytes),
    });
  it("keeps what a reader goes on by, and moves whole to the artifact", async () => {
    const { record: moved, artifacts } = kept();
    expect(moved(record(1_000))).toBeUndefined();
    const json = record(INLINE_MAX_BYTES);
    const data = (await moved(json)) as ArtifactizedData;
    expect(data).toMatchObject({ seq: 7, id: "r", stream: "worker:w", version: 3, type: "agent.event" });
    expect(Object.keys(data)).not.toContain("payload");
    expect(artifacts.get(data.artifact)).toBe(json);
  });

  it("over the capture limit says where it can be read", async () => {
    const data = await kept().record(record(CAPTURE_MAX_BYTES));
    expect(data).toMatchObject({
      seq: 7,
      summary: expect.anything(),
      hint: expect.stringContaining("--from 7 --to 7"),
    });
    expect(data).not.toHaveProperty("artifact");
  });

  it("says where it can be read, too, where nothing can be kept", async () => {
    const { record: moved } = artifactizer(() => Promise.reject(new Error("no")), limits);
    const data = await moved(record(INLINE_MAX_BYTES));
    expect(data).toMatchObject({
      seq: 7,
      summary: { size_bytes: expect.any(Number) },
      hint: "The record cannot be kept as an artifact: agent db export --from 7 --to 7",
    });
    expect(data).not.toHaveProperty("artifact");
  });
});

describe("a preview", () => {
  const size = ({ preview }: Summary) => Buffer.byteLength(JSON.stringify(preview));
  it("is under 1 KB and the same each time, whatever it is of", () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 4, noUnicodeString: false } as object),
        fc.string({ maxLength: 3_000 }),
        (json, text) => {
          const value = { [text]: text, list: [{ [text]: text }], json: JSON.parse(json) };
          for (const each of [value, [value], text, JSON.parse(json)]) {
            const summary = summaryOfJson(each, 1);
            expect(size(summary)).toBeLessThanOrEqual(PREVIEW_MAX_BYTES);
            expect(summaryOfJson(structuredClone(each), 1)).toEqual(summary);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it("of bytes is the beginning of a text, and nothing where they are no text", () => {
    const text = summaryOfBytes(Buffer.from("line\n".repeat(1_000)));
    expect(text).toMatchObject({ size_bytes: 5_000, kind: "text/plain; charset=utf-8" });
    expect(text.preview.first_text).toMatch(/^line\n/);
    expect(size(text)).toBeLessThanOrEqual(PREVIEW_MAX_BYTES);
    expect(summaryOfBytes(Uint8Array.of(0xff, 0xfe))).toMatchObject({
      kind: "application/octet-stream",
      preview: {},
    });
    expect(summaryOfBytes(Buffer.from("a\0b"))).toMatchObject({ kind: "application/octet-stream" });
  });

  it("never shows a part of a secret", () => {
    const secret = `ghp_${"a1B2c3D4e5".repeat(4)}`;
    const text = `${"x".repeat(480)} ${secret}`;
    const shown = JSON.stringify([summaryOfBytes(Buffer.from(text)), summaryOfJson({ [secret]: 1 }, 1)]);
    expect(shown).not.toContain("ghp_a1");
  });
});

it("the limits are the document's, unless the environment says otherwise, and mistakes are told", () => {
  expect(outputLimits({})).toEqual({ ...limits, problems: [] });
  expect(outputLimits({ HOLDFAST_INLINE_OUTPUT: "64KB", HOLDFAST_MAX_CAPTURE: "4MB" })).toMatchObject({
    inline_max_bytes: 65_536,
    capture_max_bytes: 4 * 1024 * 1024,
  });
  expect(outputLimits({ HOLDFAST_MAX_CAPTURE: "much" }).problems).toEqual([
    'HOLDFAST_MAX_CAPTURE is a size such as 32KB or 4MB, not "much"',
  ]);
});
