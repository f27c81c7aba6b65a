import { describe, expect, it, test } from "vitest";
import { tokenDigest } from "../../../src/protocol/token.ts";
import { SIGNING_ALGORITHMS } from "../../../src/protocol/words.ts";
import {
  ALGORITHMS,
  newKey,
  publicTextOf,
  signBytes,
  verifierOf,
} from "../../../src/weblisk/identity/algorithms.ts";
import { issueToken, readToken, TOKEN_LIFETIMES_S } from "../../../src/weblisk/signing/tokens.ts";

const NOW = 1_713_264_000;
const claims = {
  sub: "seo-analyzer",
  iss: "orchestrator",
  iat: NOW,
  exp: NOW + 86_400,
  cap: ["file:read"],
  cid: "",
};
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

test("lifetimes are those of the document", () =>
  expect(TOKEN_LIFETIMES_S).toEqual({ agent: 24 * 3_600, channel: 3_600, federation: 72 * 3_600 }));

describe.each(SIGNING_ALGORITHMS)("a token of %s", (algorithm) => {
  const key = newKey(ALGORITHMS[algorithm]);
  const issuer = verifierOf({ algorithm, publicKey: publicTextOf(key) })!;
  const reasonOf = (token: string, now = NOW, isCompat = false): string => {
    try {
      readToken(token, { now, issuer, iss: "orchestrator", isCompat });
      return "";
    } catch (cause) {
      const { code, facts } = cause as { code: string; facts: { reason: string } };
      return `${code} ${facts.reason}`;
    }
  };
  const signed = (header: unknown, payload: unknown): string => {
    const text = `${encoded(header)}.${encoded(payload)}`;
    return `${text}.${signBytes(key, text).toString("base64url")}`;
  };
  const token = issueToken(key, claims);

  it("has the header and the claims of the document", () => {
    const [header, payload] = token.split(".").map((part) => Buffer.from(part, "base64url").toString());
    expect(header).toBe(`{"alg":"${algorithm}","typ":"WLT"}`);
    expect(JSON.parse(payload!)).toEqual(claims);
    expect(readToken(token, { now: NOW, issuer, iss: "orchestrator" })).toEqual(claims);
  });

  it.each([
    ["at its end", claims.exp, ""],
    ["a second after it", claims.exp + 1, "TOKEN_EXPIRED token_expired"],
    ["60 seconds before it was issued", NOW - 60, ""],
    ["61 seconds before", NOW - 61, "INVALID_SIGNATURE token_from_the_future"],
  ])("%s", (_, now, reason) => expect(reasonOf(token, now)).toBe(reason));

  it("without an end is taken in compat alone", () => {
    const endless = issueToken(key, { ...claims, exp: 0 });
    expect(reasonOf(endless)).toBe("TOKEN_EXPIRED token_expired");
    expect(reasonOf(endless, NOW, true)).toBe("");
  });

  it("has one spelling", () => {
    const last = token.at(-1)!;
    const [head, payload, tail] = token.split(".");
    for (const other of [
      `${token}=`,
      ` ${token}`,
      `${token}.`,
      `${head}.${payload}`,
      `${head}=.${payload}.${tail}`,
    ])
      expect(reasonOf(other), other.slice(-20)).toBe("INVALID_SIGNATURE token_malformed");
    expect(reasonOf(token.slice(0, -1) + (last === "A" ? "B" : "A"))).toMatch(/^INVALID_SIGNATURE/);
    expect(tokenDigest(token)).toMatch(/^[0-9a-f]{64}$/);
  });

  it("of another algorithm, type, issuer or form is refused", () => {
    const header = { alg: algorithm, typ: "WLT" };
    expect(reasonOf(signed({ ...header, alg: "none" }, claims))).toBe("INVALID_SIGNATURE algorithm_unknown");
    const other = SIGNING_ALGORITHMS.find((one) => one !== algorithm);
    expect(reasonOf(signed({ ...header, alg: other }, claims))).toBe("INVALID_SIGNATURE algorithm_unknown");
    expect(reasonOf(signed({ ...header, typ: "JWT" }, claims))).toBe("INVALID_SIGNATURE token_malformed");
    for (const wrong of [
      { iss: "mallory" },
      { sub: "" },
      { exp: "never" },
      { iat: -1 },
      { cap: [7] },
      { cid: 7 },
    ])
      expect(reasonOf(signed(header, { ...claims, ...wrong }))).toBe("INVALID_SIGNATURE token_malformed");
    const foreign = newKey(ALGORITHMS[algorithm]);
    expect(reasonOf(issueToken(foreign, claims))).toBe("INVALID_SIGNATURE token_signature");
  });
});
