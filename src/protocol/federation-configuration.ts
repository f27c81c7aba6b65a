/** Peers in the configuration, with the keys of weblisk.txt, Data Boundary Contracts: `federation.peers.HUB`. */
import * as z from "zod";
import { parseSize } from "../base/durations.ts";
import {
  FEDERATED_PAYLOAD_DEFAULT_BYTES,
  FEDERATED_PAYLOAD_MAX_BYTES,
  PEER_RATE_DEFAULT,
  PEER_RATE_MAX,
  PEERS_MAX,
} from "../base/limits.ts";
import type { PeerTerms } from "./peer-records.ts";
import { capabilities, fieldNames, HubId, retention } from "./peer-requests.ts";

/** weblisk.txt, Trust Tiers: trusted is an "explicit trust grant by admin", so a file gives none. */
const TrustTier = z.enum(["known", "verified"], {
  error: ({ input }) =>
    input === "trusted"
      ? "trusted is the grant of a person: write verified, and run agent peer trust once the hub is verified"
      : "it is known or verified: the highest tier that the hub gets by its behaviour",
});

const rate = `it is N/hour, with N from 1 to ${PEER_RATE_MAX}`;
const Rate = z
  .string(rate)
  .regex(/^[1-9]\d{0,5}\/hour$/, rate)
  .transform((text) => Number.parseInt(text, 10))
  .refine((count) => count <= PEER_RATE_MAX, rate);

const size = `it is a size from 1 to ${FEDERATED_PAYLOAD_MAX_BYTES} bytes, as 64KB`;
const PayloadSize = z
  .union([z.int(), z.string().transform((text) => parseSize(text) ?? Number.NaN)], size)
  .refine((bytes) => bytes >= 1 && bytes <= FEDERATED_PAYLOAD_MAX_BYTES, size);

const Boundary = z.strictObject({
  allow_fields: fieldNames.default([]),
  deny_fields: fieldNames.default([]),
  max_payload_size: PayloadSize.default(FEDERATED_PAYLOAD_DEFAULT_BYTES),
  retention: retention.default("none"),
});

const ConfiguredPeer = z.strictObject({
  trust_tier: TrustTier.default("verified"),
  shared_capabilities: capabilities.default([]),
  data_boundary: Boundary.prefault({}),
  rate_limit: Rate.default(PEER_RATE_DEFAULT),
});

export const FederationConfiguration = z.strictObject({
  peers: z
    .record(HubId, ConfiguredPeer)
    .refine((all) => Object.keys(all).length <= PEERS_MAX, `there are at most ${PEERS_MAX} peers`)
    .default({}),
});

/** Terms of peers, by the names of their hubs; null while the file has mistakes, so that nobody knows which it has. */
export type ConfiguredTerms = Readonly<Record<string, PeerTerms>> | null;

/** The known keys below `federation`, for the report of an unknown key. */
export const federationKeys = ({ length }: readonly PropertyKey[]): readonly string[] => {
  if (length === 0) return ["peers"];
  return Object.keys((length === 2 ? ConfiguredPeer : Boundary).shape);
};
