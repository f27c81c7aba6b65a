/** Sends a request to another hub, and reads its answer within bounds: the address is guarded as for every peer of the wire. */
import { crashPoint } from "../../base/crash-point.ts";
import type { JsonObject } from "../../base/json.ts";
import { FEDERATION_POST_MAX_MS } from "../../base/limits.ts";
import { saysItsAddress } from "../../base/orchestrator-url.ts";
import { exchange } from "../client/exchange.ts";
import type { WireBody } from "../wire/body.ts";

export interface HubReply {
  readonly status: number;
  /** A refusal that is no JSON, as proxies write them, has none of its members. */
  readonly body: WireBody;
}

/** Between hubs, nothing older (weblisk notes 1). */
export const FEDERATION_TLS = "TLSv1.3" as const;

/** `silent`: nobody answers there. `slow`: no answer within FEDERATION_POST_MAX_MS. */
export type HubPost = (
  url: string,
  body: JsonObject,
  token?: string,
) => Promise<HubReply | "silent" | "slow">;

/**
 * Throws a WebliskRefusal if an answer of success is no JSON that can be read in one way only, or is too large, and
 * POLICY_VIOLATION for an address to which nothing may connect.
 */
export const postToHub: HubPost = async (url, body, token) => {
  const reply = await exchange({
    method: "POST",
    url: new URL(url),
    body,
    isPrivateAllowed: saysItsAddress(url),
    timeout_ms: FEDERATION_POST_MAX_MS,
    minVersion: FEDERATION_TLS,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  });
  crashPoint("weblisk-step");
  if (typeof reply === "string") return reply;
  return { status: reply.status, body: reply.body ?? { value: {}, raw: new Map() } };
};
