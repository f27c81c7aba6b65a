/** The canonical types of agents: their manifest, registration, directory and health (weblisk.txt, Core Types). */
import * as z from "zod";
import { SIGNING_ALGORITHMS } from "../../protocol/words.ts";
import { AGENT_NAME, Capability, IOSpec, id, map, name, proof, seconds, text, token, url } from "./parts.ts";

export const AgentManifest = z.looseObject({
  name: z.string().regex(AGENT_NAME),
  type: z.enum(["agent", "domain", "infrastructure"]).default("agent"),
  version: text.default(""),
  description: text.default(""),
  url,
  public_key: proof,
  /** Algorithm of the public key; Ed25519 where it is not said. */
  public_key_alg: name.optional(),
  capabilities: z.array(Capability).default([]),
  inputs: z.array(IOSpec).default([]),
  outputs: z.array(IOSpec).default([]),
  collaborators: z.array(name).default([]),
  approval: z.enum(["required", "auto"]).default("required"),
  /** Tasks at a time; 1 where it is not said, 0 for no bound. */
  max_concurrent: z.int().nonnegative().default(1),
  protocol_version: z.string().optional(),
  /** Signed with the manifest: with them a captured registration is of no use to anybody. */
  nonce: id.optional(),
  signed_at: seconds.optional(),
});

export const ServiceEntry = z.looseObject({
  name,
  url,
  type: name.default("agent"),
  public_key: proof,
  capabilities: z.array(z.union([Capability, name])).default([]),
  status: z.enum(["online", "degraded", "offline"]),
});

export const ServiceDirectory = z.looseObject({
  agents: z.array(ServiceEntry).default([]),
  /** The same list by its later name. */
  services: z.array(ServiceEntry).optional(),
  updated_at: seconds.optional(),
  signature: proof.optional(),
});

export const RegisterRequest = z.looseObject({
  manifest: AgentManifest,
  signature: proof,
  timestamp: seconds,
});

export const RegisterResponse = z.looseObject({
  agent_id: id,
  token,
  expires_at: seconds,
  services: ServiceDirectory,
  orchestrator: z
    .looseObject({ url, public_key: proof, version: text, supported_versions: z.array(name) })
    .optional(),
  protocol_version: name.optional(),
});

/** The statement of a change of key that both keys have signed. */
export const KeyRotationRequest = z.looseObject({
  op: z.literal("rotate-key"),
  /** The name of the identity. */
  agent_id: name,
  old_algorithm: z.enum(SIGNING_ALGORITHMS),
  old_public_key: proof,
  new_algorithm: z.enum(SIGNING_ALGORITHMS),
  new_public_key: proof,
  timestamp: seconds,
  nonce: id,
  current_signature: proof,
  new_signature: proof,
});

export const HealthStatus = z.looseObject({
  name,
  version: text,
  status: z.enum(["healthy", "degraded", "unhealthy"]),
  /** The same by a later name. */
  state: z.enum(["online", "degraded", "offline"]).optional(),
  uptime_seconds: z.number().nonnegative(),
  uptime: z.number().nonnegative().optional(),
  timestamp: seconds.optional(),
  metrics: map.default({}),
});
