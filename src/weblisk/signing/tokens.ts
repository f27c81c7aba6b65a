/**
 * WLT tokens (weblisk.txt, WLT Token Format and Token Lifetimes): `base64url(header).base64url(payload).base64url(signature)`
 * without padding. One token has one spelling, so that its digest can be revoked. Pure.
 */
import { asObject } from "../../base/json.ts";
import {
  WEBLISK_AGENT_TOKEN_S,
  WEBLISK_CHANNEL_TOKEN_S,
  WEBLISK_FEDERATION_TOKEN_S,
  WEBLISK_ISSUED_LEEWAY_S,
  WEBLISK_TOKEN_MAX_CHARS,
} from "../../base/limits.ts";
import { holds, type IdentityKey, signBytes, type Verifier } from "../identity/algorithms.ts";
import { base64urlOf } from "../identity/forms.ts";
import { WebliskRefusal } from "../wire/refusal.ts";

/** Seconds for which a token of each kind holds. */
export const TOKEN_LIFETIMES_S = {
  agent: WEBLISK_AGENT_TOKEN_S,
  channel: WEBLISK_CHANNEL_TOKEN_S,
  federation: WEBLISK_FEDERATION_TOKEN_S,
} as const;
export type TokenUse = keyof typeof TOKEN_LIFETIMES_S;

export interface TokenClaims {
  /** The agent or hub that holds it. */
  readonly sub: string;
  readonly iss: string;
  /** Epoch seconds. */
  readonly iat: number;
  readonly exp: number;
  /** Names of the capabilities that were granted. */
  readonly cap: readonly string[];
  /** The channel, or the task, to which it is bound; "" for none. */
  readonly cid: string;
}

const part = (value: object): string => base64urlOf(Buffer.from(JSON.stringify(value)));

export const issueToken = (key: IdentityKey, { sub, iss, iat, exp, cap, cid }: TokenClaims): string => {
  const header = part({ alg: key.algorithm.name, typ: "WLT" });
  const signed = `${header}.${part({ sub, iss, iat, exp, cap, cid })}`;
  return `${signed}.${base64urlOf(signBytes(key, signed))}`;
};

const refused = (reason: string, message: string): WebliskRefusal =>
  new WebliskRefusal("INVALID_SIGNATURE", message, { reason });

const malformed = (): WebliskRefusal =>
  refused("token_malformed", "The token is no WLT; register to get one.");

/** Bytes of a part whose spelling is the only one; undefined for any other. */
const bytesOfPart = (text: string): Buffer | undefined => {
  if (!/^[\w-]+$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64url");
  return base64urlOf(bytes) === text ? bytes : undefined;
};

const jsonOfPart = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    return asObject(JSON.parse(bytesOfPart(text)?.toString("utf8") ?? ""));
  } catch {
    return undefined;
  }
};

export interface TokenRules {
  /** Epoch seconds. */
  readonly now: number;
  /** The key of the issuer that the receiver trusts. Its algorithm is the only one that is taken. */
  readonly issuer: Verifier;
  /** The name of the issuer. */
  readonly iss: string;
  /** Also takes `exp: 0`, which some issuers write for a token without an end. */
  readonly isCompat?: boolean;
}

/**
 * The claims of a token that holds now. Throws INVALID_SIGNATURE, or TOKEN_EXPIRED for a genuine one that is past its end. Order:
 * three parts, header, algorithm, signature, claims, times. Whether it was revoked is the caller's to look up.
 */
export const readToken = (token: string, { now, issuer, iss, isCompat = false }: TokenRules): TokenClaims => {
  const parts = token.length > WEBLISK_TOKEN_MAX_CHARS ? [] : token.split(".");
  const [head = "", payload = "", tail = ""] = parts;
  if (parts.length !== 3) throw malformed();
  const header = jsonOfPart(head);
  if (header === undefined) throw malformed();
  if (header.alg !== issuer.algorithm.name)
    throw refused(
      "algorithm_unknown",
      "The token is signed with an algorithm that its issuer's key does not have.",
    );
  if (header.typ !== "WLT") throw malformed();
  const signature = bytesOfPart(tail);
  if (signature === undefined) throw malformed();
  if (!holds(issuer, `${head}.${payload}`, issuer.algorithm.textOf(signature)))
    throw refused("token_signature", "The token was not signed by this issuer; register to get one.");
  const claims = claimsOf(jsonOfPart(payload));
  if (claims === undefined || claims.iss !== iss) throw malformed();
  if (claims.iat > now + WEBLISK_ISSUED_LEEWAY_S)
    throw refused("token_from_the_future", "The token was issued in the future; compare the clocks.");
  if (claims.exp === 0 ? !isCompat : now > claims.exp) throw expired();
  return claims;
};

const expired = (): WebliskRefusal =>
  new WebliskRefusal("TOKEN_EXPIRED", "The token has expired; register again to get another.", {
    reason: "token_expired",
  });

const isTime = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const claimsOf = (value: Readonly<Record<string, unknown>> | undefined): TokenClaims | undefined => {
  const { sub, iss, iat, exp, cap = [], cid = "" } = value ?? {};
  if (typeof sub !== "string" || sub === "" || typeof iss !== "string" || typeof cid !== "string")
    return undefined;
  if (!isTime(iat) || !isTime(exp)) return undefined;
  if (!Array.isArray(cap) || !cap.every((name): name is string => typeof name === "string")) return undefined;
  return { sub, iss, iat, exp, cap, cid };
};
