/** Registered agents (weblisk.txt, Identity): who they are by their keys, their tokens, and the directory of all. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_AGENTS_MAX, WEBLISK_REGISTRATIONS_MAX } from "../../base/limits.ts";
import { type AcceptedProfile, SIGNING_ALGORITHMS } from "../../protocol/words.ts";
import { type IdentityKey, publicTextOf, type Verifier, verifierOf } from "../identity/algorithms.ts";
import { ORCHESTRATOR } from "../identity/key-files.ts";
import { unsignedKeyOf } from "../identity/rotation.ts";
import { profileOfMember } from "../signing/operations.ts";
import { checkTimestamp } from "../signing/replay.ts";
import { issueToken, readToken, TOKEN_LIFETIMES_S, type TokenClaims } from "../signing/tokens.ts";
import { KeyRotationRequest, RegisterRequest } from "../types/agents.ts";
import { readAs } from "../types/read.ts";
import type { WireBody } from "../wire/body.ts";
import { newWireId, wireId } from "../wire/ids.ts";
import { WebliskRefusal } from "../wire/refusal.ts";
import type { ServerFiles } from "./files.ts";
import { grantedTo, type RegisteredAgent } from "./grants.ts";
import { OnceTable } from "./once.ts";
import type { ServedAgent, ServerGround } from "./ports.ts";
import { type RateTeller, RequestRate } from "./rates.ts";

/** The one version of the protocol that there is. */
const PROTOCOL_VERSION = "1";

/** The text that a sender signs. */
const SIGNED_TEXT: Readonly<Record<AcceptedProfile, string>> = {
  auto: "JSON.stringify(manifest)",
  literal: "JSON.stringify(manifest)",
  jcs: "its canonical JSON (RFC 8785)",
};

export interface WireCaller {
  readonly agent: RegisteredAgent;
  /** Names of capabilities that the token has, and that a person still grants. */
  readonly capabilities: readonly string[];
}

/** SHA-256 in hex: a token itself is kept nowhere. */
export const tokenDigest = (token: string): string => createHash("sha256").update(token).digest("hex");

/** In constant time. */
export const isTokenOf = ({ token_digest }: { readonly token_digest: string }, token: string): boolean => {
  const [kept, given] = [token_digest, tokenDigest(token)];
  return kept.length === given.length && timingSafeEqual(Buffer.from(kept), Buffer.from(given));
};

export class AgentRegistry {
  private readonly ground: ServerGround;
  private readonly files: ServerFiles;
  private readonly key: IdentityKey;
  private readonly verifier: Verifier;
  private readonly once: OnceTable;
  private readonly rate = new RequestRate(WEBLISK_REGISTRATIONS_MAX);
  private readonly agents: Map<string, RegisteredAgent>;

  constructor(ground: ServerGround, files: ServerFiles) {
    this.ground = ground;
    this.files = files;
    this.once = new OnceTable(files);
    this.key = ground.keys.of(ORCHESTRATOR);
    this.verifier = verifierOf({ algorithm: this.key.algorithm.name, publicKey: publicTextOf(this.key) })!;
    const known = files.names("agents").flatMap((name) => files.read<RegisteredAgent>("agents", name) ?? []);
    const { signing = "auto" } = ground;
    // An agent may have registered with an earlier server in another profile; this server answers it in its own.
    const pinned = signing === "auto" ? known : known.map((agent) => ({ ...agent, profile: signing }));
    this.agents = new Map(pinned.map((agent) => [agent.name, agent]));
  }

  size(): number {
    return this.agents.size;
  }

  /** A new token for the holder of the key that signed the manifest; a registration is also the only renewal. */
  register(body: WireBody, told?: RateTeller): JsonObject {
    const now = this.seconds();
    const { manifest, signature, timestamp } = readAs(RegisterRequest, body.value);
    const { name, protocol_version = PROTOCOL_VERSION } = manifest;
    if (protocol_version !== PROTOCOL_VERSION)
      throw new WebliskRefusal(
        "UNSUPPORTED_VERSION",
        `Version ${PROTOCOL_VERSION} of the protocol is spoken.`,
      );
    checkTimestamp(timestamp, now);
    if (name === ORCHESTRATOR || this.ground.agents.some((served) => served.name === name))
      throw new WebliskRefusal(
        "NAMESPACE_RESERVED",
        `The name ${name} is taken by this server; choose another.`,
      );
    const found = this.agents.get(name);
    const algorithm = this.algorithmOf(manifest.public_key, manifest.public_key_alg);
    const verifier = algorithm && verifierOf({ algorithm, publicKey: manifest.public_key });
    const profile = verifier && profileOfMember(verifier, body, "manifest", signature, this.ground.signing);
    if (profile === undefined || algorithm === undefined)
      throw new WebliskRefusal(
        "INVALID_SIGNATURE",
        `The manifest is not signed by its public_key; sign ${SIGNED_TEXT[this.ground.signing ?? "auto"]} with its private key.`,
        { reason: "manifest_signature" },
      );
    if (found !== undefined && found.public_key !== manifest.public_key)
      throw new WebliskRefusal(
        "NAMESPACE_CONFLICT",
        `The name ${name} belongs to another key; deregister it with that key, or choose another name.`,
        { reason: "name_of_another_key" },
      );
    // New names share a rate, so that a flood of them leaves those that are known their renewals.
    this.rate.take(found === undefined ? "" : name, this.ground.now(), told);
    this.checkOnce(name, manifest, now);
    this.makeRoom(name, now);
    const asked = manifest.capabilities.map((capability) => capability.name);
    const holder = { name, public_key: manifest.public_key };
    // Anybody who has recorded a manifest without a nonce can send it again with a new time: it gets no rights.
    const rights = manifest.nonce === undefined ? [] : grantedTo(this.files, holder);
    const admitted = {
      ...holder,
      agent_id: found?.agent_id ?? newWireId(this.ground.randomBytes),
      algorithm,
      profile,
      url: manifest.url,
      type: manifest.type,
      asked,
      max_concurrent: manifest.max_concurrent,
    };
    return this.admit(admitted, rights);
  }

  /** Gives the agent a new token, the only one that holds, with those of the rights for which it asks. */
  private admit(
    holder: Omit<RegisteredAgent, "token_digest" | "registered_at" | "expires_at">,
    rights: readonly string[],
  ): JsonObject {
    const now = this.seconds();
    const { name, asked } = holder;
    const granted = rights.filter((capability) => asked.includes(capability));
    const expires_at = now + TOKEN_LIFETIMES_S.agent;
    const token = this.issue({ sub: name, iat: now, exp: expires_at, cap: granted, cid: "" });
    const agent = { ...holder, token_digest: tokenDigest(token), registered_at: now, expires_at };
    this.files.write("agents", name, agent);
    this.agents.set(name, agent);
    return {
      agent_id: agent.agent_id,
      token,
      expires_at,
      services: this.directory(),
      orchestrator: {
        url: this.ground.url(),
        public_key: publicTextOf(this.key),
        version: this.ground.version,
        supported_versions: [PROTOCOL_VERSION],
      },
      protocol_version: PROTOCOL_VERSION,
    };
  }

  /**
   * Gives the name to another key of the same holder: both keys have signed so, once, just now. Rights go with it. The old key, its
   * tokens and its channels hold no more.
   */
  rotate({ value }: WireBody, { agent }: WireCaller, told?: RateTeller): JsonObject {
    this.rate.take(agent.name, this.ground.now(), told);
    const { token: _, ...said } = value;
    const rotation = readAs(KeyRotationRequest, said);
    const { new_public_key: public_key, new_algorithm: algorithm, nonce, timestamp } = rotation;
    if (rotation.agent_id !== agent.name)
      throw new WebliskRefusal("FORBIDDEN", `The token is ${agent.name}'s; rotate the key of that name.`, {
        reason: "another_name",
      });
    const unsigned = rotation.old_public_key === agent.public_key ? unsignedKeyOf(rotation) : "old";
    if (unsigned === "old")
      throw new WebliskRefusal("INVALID_SIGNATURE", "The key that has the name did not sign the change.", {
        reason: "current_signature",
      });
    if (unsigned === "new" || this.algorithmOf(public_key, algorithm) === undefined)
      throw new WebliskRefusal(
        "INVALID_REQUEST",
        "The new key did not sign the change, or its algorithm is not taken here.",
        { reason: "new_signature" },
      );
    checkTimestamp(timestamp, this.seconds());
    this.takeNonce(agent.name, nonce);
    // A server that was killed between the two files leaves the rights with the old key or with the new one, which both signed.
    const rights = [agent, { ...agent, public_key }].map((holder) => grantedTo(this.files, holder));
    const granted = [...new Set(rights.flat())];
    if (granted.length > 0) this.files.write("grants", agent.name, { public_key, capabilities: granted });
    return this.admit({ ...agent, algorithm, public_key }, granted);
  }

  /** Frees the name; its token holds no more. */
  deregister({ agent: { name } }: Pick<WireCaller, "agent">): JsonObject {
    this.files.remove("agents", name);
    this.files.remove("grants", name);
    this.agents.delete(name);
    return { status: "deregistered" };
  }

  /** Takes all rights from the key, and ends its token; the name stays the key's. */
  revokeKey(agent: RegisteredAgent): JsonObject {
    this.files.remove("grants", agent.name);
    // No token has this digest.
    const revoked = { ...agent, token_digest: "", expires_at: this.seconds() };
    this.files.write("agents", agent.name, revoked);
    this.agents.set(agent.name, revoked);
    return { status: "revoked" };
  }

  all(): readonly RegisteredAgent[] {
    return [...this.agents.values()];
  }

  find(name: string): RegisteredAgent | undefined {
    return this.agents.get(name);
  }

  issue(claims: Omit<TokenClaims, "iss">): string {
    return issueToken(this.key, { ...claims, iss: ORCHESTRATOR });
  }

  /** The claims of a token of this server that has not expired; it may be revoked. */
  claims(token: string | undefined): TokenClaims {
    if (token === undefined)
      throw new WebliskRefusal("INVALID_SIGNATURE", "A valid token is required; register first.", {
        reason: "token_missing",
      });
    return readToken(token, { now: this.seconds(), issuer: this.verifier, iss: ORCHESTRATOR });
  }

  /** The holder of a token that holds now. Throws INVALID_SIGNATURE or TOKEN_EXPIRED. */
  caller(token: string | undefined): WireCaller {
    const claims = this.claims(token);
    const agent = this.agents.get(claims.sub);
    if (agent === undefined || claims.cid !== "" || !isTokenOf(agent, token!))
      throw new WebliskRefusal("INVALID_SIGNATURE", "The token holds no more; register to get another.", {
        reason: "token_revoked",
      });
    return { agent, capabilities: this.stillGranted(agent, claims) };
  }

  /** All agents, those of this machine first, by both names that the list has. */
  directory(): JsonObject {
    const served = this.ground.agents.map((agent) => this.servedEntry(agent));
    const now = this.seconds();
    const registered = [...this.agents.values()].map(
      ({ name, url, type, public_key, asked, expires_at }) => ({
        name,
        url,
        type,
        public_key,
        capabilities: asked.map((capability) => ({ name: capability })),
        status: expires_at < now ? "offline" : "online",
      }),
    );
    const agents = [...served, ...registered];
    return { agents, services: agents, updated_at: now };
  }

  private servedEntry({ name, capabilities }: ServedAgent): JsonObject {
    return {
      name,
      url: `${this.ground.url()}/agents/${name}`,
      type: "agent",
      public_key: publicTextOf(this.ground.keys.of(name)),
      capabilities: capabilities.map((capability) => ({ name: capability })),
      status: "online",
    };
  }

  private stillGranted(agent: RegisteredAgent, { cap }: TokenClaims): readonly string[] {
    if (cap.length === 0) return [];
    const granted = grantedTo(this.files, agent);
    return cap.filter((capability) => granted.includes(capability));
  }

  /** Ed25519, and the algorithm of this server's own key. Undefined for any other. */
  private algorithmOf(public_key: string, said: string | undefined) {
    const accepted = SIGNING_ALGORITHMS.filter(
      (name) => name === "Ed25519" || name === this.key.algorithm.name,
    );
    return accepted.find((name) =>
      said === undefined
        ? verifierOf({ algorithm: name, publicKey: public_key }) !== undefined
        : name === said,
    );
  }

  /** A manifest with a nonce registers once. One without is bound to the time of its request alone. */
  private checkOnce(
    name: string,
    { nonce, signed_at }: { readonly nonce?: string | undefined; readonly signed_at?: number | undefined },
    now: number,
  ): void {
    if (nonce === undefined) return;
    checkTimestamp(signed_at, now);
    this.takeNonce(name, nonce);
  }

  private takeNonce(name: string, nonce: string): void {
    const id = wireId(nonce);
    if (id === undefined)
      throw new WebliskRefusal("INVALID_REQUEST", "The nonce is no id of 32 hex digits; make a new one.", {
        reason: "nonce_malformed",
      });
    this.once.take(name, id, this.ground.now());
  }

  private makeRoom(name: string, now: number): void {
    if (this.agents.has(name) || this.agents.size < WEBLISK_AGENTS_MAX) return;
    const idle = [...this.agents.values()].find(
      (agent) => agent.expires_at < now && grantedTo(this.files, agent).length === 0,
    );
    if (idle === undefined)
      throw new WebliskRefusal(
        "RATE_LIMITED",
        `${WEBLISK_AGENTS_MAX} agents are registered; try again later.`,
        {
          reason: "agents_full",
          retry_after: 3_600,
        },
      );
    this.files.remove("agents", idle.name);
    this.agents.delete(idle.name);
  }

  private seconds(): number {
    return Math.floor(this.ground.now() / 1_000);
  }
}
