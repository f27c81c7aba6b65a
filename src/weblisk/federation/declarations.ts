/**
 * Signed words between two hubs. A declaration has the document's signature, which covers three members, and another one
 * over all of them with the receiver's name and a nonce, so that nobody can use it elsewhere or with another address. Pure.
 */
import * as z from "zod";
import type { JsonObject } from "../../base/json.ts";
import { HUB_ID_MAX_CHARS, PEER_CAPABILITIES_MAX } from "../../base/limits.ts";
import type { PeerView } from "../../protocol/replies/peers.ts";
import { type AlgorithmName, PEER_CHANGES, SIGNING_ALGORITHMS } from "../../protocol/words.ts";
import { publicTextOf, type Verifier, verifierOf } from "../identity/algorithms.ts";
import { profileOfSignature, signedBy } from "../signing/operations.ts";
import { checkTimestamp } from "../signing/replay.ts";
import { KeyRotationRequest } from "../types/agents.ts";
import { Capability, id, map, name, proof, seconds, text, token, url } from "../types/parts.ts";
import { TASK_PRIORITIES, TASK_STATUSES } from "../types/tasks.ts";
import type { WireBody } from "../wire/body.ts";
import { newWireId } from "../wire/ids.ts";
import { WebliskRefusal } from "../wire/refusal.ts";
import type { HubGround, OwnHub } from "./ports.ts";

const hubName = z.string().min(1).max(HUB_ID_MAX_CHARS);
const note = {
  hub_id: hubName,
  /** The hub for which it is. */
  audience: hubName,
  nonce: id,
  timestamp: seconds,
  signature: proof,
};

/** weblisk.txt, Peering Handshake, steps 1 and 3. */
export const HubDeclaration = z.looseObject({
  ...note,
  url,
  public_key: proof,
  public_key_alg: z.enum(SIGNING_ALGORITHMS).default("Ed25519"),
  capabilities: z
    .array(z.union([name, Capability]))
    .max(PEER_CAPABILITIES_MAX)
    .default([]),
  signature_full: proof,
  /** In an answer: the nonce of the declaration that it answers, and a token. */
  in_reply_to: id.optional(),
  token: token.optional(),
  expires_at: seconds.optional(),
});

/** Gives the answering hub its token: both sides have shown their keys by now. */
export const PeerAcceptance = z.looseObject({ ...note, token, expires_at: seconds });
export const PeerRevocation = z.looseObject({ ...note, reason: text.default("") });

/** A hub tells of a change of itself (notes 5: change classes); `capability`: the one that it is about. */
export const PeerNotice = z.looseObject({
  ...note,
  change: z.enum(PEER_CHANGES),
  capability: name.optional(),
});

export const PeerRotation = z.looseObject({ hub_id: hubName, rotation: KeyRotationRequest });

export const FederatedTask = z.looseObject({
  ...note,
  id,
  capability: name,
  inputs: map.default({}),
  priority: z.enum(TASK_PRIORITIES).default("normal"),
  deadline: seconds.optional(),
  /** The hub in whose name a delegate asks. */
  on_behalf_of: hubName.optional(),
});

export const FederatedResult = z.looseObject({
  ...note,
  task_id: id,
  capability: name,
  status: z.enum(TASK_STATUSES),
  output: map.default({}),
  /** SHA-256 of the inputs' canonical JSON, as they were sent. */
  request_digest: name,
  duration_ms: z.int().nonnegative(),
});

type Note = { readonly [Name in keyof typeof note]: z.output<(typeof note)[Name]> };
type Clock = Pick<HubGround, "now" | "randomBytes">;

const secondsOf = ({ now }: Pick<HubGround, "now">): number => Math.floor(now() / 1_000);

/** Signs whatever a hub tells another one. */
export const signedNote = (
  { key, ...clock }: Clock & Pick<HubGround, "key">,
  { hub_id }: Pick<OwnHub, "hub_id">,
  audience: string,
  content: JsonObject,
): JsonObject => {
  const nonce = newWireId(clock.randomBytes);
  const value = { hub_id, audience, nonce, timestamp: secondsOf(clock), ...content };
  return { ...value, ...signedBy(key, "object", value) };
};

export const signedDeclaration = (
  { key, ...clock }: Clock & Pick<HubGround, "key">,
  { hub_id, url: own }: OwnHub,
  audience: string,
  { capabilities, ...more }: { readonly capabilities: readonly string[] } & JsonObject,
): JsonObject => {
  const value = {
    hub_id,
    url: own,
    public_key: publicTextOf(key),
    public_key_alg: key.algorithm.name,
    capabilities,
    timestamp: secondsOf(clock),
    audience,
    nonce: newWireId(clock.randomBytes),
    ...more,
  };
  return {
    ...value,
    ...signedBy(key, "handshake", value),
    signature_full: signedBy(key, "object", value).signature,
  };
};

const unsigned = (message: string, reason: string): WebliskRefusal =>
  new WebliskRefusal("INVALID_SIGNATURE", message, { reason });

const checkReceiver = (said: Pick<Note, "audience" | "timestamp">, audience: string, now_s: number): void => {
  checkTimestamp(said.timestamp, now_s);
  if (said.audience !== audience)
    throw unsigned(`This is for the hub ${said.audience}; sign one for ${audience}.`, "audience_other");
};

/** The receiver: its name, and the time in epoch seconds. */
export interface Receiver {
  readonly audience: string;
  readonly now_s: number;
}

/** Throws INVALID_SIGNATURE unless the known peer has signed this for its receiver, just now. */
export const checkNote = (
  body: WireBody,
  said: Note,
  peer: Pick<PeerView, "hub_id" | "public_key" | "algorithm">,
  { audience, now_s }: Receiver,
): void => {
  checkReceiver(said, audience, now_s);
  const { public_key, algorithm } = peer;
  const verifier =
    public_key === null || algorithm === null ? undefined : verifierOf({ algorithm, publicKey: public_key });
  const isSigned = verifier && profileOfSignature(verifier, "object", body, said.signature) !== undefined;
  if (said.hub_id !== peer.hub_id || isSigned !== true)
    throw unsigned("The key of the hub that is known here has not signed this.", "hub_signature");
};

/**
 * Throws INVALID_SIGNATURE unless both signatures of a declaration hold by the key in it, and for its receiver now. Whether that key
 * is the peer's is the daemon's to say.
 */
export const checkDeclaration = (
  body: WireBody,
  said: z.output<typeof HubDeclaration>,
  { audience, now_s }: Receiver,
): void => {
  checkReceiver(said, audience, now_s);
  const verifier: Verifier | undefined = verifierOf({
    algorithm: said.public_key_alg,
    publicKey: said.public_key,
  });
  const isSigned =
    verifier !== undefined &&
    profileOfSignature(verifier, "handshake", body, said.signature) !== undefined &&
    profileOfSignature(verifier, "object", body, said.signature_full) !== undefined;
  if (!isSigned)
    throw unsigned(
      "The declaration is not signed by its public_key: signature covers hub_id, capabilities and timestamp, signature_full all members.",
      "declaration_signature",
    );
};

/** The facts of a checked declaration, as the daemon takes them. */
export const metBy = (
  said: z.output<typeof HubDeclaration>,
  randomBytes: Clock["randomBytes"],
): {
  readonly hub_id: string;
  readonly url: string;
  readonly public_key: string;
  readonly algorithm: AlgorithmName;
  readonly capabilities: string[];
  readonly timestamp: number;
  readonly session: string;
} => ({
  hub_id: said.hub_id,
  url: said.url,
  public_key: said.public_key,
  algorithm: said.public_key_alg,
  capabilities: said.capabilities.map((one) => (typeof one === "string" ? one : one.name)),
  timestamp: said.timestamp,
  session: newWireId(randomBytes),
});

/** Capabilities that this hub has and shares with a peer: the peer sees no others. */
export const sharedWith = (
  { capabilities }: Pick<OwnHub, "capabilities">,
  { shared_capabilities }: Pick<PeerView, "shared_capabilities">,
): readonly string[] => capabilities.filter((one) => shared_capabilities.includes(one));
