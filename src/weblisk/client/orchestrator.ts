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
import {
  dropKnown,
  type KnownOrchestrator,
  keyShown,
  knownFile,
  knownOf,
  readKnown,
  writeKnown,
} from "./known.ts";
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

type RegistrationFacts = Pick<KnownOrchestrator, "capabilities" | "own_url">;
type UntoldChange = KnownOrchestrator & Required<Pick<KnownOrchestrator, "rotation">>;

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
  private readonly identity: string;
  private readonly key: IdentityKey;
  private registeredName: string;

  /** `call_ms`: the longest request. */
  constructor(ground: ClientGround, place: RemotePlace, call_ms = WEBLISK_CALL_MAX_MS) {
    this.ground = ground;
    this.call_ms = call_ms;
    this.place = place;
    this.identity = place.as ?? ORCHESTRATOR;
    this.key = ensureIdentity(ground.stateDir, this.identity).key;
    const known = knownOf(ground.files, this.identity).find(({ url }) => url === place.url);
    this.registeredName = known?.name ?? this.nameByKey();
  }

  /** The name of this side there. It stays if the key changes. */
  get name(): string {
    return this.registeredName;
  }

  get url(): string {
    return this.place.url;
  }

  get host(): string {
    return new URL(this.place.url).host;
  }

  /** Registers, or renews. Fails with NOT_AUTHORISED, or as the orchestrator refuses. */
  register(own?: Partial<OwnRegistration>): Promise<KnownOrchestrator> {
    return this.inTurn(() => this.registered(own));
  }

  /** Has a token that holds; a change of the key that is untold is told. Fails as `register`. */
  async renew(): Promise<void> {
    await this.token();
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
      const isKnown = kept !== undefined && this.untold() === undefined;
      const holds = isKnown && kept.expires_at > this.seconds() + WEBLISK_RENEW_S;
      return holds && kept.token !== refused ? kept.token : undefined;
    };
    // Another process may have renewed it meanwhile; a second renewal would end the first one's token.
    return good() ?? this.inTurn(async () => good() ?? (await this.registered()).token);
  }

  private async registered(own: Partial<OwnRegistration> = {}): Promise<KnownOrchestrator> {
    const change = this.untold();
    const rekeyed = change && (await this.rekeyed(change));
    if (rekeyed !== undefined && Object.keys(own).length === 0) return rekeyed;
    const kept = this.kept();
    const facts = {
      capabilities: own.capabilities ?? kept?.capabilities ?? AGENT_CAPABILITIES,
      own_url: own.own_url ?? kept?.own_url ?? NO_ADDRESS,
    };
    const seen = own.isNewKeys === true ? undefined : kept;
    const reply = await this.asked(facts);
    const isOfOldKey = asString(reply.body?.value.code) === "NAMESPACE_CONFLICT";
    if (!isOfOldKey || kept === undefined || this.name === this.nameByKey())
      return this.learned(reply, facts, seen);
    // The old key is gone, and only it could have given the name away.
    dropKnown(this.ground.files, kept);
    this.registeredName = this.nameByKey();
    return this.learned(await this.asked(facts), facts, seen);
  }

  /** The same name and rights by another key, as both keys have signed; undefined if the orchestrator does not take it. */
  private async rekeyed({ rotation, ...kept }: UntoldChange): Promise<KnownOrchestrator | undefined> {
    const sent = await this.send("POST", "/v1/rotate-key", kept.token, { body: { ...rotation } });
    const reply = asReply(this.place.url, sent);
    if (reply.status === 200) return this.learned(reply, kept, kept);
    // It would say so again. A registration by the new key tells whether an earlier answer was lost.
    writeKnown(this.ground.files, kept);
    return undefined;
  }

  /** The facts of a registration whose orchestrator may not know the key of now. */
  private untold(): UntoldChange | undefined {
    const kept = this.kept();
    const rotation = kept?.rotation;
    if (rotation === undefined || rotation.new_public_key !== publicTextOf(this.key)) return undefined;
    return { ...kept!, rotation };
  }

  private nameByKey(): string {
    return this.place.as ?? `hub-${publicPart(ORCHESTRATOR, this.key).fingerprint.slice(0, 12)}`;
  }

  /** Asks for a registration. */
  private async asked({ capabilities, own_url }: RegistrationFacts): Promise<IncomingReply> {
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
      nonce: newWireId(this.ground.randomBytes),
      signed_at: now,
    };
    // It goes out in this very form, so that the signature holds for its text, for its value, and for canonical JSON.
    const body = { manifest, signature: signText(this.key, canonicalJson(manifest)), timestamp: now };
    return asReply(this.place.url, await this.send("POST", "/v1/register", undefined, { body }));
  }

  /** Keeps what the answer to a registration says. `seen`: what was known before. */
  private async learned(
    reply: IncomingReply,
    { capabilities, own_url }: RegistrationFacts,
    seen: KnownOrchestrator | undefined,
  ): Promise<KnownOrchestrator> {
    if (reply.status !== 200) throw refusedBy(this.host, reply);
    const known = await believed(this.host, () => {
      const said = readAs(RegisterResponse, bodyIn(reply).value);
      const { agent_id, token, expires_at } = said;
      const key = this.provenKey(said, seen?.key, this.seconds());
      const own = { url: this.place.url, identity: this.identity, name: this.name, capabilities, own_url };
      const given = { agent_id, token, expires_at, agents: seen?.agents ?? {} };
      return { ...own, ...given, ...(key !== undefined && { key }) };
    });
    writeKnown(this.ground.files, known);
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
