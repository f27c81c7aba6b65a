/**
 * Endpoints of the operator (notes 2.2: `admin/*`): agents, approvals, peers and the trail, as the commands of this machine tell them.
 * They are served at a listener of their own, which knows no other path, for the holder of a token of their own.
 */
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_ADMIN_READS_MAX, WEBLISK_ADMIN_WRITES_MAX } from "../../base/limits.ts";
import type { PeersReply } from "../../protocol/replies/peers.ts";
import { tokenOf } from "../wire/headers.ts";
import { WebliskRefusal, type WireAnswer } from "../wire/refusal.ts";
import type { ApprovalDesk } from "./approvals.ts";
import type { ServerFiles } from "./files.ts";
import { fingerprintOf, grantedTo, type RegisteredAgent } from "./grants.ts";
import type { ServerGround } from "./ports.ts";
import { type RateTeller, RequestRate } from "./rates.ts";
import { type AgentRegistry, isTokenOf, tokenDigest } from "./registry.ts";
import { APPROVE, AUDIT } from "./rights.ts";
import { type RouteRow, routeIn, type WireRoute } from "./routes.ts";
import type { TrailReader } from "./trail.ts";

type AdminEndpoint =
  | "overview"
  | "agents"
  | "agent"
  | "deregister"
  | "revoke_key"
  | "approvals"
  | "peers"
  | "audit";

const PREFIX = "/v1/admin";

export const ADMIN_ROUTES: readonly RouteRow<AdminEndpoint>[] = [
  { endpoint: "overview", methods: ["GET"], path: `${PREFIX}/overview` },
  { endpoint: "agents", methods: ["GET"], path: `${PREFIX}/agents` },
  { endpoint: "agent", methods: ["GET"], path: `${PREFIX}/agents/:` },
  { endpoint: "deregister", methods: ["POST"], path: `${PREFIX}/agents/:/deregister` },
  { endpoint: "revoke_key", methods: ["POST"], path: `${PREFIX}/agents/:/revoke-key` },
  { endpoint: "approvals", methods: ["GET"], path: `${PREFIX}/approvals` },
  { endpoint: "peers", methods: ["GET"], path: `${PREFIX}/federation/peers` },
  { endpoint: "audit", methods: ["GET"], path: `${PREFIX}/audit` },
];

/** The needs of this listener alone. */
export interface AdminTerms {
  /** The one token that opens it. */
  readonly token: string;
  readonly peers: () => Promise<PeersReply>;
}

export interface AdminGround extends AdminTerms {
  readonly ground: Pick<ServerGround, "now" | "version" | "agents">;
  readonly files: ServerFiles;
  readonly registry: AgentRegistry;
  readonly approvals: ApprovalDesk;
  readonly trail: TrailReader;
}

interface AdminCall {
  readonly route: WireRoute<AdminEndpoint>;
  readonly url: string;
  readonly told: RateTeller;
}

/** The name under which the operator's reads are counted: no agent has a colon in its name. */
const OPERATOR = "admin:operator";

export class AdminDesk {
  private readonly parts: AdminGround;
  private readonly opens: { readonly token_digest: string };
  private readonly reads = new RequestRate(WEBLISK_ADMIN_READS_MAX);
  private readonly writes = new RequestRate(WEBLISK_ADMIN_WRITES_MAX);

  constructor(parts: AdminGround) {
    this.parts = parts;
    this.opens = { token_digest: tokenDigest(parts.token) };
  }

  /** Throws INVALID_SIGNATURE without the token. */
  async answer(
    method: string,
    url: string,
    headers: Parameters<typeof tokenOf>[0],
    told: RateTeller,
  ): Promise<WireAnswer> {
    const token = tokenOf(headers);
    if (token === undefined || !isTokenOf(this.opens, token))
      throw new WebliskRefusal(
        "INVALID_SIGNATURE",
        "The operator's token is required; weblisk/admin.token of the state directory has it.",
        { reason: "admin_token" },
      );
    const route = routeIn(ADMIN_ROUTES, method, url);
    (method === "GET" ? this.reads : this.writes).take(OPERATOR, this.parts.ground.now(), told);
    return { status: 200, body: await this.endpoints[route.endpoint]({ route, url, told }), headers: {} };
  }

  private readonly endpoints: Readonly<
    Record<AdminEndpoint, (asked: AdminCall) => JsonObject | Promise<JsonObject>>
  > = {
    overview: () => this.overview(),
    agents: () => ({ agents: this.parts.registry.all().map((agent) => this.shown(agent)) }),
    agent: ({ route }) => this.shown(this.named(route.name)),
    deregister: ({ route }) => this.parts.registry.deregister({ agent: this.named(route.name) }),
    revoke_key: ({ route }) => this.parts.registry.revokeKey(this.named(route.name)),
    approvals: ({ told }) => this.parts.approvals.pending(this.operator(), told),
    peers: async () => ({ peers: (await this.parts.peers()).peers.map(shownPeer) }),
    audit: ({ url, told }) => this.parts.trail.page(url, this.operator(), told),
  };

  private async overview(): Promise<JsonObject> {
    const { ground, registry, peers } = this.parts;
    return {
      version: ground.version,
      served: ground.agents.map(({ name, capabilities, max_concurrent }) => ({
        name,
        capabilities: [...capabilities],
        max_concurrent,
      })),
      agents: registry.size(),
      peers: (await peers()).peers.length,
    };
  }

  private named(name: string): RegisteredAgent {
    const agent = this.parts.registry.find(name);
    if (agent !== undefined) return agent;
    throw new WebliskRefusal("NOT_FOUND", "No agent has registered under this name.", {
      reason: "agent_unknown",
    });
  }

  private operator() {
    return { agent: { name: OPERATOR }, capabilities: [APPROVE, AUDIT] };
  }

  private shown(agent: RegisteredAgent): JsonObject {
    const { token_digest: _, ...told } = agent;
    return {
      ...told,
      asked: [...told.asked],
      granted: [...grantedTo(this.parts.files, agent)],
      fingerprint: fingerprintOf(agent),
      status: agent.expires_at * 1_000 < this.parts.ground.now() ? "offline" : "online",
    };
  }
}

/** A session is a part of the peer's tokens. */
const shownPeer = ({ session: _, ...peer }: PeersReply["peers"][number]): JsonObject => ({ ...peer });
