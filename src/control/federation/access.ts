/** The rights of each trust tier (weblisk.txt, Trust Tiers). Pure. */
import { PEER_TIERS, type PeerTier } from "../../protocol/words.ts";

/** The endpoints of a federation gateway below /v1, by the lowest tier that may use them. Those for anybody prove their own signatures. */
export const ENDPOINT_TIERS = {
  health: "anonymous",
  "federation/manifest": "anonymous",
  "federation/peer": "anonymous",
  "federation/peer-accept": "anonymous",
  "federation/task": "known",
  "federation/notify": "known",
  "federation/status": "known",
  "federation/contracts": "known",
  "federation/audit": "known",
  "federation/peer-revoke": "known",
  "federation/key-rotate": "known",
} as const satisfies Readonly<Record<string, PeerTier>>;
export type FederationEndpoint = keyof typeof ENDPOINT_TIERS;

/** "Full collaboration — shared channels, workflow participation": capabilities that need more than a handshake, by their namespace or name. */
const VERIFIED_CAPABILITIES: ReadonlySet<string> = new Set([
  "agent:message",
  "workflow:execute",
  "realtime:publish",
]);

export const reaches = (tier: PeerTier, lowest: PeerTier): boolean =>
  PEER_TIERS.indexOf(tier) >= PEER_TIERS.indexOf(lowest);

/** The lowest tier that may ask for a task. `isDelegate`: it is asked for in the name of a hub. */
export const taskTier = (capability: string, isDelegate: boolean): PeerTier => {
  if (isDelegate) return "trusted";
  return VERIFIED_CAPABILITIES.has(capability) ? "verified" : ENDPOINT_TIERS["federation/task"];
};
