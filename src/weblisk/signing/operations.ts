/**
 * The bytes that each operation signs (weblisk.txt, What Gets Signed): `literal` is JSON.stringify of these members in the
 * document's order, `jcs` is canonical JSON (RFC 8785) of the same members. Pure.
 */
import type { JsonObject } from "../../base/json.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import type { AcceptedProfile, SigningProfile } from "../../protocol/words.ts";
import { holds, type IdentityKey, signText, type Verifier } from "../identity/algorithms.ts";
import { type WireBody, withoutNulls } from "../wire/body.ts";

/** The members that a signature covers, in the document's order. */
const SIGNED_MEMBERS = {
  result: ["task_id", "status", "output"],
  message: ["from", "to", "action", "payload"],
  grant: ["channel_id", "agents", "expires"],
  handshake: ["hub_id", "capabilities", "timestamp"],
} as const;

/** A signature of these covers the whole object, but for the signatures in it. */
const WHOLE = ["manifest", "object"] as const;

export type SignedOperation = keyof typeof SIGNED_MEMBERS | (typeof WHOLE)[number];

const isWhole = (operation: SignedOperation): operation is (typeof WHOLE)[number] =>
  (WHOLE as readonly string[]).includes(operation);

const UNSIGNED: ReadonlySet<string> = new Set(["signature", "signature_jcs", "signature_full"]);

/** The names of the covered members that the object has, in the document's order; those of a whole object as they come. */
const coveredNames = (operation: SignedOperation, names: Iterable<string>): readonly string[] => {
  const there = [...names];
  return isWhole(operation)
    ? there.filter((name) => !UNSIGNED.has(name))
    : SIGNED_MEMBERS[operation].filter((name) => there.includes(name));
};

const memberText = (name: string, value: string): string => `${JSON.stringify(name)}:${value}`;

const textOf = (names: readonly string[], textOfMember: (name: string) => string | undefined): string =>
  `{${names
    .map((name) => [name, textOfMember(name)] as const)
    .filter((pair): pair is readonly [string, string] => pair[1] !== undefined)
    .map(([name, value]) => memberText(name, value))
    .join(",")}}`;

/** The members in the document's order, each in canonical form, as `wireJson` writes them. */
const literalText = (operation: SignedOperation, value: JsonObject): string =>
  textOf(coveredNames(operation, Object.keys(value)), (name) => canonicalJson(value[name]));

const jcsText = (operation: SignedOperation, value: JsonObject): string =>
  canonicalJson(
    Object.fromEntries(coveredNames(operation, Object.keys(value)).map((name) => [name, value[name]])),
  );

export interface Signatures {
  /** Over the members in the document's order; over canonical JSON for a peer that is pinned to it. */
  readonly signature: string;
  /** Over canonical JSON, where `signature` is not. */
  readonly signature_jcs?: string;
}

/** Signs a value as `wireJson` then writes it: without nulls. */
export const signedBy = (
  key: IdentityKey,
  operation: SignedOperation,
  value: JsonObject,
  profile: SigningProfile = "literal",
): Signatures => {
  const sent = withoutNulls(value);
  const [literal, jcs] = [literalText(operation, sent), jcsText(operation, sent)];
  if (profile === "jcs" || literal === jcs) return { signature: signText(key, jcs) };
  return { signature: signText(key, literal), signature_jcs: signText(key, jcs) };
};

/** The texts that the other side may have signed, most likely first. */
const candidates = (
  operation: SignedOperation,
  { value, raw }: WireBody,
  accepted: AcceptedProfile,
): readonly (readonly [SigningProfile, string])[] => {
  const names = coveredNames(operation, raw.keys());
  const literal: readonly (readonly [SigningProfile, string])[] = [
    // As it came: keeps escapes and the order of integer-like names.
    ["literal", textOf(names, (name) => raw.get(name))],
    ["literal", textOf(names, (name) => JSON.stringify(value[name]))],
  ];
  const jcs = ["jcs", jcsText(operation, value)] as const;
  const all = [...(accepted === "jcs" ? [] : literal), ...(accepted === "literal" ? [] : [jcs])];
  return all.filter(([, text], at) => all.findIndex(([, other]) => other === text) === at);
};

/**
 * The profile in which a signature of the operation holds, of those that are accepted; undefined if it holds in none. All texts
 * say the same value, because `readBody` has refused what two readers could read in two ways.
 */
export const profileOfSignature = (
  verifier: Verifier,
  operation: SignedOperation,
  body: WireBody,
  signature: unknown,
  accepted: AcceptedProfile = "auto",
): SigningProfile | undefined => {
  if (typeof signature !== "string") return undefined;
  return candidates(operation, body, accepted).find(([, text]) => holds(verifier, text, signature))?.[0];
};

/**
 * The same for a whole value that is a member of the body, as a manifest in its registration. Its text as it came is tried first,
 * blanks and all.
 */
export const profileOfMember = (
  verifier: Verifier,
  body: WireBody,
  name: string,
  signature: unknown,
  accepted: AcceptedProfile = "auto",
): SigningProfile | undefined => {
  const [raw, value] = [body.raw.get(name), body.value[name]];
  if (typeof signature !== "string" || raw === undefined) return undefined;
  if (accepted !== "jcs" && [raw, JSON.stringify(value)].some((text) => holds(verifier, text, signature)))
    return "literal";
  if (accepted === "literal") return undefined;
  return holds(verifier, canonicalJson(value), signature) ? "jcs" : undefined;
};
