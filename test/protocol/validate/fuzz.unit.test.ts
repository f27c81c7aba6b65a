/**
 * 73,000 damaged envelopes, streams and events against an oracle that shares no code with the validators (oracle.ts). The seed is kept, so
 * that CI looks at the same cases each time; HOLDFAST_FUZZ_SEED looks at others, HOLDFAST_FULL=1 at ten times as many.
 */
import fc from "fast-check";
import { afterAll, describe, expect, it, vi } from "vitest";
import { AgentEvent } from "../../../src/protocol/agent-event.ts";
import { EnvelopeV1 } from "../../../src/protocol/envelope-schemas.ts";
import { ENVELOPE_RULE_TABLE, validateEnvelope } from "../../../src/protocol/validate/envelope.ts";
import { EVENT_RULE_TABLE, makeEventValidator } from "../../../src/protocol/validate/events.ts";
import type { Findings, Level } from "../../../src/protocol/validate/finding.ts";
import { makeStreamValidator } from "../../../src/protocol/validate/stream.ts";
import { STREAM_RULES } from "../../../src/protocol/validate/stream-rules.ts";
import { FUZZ_MAX_MS, runs } from "../fuzz-runs.ts";
import {
  envelopeBytes,
  envelopeCase,
  eventBytes,
  eventCase,
  SECRET,
  streamCase,
  streamLines,
} from "./cases.ts";
import { eventOracle, oracle, readText, streamOracle } from "./oracle.ts";

vi.setConfig({ testTimeout: FUZZ_MAX_MS });

const level = fc.constantFrom<Level>("wire", "spec");
/** How often each rule was found broken, in all cases of this file. */
const broken = new Map<string, number>();
const rulesOf = (findings: Findings): string[] => {
  const rules = [...new Set(findings.list.map(({ rule }) => rule))].sort();
  for (const rule of rules) broken.set(rule, (broken.get(rule) ?? 0) + 1);
  for (const { place, message, remedy } of findings.list) {
    if (place.line < 1 || message === "" || remedy === "" || !/^(?:\/|$)/.test(place.pointer))
      throw new Error(`a finding without its place: ${JSON.stringify({ place, message })}`);
    if (message.includes(SECRET.slice(6, 30))) throw new Error(`a finding tells a secret: ${message}`);
  }
  return rules;
};

/** `toEqual` of 73,000 pairs takes longer than all the rest. */
const same = (found: readonly string[], expected: readonly string[]): void => {
  if (found.join() !== expected.join()) expect(found).toEqual(expected);
};

describe("the validators agree with the oracle", () => {
  it("on envelopes, at both levels, strict and not", () => {
    fc.assert(
      fc.property(envelopeCase, level, fc.boolean(), (given, at, strict) => {
        const bytes = envelopeBytes(given);
        same(rulesOf(validateEnvelope(bytes, { level: at, strict })), oracle(bytes, at, strict).sort());
      }),
      runs(54_000),
    );
  });

  it("on streams", () => {
    fc.assert(
      fc.property(streamCase, level, (given, at) => {
        const lines = streamLines(given);
        const validator = makeStreamValidator({ level: at });
        for (const line of lines) validator.line(line);
        same(rulesOf(validator.end()), streamOracle(lines, at));
      }),
      runs(8_000),
    );
  });

  it("on AgentEvents", () => {
    fc.assert(
      fc.property(eventCase, fc.boolean(), (given, strict) => {
        const bytes = eventBytes(given);
        const validator = makeEventValidator({ strict });
        validator.line(bytes);
        same(rulesOf(validator.end()), eventOracle(bytes, strict));
      }),
      runs(8_000),
    );
  });
});

/** Rules that the published schemas cannot say, or leave open for later versions. */
const BEYOND_SCHEMA = [
  "json.duplicate",
  "json.number",
  "json.trailing",
  "data.inline",
  "data.artifact",
  "data.summary",
  "data.preview",
  "data.pct",
  "meta.cas_digest",
  "meta.cache_key",
  "meta.workspace",
  "meta.final",
  "error.null",
  "error.catalog",
  "error.details",
  "secret",
];

describe("the published schemas", () => {
  it("refuse no envelope that the validator takes at spec, and take none that it refuses but by what they cannot say", () => {
    fc.assert(
      fc.property(envelopeCase, (given) => {
        const bytes = envelopeBytes(given);
        const { value } = readText(bytes);
        const found = validateEnvelope(bytes, { level: "spec" }).list.map(({ rule }) => rule);
        if (value === undefined) return;
        const isTaken = EnvelopeV1.safeParse(value).success;
        if (!isTaken) expect(found).not.toEqual([]);
        else expect(found.filter((rule) => !BEYOND_SCHEMA.includes(rule))).toEqual([]);
      }),
      runs(2_000),
    );
  });

  it("and of AgentEvents they refuse just what the validator refuses, but for the depth of data", () => {
    fc.assert(
      fc.property(eventCase, (given) => {
        const bytes = eventBytes(given);
        const { value } = readText(bytes);
        if (value === undefined) return;
        const validator = makeEventValidator({});
        validator.line(bytes);
        const found = validator
          .end()
          .list.filter(
            ({ rule, message }) =>
              !["json.duplicate", "json.trailing"].includes(rule) && !/nests/.test(message),
          );
        expect(found.length === 0).toBe(AgentEvent.safeParse(value).success);
      }),
      runs(1_000),
    );
  });
});

it("every rule is broken by at least one of these cases", () => {
  const ids = [...ENVELOPE_RULE_TABLE, ...Object.values(STREAM_RULES), ...EVENT_RULE_TABLE].map(
    ({ id }) => id,
  );
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !broken.has(id))).toEqual([]);
  expect([...broken.keys()].filter((id) => !ids.includes(id))).toEqual([]);
});

afterAll(() => {
  if (process.env.HOLDFAST_FUZZ_SEED !== undefined) console.log(Object.fromEntries([...broken].sort()));
});
