/** Providers that misbehave on the wire: each is one kind of ModelError with one sentence, and no sentence has the key. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelErrorKind } from "../../../src/engine/model.ts";
import { type BadProvider, SINS, type Sin, startBadProvider } from "./bad-provider.ts";
import { DIALECTS, stepOf } from "./steps.ts";

let bad: BadProvider;
beforeAll(async () => {
  bad = await startBadProvider();
});
afterAll(() => bad.close());

const CUT = "The connection to the provider was cut.";
const NO_ANSWER = "The provider sent something that is no answer of a model.";
const TOO_LONG = "The conversation is longer than the model can read.";

const EXPECTED: Readonly<Record<Sin, { readonly kind: ModelErrorKind; readonly [fact: string]: unknown }>> = {
  wait_seconds: { kind: "rate_limited", status: 429, retry_after_ms: 7_000 },
  wait_ms: { kind: "rate_limited", status: 429, retry_after_ms: 250 },
  wait_for_ages: { kind: "rate_limited", retry_after_ms: 24 * 3_600_000 },
  echoes_key: { kind: "auth", message: "The provider refused the credentials (HTTP 401)." },
  overflow_in_words: { kind: "context_overflow", message: TOO_LONG },
  overflow_by_code: { kind: "context_overflow", message: TOO_LONG },
  too_large: {
    kind: "context_overflow",
    message: "The request was too large for the provider (HTTP 413).",
  },
  no_money: { kind: "rate_limited", message: "The account's quota at the provider is used up." },
  html_502: { kind: "overloaded", message: "The provider failed (HTTP 502)." },
  html_200: { kind: "reset", message: CUT },
  nothing_200: { kind: "reset", message: CUT },
  not_json: { kind: "bad_answer", message: NO_ANSWER },
  ends_early: { kind: "reset", message: CUT },
  resets: { kind: "reset", message: CUT },
  resets_at_once: { kind: "unreachable", message: "The provider could not be reached." },
  error_in_stream: { kind: "overloaded", message: "The provider is overloaded." },
  bad_call: { kind: "bad_answer", message: "The model called bash with an input that is no JSON." },
  redirects: {
    kind: "invalid_request",
    message: "The provider's address answers with a redirect (HTTP 307), which is not followed.",
  },
  floods: { kind: "bad_answer", message: "The provider sent more bytes than an answer may have." },
};

describe.each(DIALECTS)("%s", (dialect) => {
  it.each(SINS)("%s", async (sin) => {
    const { error } = await stepOf(dialect, `${bad.url}/${sin}`);
    expect(error).toMatchObject({ name: "ModelError", ...EXPECTED[sin] });
    expect(error?.cause).toBeUndefined();
  });

  it("sends no key to where a provider redirects", async () => {
    const before = bad.paths.length;
    await stepOf(dialect, `${bad.url}/redirects`);
    expect(bad.paths.slice(before)).toEqual([expect.stringContaining("/redirects/")]);
  });

  it("cannot be reached", async () => {
    const gone = await startBadProvider();
    await gone.close();
    const { error } = await stepOf(dialect, gone.url);
    expect(error).toMatchObject({ kind: "unreachable", message: "The provider could not be reached." });
  });

  const variable = `${dialect.toUpperCase()}_API_KEY`;
  it.each([
    ["", `There is no key for the provider ${dialect}: the variable ${variable} has none.`],
    [
      "sk-fake\nx-other: 1",
      `The key for the provider ${dialect} in the variable ${variable} has characters that no key can have.`,
    ],
  ])("has no key that could be sent: %j", async (key, message) => {
    const { error } = await stepOf(dialect, bad.url, {}, { env: { [variable]: key } });
    expect(error).toMatchObject({ kind: "auth", message, status: undefined });
  });
});

it.each([
  ["fake-1", 'A model is PROVIDER/MODEL, and "fake-1" is not; the providers are anthropic, openai.'],
  ["nobody/fake-1", 'There is no provider "nobody"; the providers are anthropic, openai.'],
])("knows no model %s", async (model, message) => {
  const { error } = await stepOf("openai", bad.url, { model });
  expect(error).toMatchObject({ kind: "no_such_model", message });
});
