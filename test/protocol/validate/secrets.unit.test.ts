/** What the validator calls a secret is what we mask in our own output. */
import { describe, expect, it } from "vitest";
import { redactEnv, redactValue } from "../../../src/protocol/redact.ts";
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

  it("and none in what we have masked, in a reference, or below a name that only sounds like one", () => {
    expect(found(redactValue(told))).toEqual([]);
    expect(found(redactEnv({ API_KEY: "@env:API_KEY", TOKEN: "abc", PASSWORD: "" }))).toEqual([]);
    expect(found({ cache_key: "k1", max_tokens: "5", author: "a", secret: 5 })).toEqual([]);
  });
});
