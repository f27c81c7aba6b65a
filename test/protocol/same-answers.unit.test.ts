import fc from "fast-check";
import { expect, it } from "vitest";
import { SAME_ANSWER_MAX_CHARS, SAME_ANSWERS_MAX } from "../../src/base/limits.ts";
import { redactOnce, redactValue } from "../../src/protocol/redact.ts";
import { answerText } from "../../src/protocol/same-answers.ts";

/** Made here, so that no scanner takes this file for a leak. */
const KEY = `sk-ant-api03-${"aB3dE5gH7j".repeat(4)}`;

const same = (data: object): void =>
  expect(answerText("agent/info", data)).toBe(JSON.stringify(redactValue(data)));

it("gives the text of the masked answer, whatever was asked for before", () => {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, undefined, true, 0, 1, Number.NaN, "", "a", KEY, new Date(0), new Map(), () => 1),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "api_key"), tie("value"), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (members) => {
      for (const member of members) for (let n = 0; n < 3; n += 1) same({ id: "one", member });
    }),
    { numRuns: 1_000 },
  );
});

it("sees a change of what the answer names, and of which members it has", () => {
  const usage: Record<string, unknown> = { tokens: 1 };
  const data = { id: "changing", usage, list: [{ a: 1 }] };
  for (let n = 0; n < 3; n += 1) same(data);
  usage.tokens = 2;
  same(data);
  for (let n = 0; n < 3; n += 1) same(data);
  data.list[0]!.a = 2;
  same(data);
  for (let n = 0; n < 3; n += 1) same(data);
  usage.more = undefined;
  delete usage.tokens;
  same(data);
});

/** Counts how often its text is looked at: twice to mask and write it, once to copy or to compare it. */
const counted = (id: string, text: string) => {
  let looks = 0;
  const answer = {
    id,
    get text() {
      looks += 1;
      return text;
    },
  };
  return () => {
    looks = 0;
    expect(answerText("agent/info", answer)).toBe(JSON.stringify({ id, text }));
    return looks;
  };
};

it("remembers an answer that is asked for again, up to a length and a number", () => {
  const ask = counted("again", "short");
  expect([ask(), ask(), ask(), ask()]).toEqual([2, 3, 1, 1]);
  const askLong = counted("long", "x".repeat(SAME_ANSWER_MAX_CHARS));
  expect([askLong(), askLong(), askLong()]).toEqual([2, 2, 2]);
  for (let n = 0; n < SAME_ANSWERS_MAX; n += 1) same({ id: `other ${n}` });
  expect(ask()).toBe(2);
});

it("takes an object that never changes as it is", () => {
  const spec = { argv: ["--api-key", KEY] };
  redactOnce(spec);
  for (let n = 0; n < 3; n += 1) same({ id: "spec", spec });
  expect(answerText("agent/info", { id: "spec", spec })).not.toContain(KEY);
  expect(answerText("agent/info", { id: "spec", spec: { argv: ["b"] } })).toContain('["b"]');
});
