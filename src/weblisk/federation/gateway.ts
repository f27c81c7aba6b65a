/**
 * The gateway of this hub (weblisk.txt, Federation): requests of other hubs to answers. It checks signatures and strips fields; the
 * daemon decides who may do what, and writes it down.
 */
import type { JsonObject } from "../../base/json.ts";
import { FEDERATION_NOTES_MAX } from "../../base/limits.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import { federatedWorker } from "../../protocol/peer.ts";
import { answerName, keepsAnswerFor } from "../../protocol/peer-retention.ts";
import type { PeerView } from "../../protocol/replies/peers.ts";
import { publicTextOf, type Verifier, verifierOf } from "../identity/algorithms.ts";
import { isWholeRotation } from "../identity/rotation.ts";
import { HealthDesk, type HealthGround } from "../server/health.ts";
import { OnceTable } from "../server/once.ts";
import type { ServedAgent, ServerGround, TaskSender } from "../server/ports.ts";
import { RequestRate } from "../server/rates.ts";
import { RequestIdTable, requestDigest } from "../server/request-ids.ts";
import { digestOf } from "../server/results.ts";
import { routeIn, type WireRoute } from "../server/routes.ts";
import { answered, type WireRequest } from "../server/server.ts";
import type { TaskTable } from "../server/tasks.ts";
import { readToken } from "../signing/tokens.ts";
import { readAs } from "../types/read.ts";
import { readBody, type WireBody } from "../wire/body.ts";
import { type RequestIds, tokenOf } from "../wire/headers.ts";
import { wireId } from "../wire/ids.ts";
import { WebliskRefusal, type WireAnswer } from "../wire/refusal.ts";
import { answerOf, crossedObject } from "./answers.ts";
import {
  checkDeclaration,
  checkNote,
  FederatedTask,
  HubDeclaration,
  metBy,
  PeerAcceptance,
  PeerNotice,
  PeerRevocation,
  PeerRotation,
  type Receiver,
  sharedWith,
  signedDeclaration,
  signedNote,
} from "./declarations.ts";
import { dropToken, keepToken, keptToken, tokenFor } from "./hub-files.ts";
import type { HubGround, OwnHub } from "./ports.ts";
import { FEDERATION_ROUTES, type FederationRoute } from "./routes.ts";

export interface GatewayGround extends HubGround, HealthGround, Pick<ServerGround, "agents" | "tell"> {
  readonly own: OwnHub;
  /** Names of agents, by the capability that a peer asks for. */
  readonly offers: Readonly<Record<string, string>>;
  readonly tasks: Pick<TaskTable, "execute" | "outcome" | "cancel">;
}

interface HubCall {
  readonly route: WireRoute<FederationRoute>;
  readonly url: string;
  readonly ids: RequestIds;
  readonly body: WireBody | undefined;
  /** The holder of the token; undefined where none is needed. */
  readonly peer: PeerView | undefined;
}

export class FederationGateway {
  private readonly ground: GatewayGround;
  private readonly verifier: Verifier;
  private readonly health: HealthDesk;
  private readonly once: OnceTable;
  private readonly requestIds: RequestIdTable;
  private readonly rate = new RequestRate(FEDERATION_NOTES_MAX);

  constructor(ground: GatewayGround) {
    this.ground = ground;
    this.once = new OnceTable(ground.files);
    this.requestIds = new RequestIdTable(ground.files);
    this.health = new HealthDesk(ground);
    this.verifier = verifierOf({
      algorithm: ground.key.algorithm.name,
      publicKey: publicTextOf(ground.key),
    })!;
  }

  /** Never rejects. */
  answer(request: WireRequest): Promise<WireAnswer> {
    return answered(request, this.ground, (ids) => this.answerOf(request, ids));
  }

  private async answerOf(
    { method, url, headers, body: read }: WireRequest,
    ids: RequestIds,
  ): Promise<WireAnswer> {
    const route = routeIn(FEDERATION_ROUTES, method, url);
    // The token is looked at before a byte of the body.
    const peer = route.needsToken === true ? await this.holder(tokenOf(headers)) : undefined;
    const { bodyMax } = route;
    const bytes = bodyMax === undefined ? undefined : await read(bodyMax);
    const body = bytes && readBody(bytes, bodyMax);
    const done = async (): Promise<WireAnswer> => {
      const told = await this.endpoints[route.endpoint]({ route, url, ids, body, peer });
      return { status: 200, body: told, headers: {} };
    };
    // A repeat of a task has its first answer by its id; notes without a token count once by their nonces.
    if (peer === undefined || bytes === undefined || !ids.isClientsRequest) return done();
    const digest = requestDigest(method, url, bytes);
    const named = { sender: senderOf(peer), id: ids.request, digest, keepsAnswer: false };
    return this.requestIds.once(named, this.ground.now(), done);
  }

  private readonly endpoints: Readonly<
    Record<FederationRoute, (asked: HubCall) => JsonObject | Promise<JsonObject>>
  > = {
    health: () => this.health.status(this.ground.own.hub_id, {}),
    manifest: () => this.manifest(),
    peer: ({ body }) => this.meet(body!),
    accept: ({ body }) => this.accept(body!),
    revoke: ({ body }) => this.revoke(body!),
    rotate: ({ body }) => this.rotate(body!),
    notify: ({ body }) => this.notify(body!),
    task: ({ body, peer, ids }) => this.task(body!, peer!, ids),
    status: ({ peer }) => this.status(peer!),
    contracts: ({ peer }) => this.contracts(peer!),
    audit: ({ peer, url }) => this.audit(peer!, url),
  };

  /** weblisk.txt, Trust Tiers: what anybody may see. */
  private manifest(): JsonObject {
    const { own, key, version } = this.ground;
    return { ...own, public_key: publicTextOf(key), public_key_alg: key.algorithm.name, version };
  }

  /** weblisk.txt, Peering Handshake, steps 2 to 4, on the side that is asked. */
  private async meet(body: WireBody): Promise<JsonObject> {
    const { ground } = this;
    const said = readAs(HubDeclaration, body.value);
    this.rate.take(said.hub_id, ground.now());
    await this.peer(said.hub_id);
    checkDeclaration(body, said, this.receiver());
    this.once.take(said.hub_id, said.nonce, this.ground.now());
    const peer = await ground.desk.meet(metBy(said, ground.randomBytes));
    const capabilities = sharedWith(ground.own, peer);
    const given = tokenFor(ground, ground.own.hub_id, metPeer(peer), capabilities);
    return signedDeclaration(ground, ground.own, peer.hub_id, {
      capabilities,
      in_reply_to: said.nonce,
      ...given,
    });
  }

  /** Its token for this hub: both sides are known to each other now. */
  private async accept(body: WireBody): Promise<JsonObject> {
    const said = readAs(PeerAcceptance, body.value);
    await this.proven(body, said);
    const { hub_id, token, expires_at } = said;
    const isNewer = expires_at >= (keptToken(this.ground, hub_id)?.expires_at ?? 0);
    if (isNewer) keepToken(this.ground, { hub_id, token, expires_at });
    return { status: "accepted" };
  }

  private async revoke(body: WireBody): Promise<JsonObject> {
    const said = readAs(PeerRevocation, body.value);
    await this.proven(body, said);
    dropToken(this.ground, said.hub_id);
    await this.ground.desk.revoke(said.hub_id, "by the peer");
    return { status: "revoked" };
  }

  /** A change that the peer tells of itself: the trail has it, and one that may break something costs trust. */
  private async notify(body: WireBody): Promise<JsonObject> {
    const said = readAs(PeerNotice, body.value);
    await this.proven(body, said);
    const { hub_id, change, capability } = said;
    const { tier } = await this.ground.desk.notify({
      hub_id,
      change,
      ...(capability !== undefined && { capability }),
    });
    return { status: "accepted", tier };
  }

  private async rotate(body: WireBody): Promise<JsonObject> {
    const { hub_id, rotation } = readAs(PeerRotation, body.value);
    this.rate.take(hub_id, this.ground.now());
    if (!isWholeRotation(rotation))
      throw new WebliskRefusal(
        "INVALID_SIGNATURE",
        "Both keys must sign the change; send it with both signatures.",
        {
          reason: "rotation_signature",
        },
      );
    await this.peer(hub_id);
    const { old_public_key, new_public_key: public_key, new_algorithm: algorithm } = rotation;
    await this.ground.desk.rekey({ hub_id, old_public_key, public_key, algorithm });
    return { status: "accepted" };
  }

  private async task(body: WireBody, peer: PeerView, { trace }: RequestIds): Promise<JsonObject> {
    const { ground } = this;
    const said = readAs(FederatedTask, body.value);
    checkNote(body, said, peer, this.receiver());
    const task_id = wireId(said.id);
    if (task_id === undefined)
      throw new WebliskRefusal("INVALID_REQUEST", "The id is not 32 hex digits; make a new one.", {
        reason: "id_malformed",
      });
    const { capability, priority, deadline, on_behalf_of } = said;
    const { value: inputs, crossed } = crossedObject(said.inputs, peer.data_boundary);
    const about = { hub_id: peer.hub_id, task_id, direction: "in" as const };
    await ground.desk.admit({
      ...about,
      capability,
      ...crossed,
      ...(on_behalf_of !== undefined && { on_behalf_of }),
    });
    const known = this.kept(peer, task_id);
    if (known !== undefined) return known;
    const served = this.agentFor(capability);
    const order = { id: task_id, inputs, priority, ...(deadline !== undefined && { deadline }) };
    const result = await this.done(served, order, peer, trace);
    const { output, crossed: gone, status } = answerOf(result, peer.data_boundary);
    await this.stillThere(peer);
    const content = {
      ...{ task_id, capability, status, output, request_digest: digestOf(said.inputs) },
      duration_ms: result.duration_ms,
    };
    await ground.desk.settle({ ...about, status, ...gone });
    return this.answerOnce(peer, content);
  }

  /** The end of the task's worker. It is begun before it is waited for, so that a peer that is revoked meanwhile leaves none behind. */
  private async done(
    served: ServedAgent,
    order: JsonObject & { readonly id: string },
    peer: PeerView,
    trace: string,
  ): Promise<JsonObject> {
    const { tasks } = this.ground;
    const sender: TaskSender = {
      agent: { name: senderOf(peer), profile: "literal" },
      capabilities: served.capabilities,
      keepsResults: false,
    };
    const manner = { trace, name: federatedWorker(peer.hub_id, order.id), isAsync: true };
    const begun = await tasks.execute(served, { value: order, raw: new Map() }, sender, manner);
    if ("result" in begun) return begun.result;
    try {
      await this.stillThere(peer);
    } catch (cause) {
      await tasks.cancel(order.id, sender);
      throw cause;
    }
    const ended = await tasks.outcome(order.id, sender);
    if ("result" in ended) return ended.result;
    throw new WebliskRefusal("AGENT_TIMEOUT", "The task goes on; send the same request again.", {
      reason: "task_goes_on",
    });
  }

  private kept({ hub_id }: PeerView, task_id: string): JsonObject | undefined {
    const { vault, now } = this.ground;
    const name = answerName("in", hub_id, task_id);
    const text = vault.open(name, now());
    if (text !== undefined) return JSON.parse(text);
    if (!vault.isOver(name, now())) return undefined;
    throw new WebliskRefusal(
      "RETENTION_EXPIRED",
      "The answer was kept as long as was agreed; give the task again, with a new id.",
      { reason: "answer_expired" },
    );
  }

  /** The same answer each time, also where a signature differs each time that it is made; no file has it in clear. */
  private answerOnce(peer: PeerView, content: JsonObject & { readonly task_id: string }): JsonObject {
    const { vault, own, now } = this.ground;
    const { hub_id, data_boundary } = peer;
    const answer = signedNote(this.ground, own, hub_id, content);
    const terms = { until_ms: now() + keepsAnswerFor(data_boundary.retention, "in"), owner: hub_id };
    const name = answerName("in", hub_id, content.task_id);
    return JSON.parse(vault.seal(name, JSON.stringify(answer), terms, now()));
  }

  /** A task of a peer's is the peer's alone: about others, or about itself at another hub, it learns nothing. */
  private status({
    hub_id,
    tier,
    shared_capabilities,
    rate_limit,
    rate_remaining,
    open,
  }: PeerView): JsonObject {
    const { own } = this.ground;
    const capabilities = sharedWith(own, { shared_capabilities });
    return {
      hub_id: own.hub_id,
      peer: hub_id,
      tier,
      capabilities,
      rate_limit,
      rate_remaining,
      open: open.length,
    };
  }

  private contracts({ hub_id, shared_capabilities, data_boundary, rate_limit }: PeerView): JsonObject {
    const shared = sharedWith(this.ground.own, { shared_capabilities });
    return { contracts: [{ peer: hub_id, shared_capabilities: shared, data_boundary, rate_limit }] };
  }

  /** A page of the trail: the entries about this peer's handshakes and tasks. `after` in the query goes on. */
  private async audit({ hub_id }: PeerView, url: string): Promise<JsonObject> {
    const after = Number(new URLSearchParams(url.split("?")[1]).get("after") ?? 0);
    const page = await this.ground.desk.audit(after);
    const entries = page.entries.filter(
      ({ target, action }) => target === hub_id && /^(?:task\.|peer\.handshake$)/.test(action),
    );
    return { entries: entries.map(({ seq: _, ...entry }) => entry), next: page.next, is_end: page.is_end };
  }

  private agentFor(capability: string): ServedAgent {
    const name = Object.hasOwn(this.ground.offers, capability) ? this.ground.offers[capability] : undefined;
    const served = this.ground.agents.find((agent) => agent.name === name);
    if (served !== undefined) return served;
    throw new WebliskRefusal("CAPABILITY_DENIED", `No agent here has the capability ${capability}.`, {
      reason: "capability_not_offered",
    });
  }

  private async peer(hub_id: string): Promise<PeerView> {
    try {
      return await this.ground.desk.show(hub_id);
    } catch (cause) {
      if (asHoldfastError(cause).code !== "PEER_NOT_FOUND") throw cause;
      throw new WebliskRefusal(
        "PEER_UNTRUSTED",
        "This hub does not federate with yours; ask its operator to add it.",
        {
          reason: "peer_unknown",
        },
      );
    }
  }

  private async holder(token: string | undefined): Promise<PeerView> {
    if (token === undefined)
      throw new WebliskRefusal(
        "INVALID_SIGNATURE",
        "A federation token is required; do the handshake first.",
        {
          reason: "token_missing",
        },
      );
    const now = this.receiver().now_s;
    const claims = readToken(token, { now, issuer: this.verifier, iss: this.ground.own.hub_id });
    const peer = await this.peer(claims.sub);
    if (peer.session !== null && peer.session === claims.cid) return peer;
    throw new WebliskRefusal("INVALID_SIGNATURE", "The token holds no more; do the handshake again.", {
      reason: "token_revoked",
    });
  }

  /** Throws unless the acquaintance is the one that it was. */
  private async stillThere({ hub_id, session }: PeerView): Promise<void> {
    const now = await this.peer(hub_id);
    if (now.session === session) return;
    throw new WebliskRefusal(
      "PEER_UNTRUSTED",
      "There was another handshake meanwhile; send the request again.",
      {
        reason: "session_over",
      },
    );
  }

  /** A note of a known peer, once. */
  private async proven(body: WireBody, said: Parameters<typeof checkNote>[1]): Promise<void> {
    this.rate.take(said.hub_id, this.ground.now());
    checkNote(body, said, await this.peer(said.hub_id), this.receiver());
    this.once.take(said.hub_id, said.nonce, this.ground.now());
  }

  private receiver(): Receiver {
    return { audience: this.ground.own.hub_id, now_s: Math.floor(this.ground.now() / 1_000) };
  }
}

/** No registered agent has a colon in its name. */
const senderOf = ({ hub_id }: Pick<PeerView, "hub_id">): string => `hub:${hub_id}`;

const metPeer = ({ hub_id, session }: PeerView): { readonly hub_id: string; readonly session: string } => ({
  hub_id,
  session: session!,
});
