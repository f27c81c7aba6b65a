/** The requests of federation, as zod schemas. Those without a command of their own come from a gateway, which has checked signatures. */
import * as z from "zod";
import {
  AUDIT_PAGE_DEFAULT,
  AUDIT_PAGE_MAX,
  BOUNDARY_FIELD_MAX_CHARS,
  BOUNDARY_FIELDS_MAX,
  CAPABILITY_MAX_CHARS,
  CROSSING_NAMES_MAX,
  FEDERATED_PAYLOAD_MAX_BYTES,
  HUB_ID_MAX_CHARS,
  PEER_CAPABILITIES_MAX,
  PEER_RATE_MAX,
  PEER_RETENTION_MAX_HOURS,
  PUBLIC_KEY_MAX_CHARS,
  URL_MAX_CHARS,
} from "../base/limits.ts";
import { isHours } from "./peer-retention.ts";
import { isTellable, NOT_TELLABLE } from "./redact.ts";
import { PEER_CHANGES, SIGNING_ALGORITHMS, TASK_DIRECTIONS } from "./words.ts";

export const HubId = z
  .string()
  .max(HUB_ID_MAX_CHARS, `may have at most ${HUB_ID_MAX_CHARS} characters`)
  .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, "has lower-case letters, digits, '.' and '-', as a host name")
  .refine(isTellable, NOT_TELLABLE);

const CapabilityName = z
  .string()
  .max(CAPABILITY_MAX_CHARS, `may have at most ${CAPABILITY_MAX_CHARS} characters`)
  .regex(/^[a-z][a-z0-9_-]*:[a-z][a-z0-9_-]*$/, "is written namespace:action")
  .refine(isTellable, NOT_TELLABLE);

export const capabilities = z.array(CapabilityName).max(PEER_CAPABILITIES_MAX);
export const fieldNames = z
  .array(z.string().min(1).max(BOUNDARY_FIELD_MAX_CHARS).refine(isTellable, NOT_TELLABLE))
  .max(BOUNDARY_FIELDS_MAX);
export const retention = z
  .string()
  .transform((text) => text.replace(/\s+(?=h$)/, ""))
  .refine((text) => text === "none" || isHours(text), `is none, or 1h to ${PEER_RETENTION_MAX_HOURS}h`);
const url = z
  .url({ protocol: /^https?$/, error: "is an http or https address" })
  .max(URL_MAX_CHARS, `may have at most ${URL_MAX_CHARS} characters`)
  .refine(
    (text) => !URL.canParse(text) || (new URL(text).username === "" && new URL(text).search === ""),
    "has no user, secret or query",
  );
const publicKey = z
  .string()
  .max(PUBLIC_KEY_MAX_CHARS)
  .regex(/^[\w-]+$/, "is hexadecimal, or base64url");
const taskId = z.string().regex(/^[0-9a-f]{32}$/, "has 32 hexadecimal digits");
const algorithm = z.enum(SIGNING_ALGORITHMS);
const crossed = {
  /** Names alone; values never cross the socket. */
  fields: z.array(z.string().max(BOUNDARY_FIELD_MAX_CHARS)).max(CROSSING_NAMES_MAX),
  stripped: z.array(z.string().max(BOUNDARY_FIELD_MAX_CHARS)).max(CROSSING_NAMES_MAX),
  digest: z.string().regex(/^[0-9a-f]{64}$/, "is a SHA-256 in hexadecimal digits"),
  bytes: z.int().min(0),
};
const task = { hub_id: HubId, task_id: taskId, direction: z.enum(TASK_DIRECTIONS) };

export const PEER_REQUESTS = {
  /** Agrees to federate with a hub. Again: other terms. */
  "peer/add": z.strictObject({
    hub_id: HubId,
    url,
    /** The key that it must show. Default: the first one. */
    public_key: publicKey.nullable().default(null),
    /** Terms that are not said are those of the configuration, else those agreed before, else the defaults. */
    shared_capabilities: capabilities.optional(),
    data_boundary: z
      .strictObject({
        allow_fields: fieldNames.optional(),
        deny_fields: fieldNames.optional(),
        max_payload_size: z.int().min(1).max(FEDERATED_PAYLOAD_MAX_BYTES).optional(),
        retention: retention.optional(),
      })
      .optional(),
    rate_limit: z.int().min(1).max(PEER_RATE_MAX).optional(),
  }),
  "peer/list": z.strictObject({}),
  "peer/show": z.strictObject({ hub_id: HubId }),
  "peer/trust": z.strictObject({ hub_id: HubId }),
  "peer/revoke": z.strictObject({
    hub_id: HubId,
    reason: z.string().max(256).refine(isTellable, NOT_TELLABLE).default(""),
  }),
  /** After a handshake whose signatures hold. */
  "peer/meet": z.strictObject({
    hub_id: HubId,
    url,
    public_key: publicKey,
    algorithm,
    capabilities,
    timestamp: z.int().min(0),
    session: taskId,
  }),
  /** After a change of key whose signatures hold. */
  "peer/rekey": z.strictObject({
    hub_id: HubId,
    old_public_key: publicKey,
    public_key: publicKey,
    algorithm,
  }),
  /** A known peer tells of a change of itself, by a signature that holds. */
  "peer/notify": z.strictObject({
    hub_id: HubId,
    change: z.enum(PEER_CHANGES),
    capability: CapabilityName.optional(),
  }),
  /** A federated task may begin, or is refused. The same task again is a noop. */
  "peer/admit": z.strictObject({
    ...task,
    capability: CapabilityName,
    ...crossed,
    on_behalf_of: HubId.optional(),
  }),
  /** A federated task has ended. The same again is a noop. */
  "peer/settle": z.strictObject({ ...task, status: z.enum(["success", "failed", "cancelled"]), ...crossed }),
  /** Entries of the audit chain, oldest first. */
  "audit/list": z.strictObject({
    after: z.int().min(0).default(0),
    limit: z.int().min(1).max(AUDIT_PAGE_MAX).default(AUDIT_PAGE_DEFAULT),
  }),
} as const;
