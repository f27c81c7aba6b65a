/** The originals' golden files: all pass at `wire`; at `spec` each fails by the rules that the notes (2.1 to 2.3) name, and by no other. */
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
const STRICT_FAILS = ["error-EMBEDDING_PROVIDER_FAILURE.json", "error-PROVIDER_CONFIG_INVALID.json"];

describe.skipIf(!hasVectors("protocol-v1"))("the golden files of the originals", () => {
  it("are all in the table", () => {
    const names = ["envelopes", "skills"].flatMap((folder) =>
      vectorNames(`protocol-v1/${folder}`).map((name) => `${folder}/${name}`),
    );
    expect(Object.keys(AT_SPEC)).toEqual(expect.arrayContaining(names));
  });

  it.each(Object.entries(AT_SPEC))("%s passes at wire, and at spec breaks %j", (name, rules) => {
    const text = vector("protocol-v1", name);
    expect(rulesOf(text, "wire")).toEqual([]);
    expect(rulesOf(text, "spec")).toEqual(rules);
    expect(rulesOf(text, "wire", true).length > 0).toBe(STRICT_FAILS.some((fails) => name.endsWith(fails)));
  });

  it("progress-stream.ndjson is a job's progress: valid at wire, and no envelopes at spec", () => {
    const text = vector("protocol-v1", "progress-stream.ndjson");
    expect(streamRules(text, "wire")).toEqual([]);
    expect(streamRules(text, "spec")).toEqual(
      expect.arrayContaining(["version", "status", "shape", "stream.terminal"]),
    );
  });
});
