/** The paths of a federation gateway. Pure. */
import { FEDERATED_PAYLOAD_MAX_BYTES, WEBLISK_BODY_MAX_BYTES } from "../../base/limits.ts";
import type { RouteRow } from "../server/routes.ts";

const PREFIX = "/v1/federation";

export type FederationRoute =
  | "health"
  | "manifest"
  | "peer"
  | "accept"
  | "revoke"
  | "rotate"
  | "notify"
  | "task"
  | "status"
  | "contracts"
  | "audit";

/** A body that holds the largest payload, and what is around it. */
const TASK_BODY_MAX_BYTES = 2 * FEDERATED_PAYLOAD_MAX_BYTES;

/** Without a token: anybody may see what is public, and the others prove themselves by signatures. */
export const FEDERATION_ROUTES: readonly RouteRow<FederationRoute>[] = [
  { endpoint: "health", methods: ["GET", "POST"], path: "/v1/health" },
  { endpoint: "manifest", methods: ["GET"], path: `${PREFIX}/manifest` },
  { endpoint: "peer", methods: ["POST"], path: `${PREFIX}/peer`, bodyMax: WEBLISK_BODY_MAX_BYTES },
  { endpoint: "accept", methods: ["POST"], path: `${PREFIX}/peer-accept`, bodyMax: WEBLISK_BODY_MAX_BYTES },
  { endpoint: "revoke", methods: ["POST"], path: `${PREFIX}/peer-revoke`, bodyMax: WEBLISK_BODY_MAX_BYTES },
  { endpoint: "rotate", methods: ["POST"], path: `${PREFIX}/key-rotate`, bodyMax: WEBLISK_BODY_MAX_BYTES },
  { endpoint: "notify", methods: ["POST"], path: `${PREFIX}/notify`, bodyMax: WEBLISK_BODY_MAX_BYTES },
  {
    endpoint: "task",
    methods: ["POST"],
    path: `${PREFIX}/task`,
    needsToken: true,
    bodyMax: TASK_BODY_MAX_BYTES,
  },
  { endpoint: "status", methods: ["GET"], path: `${PREFIX}/status`, needsToken: true },
  { endpoint: "contracts", methods: ["GET"], path: `${PREFIX}/contracts`, needsToken: true },
  { endpoint: "audit", methods: ["GET"], path: `${PREFIX}/audit`, needsToken: true },
];
