/**
 * Envelopes that the originals write: all of it passes at `wire`; at `spec` each file fails by the rules that the notes (2.1 to 2.3) name, and by no other.
 * Our own files in test/golden/wire have the same faults, and are in every clone; the originals' are read too, where they are at hand.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { validateEnvelope } from "../../../src/protocol/validate/envelope.ts";
import type { Level } from "../../../src/protocol/validate/finding.ts";
import { makeStreamValidator } from "../../../src/protocol/validate/stream.ts";
import { hasVectors, vector, vectorNames } from "../vectors.ts";

const rulesOf = (text: string, level: Level, strict = false): string[] => [
  ...new Set(validateEnvelope(Buffer.from(text), { level, strict }).list.map(({ rule }) => rule)),
];

const streamRules = (text: string, level: Level): string[] => {
  const stream = makeStreamValidator({ level });
  for (const line of text.trimEnd().split("\n")) stream.line(Buffer.from(line));
  return [...new Set(stream.end().list.map(({ rule }) => rule))];
};

const own = join(import.meta.dirname, "../../golden/wire");
const OWN_AT_SPEC: Readonly<Record<string, readonly string[]>> = {
  "error-code.json": ["command", "meta.duration_ms", "meta.source", "error.catalog"],
  "error-hint.json": [],
  "error-plain.json": [],
  "error-source.json": ["meta.source"],
  "ok-artifact.json": ["meta.duration_ms", "error.null", "data.summary"],
  "ok-dotted.json": ["command", "error.null"],
  "ok-members.json": [],
  "ok-null-error.json": ["error.null"],
};
const OWN_STREAMS_AT_SPEC: Readonly<Record<string, readonly string[]>> = {
  "job-progress.ndjson": ["version", "status", "shape", "stream.terminal"],
  "stream-from-1.ndjson": ["command", "meta.duration_ms", "error.null", "stream.first"],
};

/** Dotted commands; `{}` instead of nulls; sources of their own; no duration; codes beyond the fifteen; a summary without its members. */
const AT_SPEC: Readonly<Record<string, readonly string[]>> = {
  "envelopes/error-EARG.json": ["command"],
  "envelopes/error-EAUTH.json": [],
  "envelopes/error-ECANCELED.json": ["command"],
  "envelopes/error-EENVELOPE.json": ["command", "meta.source"],
  "envelopes/error-EIO.json": [],
  "envelopes/error-EMBEDDING_PROVIDER_FAILURE.json": [
    "command",
    "meta.duration_ms",
    "meta.source",
    "error.catalog",
  ],
  "envelopes/error-ENOTFOUND.json": [],
  "envelopes/error-EOUTPUT_TOO_LARGE.json": [],
  "envelopes/error-EPAGINATION.json": [],
  "envelopes/error-EPARSE.json": ["command"],
  "envelopes/error-ERUNTIME.json": ["command"],
  "envelopes/error-ERUNTIME_RESTART.json": ["command", "error.catalog"],
  "envelopes/error-ESKILLDOWN.json": [],
  "envelopes/error-ETIMEOUT.json": [],
  "envelopes/error-PROVIDER_CONFIG_INVALID.json": [
    "command",
    "meta.duration_ms",
    "meta.source",
    "error.catalog",
  ],
  "envelopes/error-review_request-pending.json": [],
  "envelopes/ok-cas.json": ["command", "error.null", "data.summary"],
  "envelopes/ok-inline.json": ["command", "error.null"],
  "envelopes/ok-review_request.json": ["error.null"],
  "skills/fs-ls-output.json": ["meta.duration_ms", "error.null", "data.summary"],
  "skills/fs-read-preview.json": ["meta.duration_ms", "error.null", "data.summary"],
  "skills/text-grep-matches.json": ["meta.duration_ms", "error.null", "data.summary"],
};
/** notes 2.3: what the originals' strict mode refuses. */
const STRICT_FAILS = [
  "error-hint.json",
  "error-EMBEDDING_PROVIDER_FAILURE.json",
  "error-PROVIDER_CONFIG_INVALID.json",
];

const expectAtLevels = (name: string, text: string, rules: readonly string[]): void => {
  expect(rulesOf(text, "wire")).toEqual([]);
  expect(rulesOf(text, "spec")).toEqual(rules);
  expect(rulesOf(text, "wire", true).length > 0).toBe(STRICT_FAILS.some((fails) => name.endsWith(fails)));
};

const expectStreamAtLevels = (text: string, rules: readonly string[]): void => {
  expect(streamRules(text, "wire")).toEqual([]);
  expect(streamRules(text, "spec")).toEqual(expect.arrayContaining([...rules]));
};

describe("output of the originals, in files of our own", () => {
  it("is in the tables, each file", () => {
    const told = [...Object.keys(OWN_AT_SPEC), ...Object.keys(OWN_STREAMS_AT_SPEC)];
    expect(told.sort()).toEqual(readdirSync(own).sort());
  });

  it.each(Object.entries(OWN_AT_SPEC))("%s passes at wire, and at spec breaks %j", (name, rules) =>
    expectAtLevels(name, readFileSync(join(own, name), "utf8"), rules),
  );

  it.each(Object.entries(OWN_STREAMS_AT_SPEC))("%s is taken at wire, and at spec breaks %j", (name, rules) =>
    expectStreamAtLevels(readFileSync(join(own, name), "utf8"), rules),
  );
});

describe.skipIf(!hasVectors("protocol-v1"))(
  "the golden files of the originals (only where they are at hand)",
  () => {
    it("are all in the table", () => {
      const names = ["envelopes", "skills"].flatMap((folder) =>
        vectorNames(`protocol-v1/${folder}`).map((name) => `${folder}/${name}`),
      );
      expect(Object.keys(AT_SPEC)).toEqual(expect.arrayContaining(names));
    });

    it.each(Object.entries(AT_SPEC))("%s passes at wire, and at spec breaks %j", (name, rules) =>
      expectAtLevels(name, vector("protocol-v1", name), rules),
    );

    it("progress-stream.ndjson is a job's progress: valid at wire, and no envelopes at spec", () =>
      expectStreamAtLevels(vector("protocol-v1", "progress-stream.ndjson"), [
        "version",
        "status",
        "shape",
        "stream.terminal",
      ]));
  },
);
