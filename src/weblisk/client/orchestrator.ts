/** This side at an orchestrator elsewhere: it registers with its key, and keeps its token and the keys of the agents there. */
import { asObject, asString, type JsonObject } from "../../base/json.ts";
import { WEBLISK_CALL_MAX_MS, WEBLISK_RENEW_S } from "../../base/limits.ts";
import { VERSION } from "../../base/version.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { RemotePlace } from "../../protocol/weblisk-lines.ts";
import { AGENT_CAPABILITIES } from "../../protocol/words.ts";
import {
  type IdentityKey,
  type PublicKeyRecord,
  publicTextOf,
  signText,
  type Verifier,
  verifierOf,
} from "../identity/algorithms.ts";
import { ensureIdentity, ORCHESTRATOR, publicPart } from "../identity/opened.ts";
import { readToken } from "../signing/tokens.ts";
import { RegisterResponse, ServiceDirectory } from "../types/agents.ts";
import { readAs } from "../types/read.ts";
import type { WireBody } from "../wire/body.ts";
import { newWireId } from "../wire/ids.ts";
import type { IncomingReply, OutgoingCall, WireExchange } from "./exchange.ts";
import { type KnownOrchestrator, keyShown, knownFile, readKnown, writeKnown } from "./known.ts";
import { believed, refusedBy, unheard, untrusted } from "./refused.ts";
import { inTurnOf, type TurnGround } from "./turns.ts";

export interface ClientGround extends TurnGround {
  readonly stateDir: string;
  readonly exchange: WireExchange;
  readonly randomBytes: (size: number) => Buffer;
}

/** The part of a registration that this side chooses. */
export interface OwnRegistration {
  readonly capabilities: readonly string[];
  /** Its address, for others there. */
  readonly own_url: string;
  /** Keys that were seen before do not count. */
  readonly isNewKeys?: boolean;
}

/** A sender of tasks has no address; this name has none for anybody (RFC 2606). */
const NO_ADDRESS = "https://holdfast.invalid";

const asReply = (url: string, reply: IncomingReply | "silent" | "slow"): IncomingReply => {
  if (typeof reply === "string") throw unheard(url);
  return reply;
};

/** Each call fails with UNAVAILABLE if nobody answers, and with PEER_UNTRUSTED if an answer is not to be believed. */
export class OrchestratorClient {
  private readonly ground: ClientGround;
  private readonly place: RemotePlace;
  private readonly call_ms: number;
  private readonly key: IdentityKey;
  /** The name of this side there. */
  readonly name: string;

  /** `call_ms`: the longest request. */
  constructor(ground: ClientGround, place: RemotePlace, call_ms = WEBLISK_CALL_MAX_MS) {
    this.ground = ground;
    this.call_ms = call_ms;
    this.place = place;
    this.key = ensureIdentity(ground.stateDir, place.as ?? ORCHESTRATOR).key;
    this.name = place.as ?? `hub-${publicPart(ORCHESTRATOR, this.key).fingerprint.slice(0, 12)}`;
  }

  get host(): string {
    return new URL(this.place.url).host;
  }

  /** Registers, or renews. Fails with NOT_AUTHORISED, or as the orchestrator refuses. */
  register(own?: Partial<OwnRegistration>): Promise<KnownOrchestrator> {
    return this.inTurn(() => this.registered(own));
  }

  /** Sends a request with the token; one that holds no more is renewed once. */
  async call(
    method: OutgoingCall["method"],
    path: string,
    more: Pick<OutgoingCall, "body" | "headers" | "signal" | "timeout_ms"> = {},
  ): Promise<IncomingReply | "silent" | "slow"> {
    const token = await this.token();
    const reply = await this.send(method, path, token, more);
    // Another token may have rights that were given since.
    if (typeof reply === "string" || ![401, 403].includes(reply.status)) return reply;
    return this.send(method, path, await this.token(token), more);
  }

  /** The key of an agent there: the one that was seen first. Fails with INVALID_REQUEST if no such agent is listed. */
  async keyOf(agent: string): Promise<Verifier> {
    const kept = this.kept()?.agents ?? {};
    const known = Object.hasOwn(kept, agent) ? kept[agent] : undefined;
    return verifierOf(known ?? (await this.pinned(agent)))!;
  }

  private async pinned(agent: string): Promise<PublicKeyRecord> {
    const reply = asReply(this.place.url, await this.call("GET", "/v1/services"));
    if (reply.status !== 200) throw refusedBy(this.host, reply);
    const { agents, services } = await believed(this.host, () =>
      readAs(ServiceDirectory, bodyIn(reply).value),
    );
    const found = [...agents, ...(services ?? [])].find(({ name }) => name === agent);
    if (found === undefined)
      throw new HoldfastError("INVALID_REQUEST", `${this.host} lists no agent ${agent}.`, {
        suggestion: `It lists ${
          agents
            .map(({ name }) => name)
            .slice(0, 8)
            .join(", ") || "none"
        }.`,
      });
    const key = keyShown(found.public_key, asString((found as JsonObject).public_key_alg));
    if (key === undefined) throw untrusted(this.host, `the key of ${agent} is none that proves anything.`);
    return this.inTurn(async () => {
      const kept = this.kept()!;
      // Another process may have seen one first.
      const agents = { [agent]: key, ...kept.agents };
      writeKnown(this.ground.files, { ...kept, agents });
      return agents[agent] as PublicKeyRecord;
    });
  }

  /** A token that holds, other than `refused`. */
  private async token(refused?: string): Promise<string> {
    const good = (): string | undefined => {
      const kept = this.kept();
      const holds = kept !== undefined && kept.expires_at > this.seconds() + WEBLISK_RENEW_S;
      return holds && kept.token !== refused ? kept.token : undefined;
    };
    // Another process may have renewed it meanwhile; a second renewal would end the first one's token.
    return good() ?? this.inTurn(async () => good() ?? (await this.registered()).token);
  }

  private async registered(own: Partial<OwnRegistration> = {}): Promise<KnownOrchestrator> {
    const { files, randomBytes } = this.ground;
    const kept = this.kept();
    const capabilities = own.capabilities ?? kept?.capabilities ?? AGENT_CAPABILITIES;
    const own_url = own.own_url ?? kept?.own_url ?? NO_ADDRESS;
    const now = this.seconds();
    const manifest = {
      name: this.name,
      type: "agent",
      version: VERSION,
      description: "An agent of Holdfast.",
      url: own_url,
      public_key: publicTextOf(this.key),
      public_key_alg: this.key.algorithm.name,
      capabilities: capabilities.map((name) => ({ name })),
      nonce: newWireId(randomBytes),
      signed_at: now,
    };
    // It goes out in this very form, so that the signature holds for its text, for its value, and for canonical JSON.
    const body = { manifest, signature: signText(this.key, canonicalJson(manifest)), timestamp: now };
    const reply = asReply(this.place.url, await this.send("POST", "/v1/register", undefined, { body }));
    if (reply.status !== 200) throw refusedBy(this.host, reply);
    const seen = own.isNewKeys === true ? undefined : kept;
    const known = await believed(this.host, () => {
      const said = readAs(RegisterResponse, bodyIn(reply).value);
      const { agent_id, token, expires_at } = said;
      const key = this.provenKey(said, seen?.key, now);
      const agents = seen?.agents ?? {};
      const { url } = this.place;
      const facts = { url, name: this.name, agent_id, capabilities, own_url, token, expires_at, agents };
      return { ...facts, ...(key !== undefined && { key }) };
    });
    writeKnown(files, known);
    return known;
  }

  /** The orchestrator's key: the one that was seen first, and that has signed this token. */
  private provenKey(
    {
      token,
      orchestrator,
    }: { readonly token: string; readonly orchestrator?: { readonly public_key: string } | undefined },
    known: PublicKeyRecord | undefined,
    now: number,
  ): PublicKeyRecord | undefined {
    const shown = orchestrator === undefined ? undefined : keyShown(orchestrator.public_key);
    if (orchestrator !== undefined && shown === undefined)
      throw untrusted(this.host, "its key is none that proves anything.");
    const key = known ?? shown;
    if (key === undefined) return undefined;
    if (shown !== undefined && shown.publicKey !== key.publicKey)
      throw untrusted(this.host, "it shows another key than before.");
    readToken(token, { now, issuer: verifierOf(key)!, iss: issuerIn(token), isCompat: true });
    return key;
  }

  private send(
    method: OutgoingCall["method"],
    path: string,
    token: string | undefined,
    { body, headers, ...more }: Pick<OutgoingCall, "body" | "headers" | "signal" | "timeout_ms">,
  ): Promise<IncomingReply | "silent" | "slow"> {
    const { url, isPrivateAllowed } = this.place;
    const call: OutgoingCall = {
      method,
      url: new URL(`${url}${path}`),
      isPrivateAllowed,
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      timeout_ms: this.call_ms,
      // The document's requests tell the token in both places.
      ...(body !== undefined && { body: token === undefined ? body : { ...body, token } }),
      ...more,
    };
    return believed(this.host, () => this.ground.exchange(call));
  }

  private kept(): KnownOrchestrator | undefined {
    return readKnown(this.ground.files, this.place.url, this.name);
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    return inTurnOf(this.ground, knownFile(this.place.url, this.name), work);
  }

  private seconds(): number {
    return Math.floor(this.ground.now() / 1_000);
  }
}

const bodyIn = ({ body }: IncomingReply): WireBody => body!;

/** The issuer that a token names; "" for what is none. Its signature is checked after that. */
const issuerIn = (token: string): string => {
  try {
    const [, payload = ""] = token.split(".");
    return asString(asObject(JSON.parse(Buffer.from(payload, "base64url").toString("utf8")))?.iss) ?? "";
  } catch {
    return "";
  }
};
