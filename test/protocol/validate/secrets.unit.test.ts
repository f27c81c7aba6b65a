/** A secret of the validator is what we mask in our own output. */
import { describe, expect, it } from "vitest";
import { makeRedactor, redactValue } from "../../../src/protocol/redact.ts";
import { secretsIn } from "../../../src/protocol/validate/secrets.ts";

const found = (value: unknown): string[] => [...secretsIn(value, ["data"])];

describe("a secret is found", () => {
  const told = { password: "hunter2hunter2", api_key: "abc", deep: { auth: [{ user: "u" }] } };

  it("by the name of its member, whatever its shape, and all that stands below that", () => {
    expect(found(told)).toEqual(["/data/password", "/data/api_key", "/data/deep/auth/0/user"]);
  });

  it("by its shape, below any name", () => {
    expect(found({ note: "it is sk-ant-api03-AAAAbbbbCCCCdddd1111" })).toEqual(["/data/note"]);
  });

  it("in the name of a member, which is not repeated, in a list of words, and as a long number", () => {
    const key = `ghp_${"aB3d".repeat(9)}`;
    expect(found({ tokens: { [key]: 1 } })).toEqual(["/data/tokens/***"]);
    expect(found({ argv: ["curl", "--token", "hunter2"], secret: 12345678 })).toEqual([
      "/data/argv/2",
      "/data/secret",
    ]);
  });

  it("and none in what we have masked, in a reference, or below a name that only sounds like one", () => {
    expect(found(redactValue(told))).toEqual([]);
    expect(found(makeRedactor().env({ API_KEY: "@env:API_KEY", TOKEN: "abc", PASSWORD: "" }))).toEqual([]);
    expect(found({ cache_key: "k1", max_tokens: "5", author: "a", secret: 5 })).toEqual([]);
  });
});
