/**
 * The one table of Weblisk's error codes (weblisk.txt, Standard Error Codes; notes 1.1), and the code of each error of ours. The
 * protocol allows no other codes, so ours goes into `detail.reason`. `retryable` of the catalogue overrides the category.
 */
import { ERROR_CATALOGUE, type ErrorCode, type ErrorRow } from "./errors.ts";

export type WebliskCategory = "transient" | "permanent" | "partial";

interface WebliskRow {
  readonly http: number;
  readonly category: WebliskCategory;
}

const code = (http: number, category: WebliskCategory): WebliskRow => ({ http, category });

export const WEBLISK_CODES = {
  INVALID_REQUEST: code(400, "permanent"),
  INVALID_SIGNATURE: code(401, "permanent"),
  TOKEN_EXPIRED: code(401, "transient"),
  FORBIDDEN: code(403, "permanent"),
  NOT_FOUND: code(404, "permanent"),
  RATE_LIMITED: code(429, "transient"),
  AGENT_UNREACHABLE: code(502, "transient"),
  // Those of the sites and blueprints.
  INTERNAL_ERROR: code(500, "transient"),
  AGENT_TIMEOUT: code(504, "transient"),
  UNSUPPORTED_VERSION: code(400, "permanent"),
  PHASE_FAILED: code(500, "permanent"),
  PARTIAL_FAILURE: code(207, "partial"),
  NAMESPACE_CONFLICT: code(409, "permanent"),
  NAMESPACE_RESERVED: code(403, "permanent"),
  SCOPE_UNAUTHORIZED: code(403, "permanent"),
  EVENT_REJECTED: code(400, "permanent"),
  KEY_DECODE_ERROR: code(400, "permanent"),
  PEER_UNTRUSTED: code(403, "permanent"),
  CONTRACT_VIOLATION: code(400, "permanent"),
  JURISDICTION_DENIED: code(403, "permanent"),
  TRUST_EXPIRED: code(403, "permanent"),
  CAPABILITY_DENIED: code(403, "permanent"),
  BEHAVIORAL_CHANGE: code(409, "permanent"),
  DATA_BOUNDARY_VIOLATION: code(400, "permanent"),
  RETENTION_EXPIRED: code(410, "permanent"),
} as const satisfies Readonly<Record<string, WebliskRow>>;

export type WebliskCode = keyof typeof WEBLISK_CODES;

export interface WebliskError extends WebliskRow {
  readonly code: WebliskCode;
}

/** By exit code of G1. */
const BY_EXIT: Readonly<Record<number, WebliskCode>> = {
  1: "INTERNAL_ERROR",
  2: "PHASE_FAILED",
  3: "INVALID_REQUEST",
  4: "INVALID_REQUEST",
  5: "NOT_FOUND",
  6: "INVALID_REQUEST",
  7: "FORBIDDEN",
  8: "INVALID_SIGNATURE",
  10: "AGENT_TIMEOUT",
  11: "RATE_LIMITED",
  12: "AGENT_UNREACHABLE",
  13: "INVALID_REQUEST",
  130: "PHASE_FAILED",
};

/** Errors for which the exit code is not specific enough. */
const BY_CODE: Readonly<Partial<Record<ErrorCode, WebliskCode>>> = {
  PARTIAL_FAILURE: "PARTIAL_FAILURE",
  PEER_UNTRUSTED: "PEER_UNTRUSTED",
  CAPABILITY_DENIED: "CAPABILITY_DENIED",
  BOUNDARY_VIOLATION: "DATA_BOUNDARY_VIOLATION",
  TOKEN_EXPIRED: "TOKEN_EXPIRED",
  RETENTION_EXPIRED: "RETENTION_EXPIRED",
  SUPERVISOR_DOWN: "AGENT_UNREACHABLE",
  UNAVAILABLE: "INTERNAL_ERROR",
  DAEMON_UNHEALTHY: "INTERNAL_ERROR",
  SUPERVISOR_GAVE_UP: "PHASE_FAILED",
  PROVIDER_ERROR: "PHASE_FAILED",
  WORKER_CANCELLED: "PHASE_FAILED",
  WORKER_FAILED: "PHASE_FAILED",
};

/** Statuses that the protocol gives no code of their own, so they go with one of its codes (notes 1.1). */
const STATUS_BY_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  REQUEST_TOO_LARGE: 413,
  ARGUMENTS_TOO_LONG: 413,
  UNAVAILABLE: 503,
  DAEMON_UNHEALTHY: 503,
  PROVIDER_ERROR: 502,
};
const STATUS_BY_EXIT: Readonly<Record<number, number>> = { 6: 409 };
const CATEGORY_BY_CODE: Readonly<Partial<Record<ErrorCode, WebliskCategory>>> = {
  PROVIDER_ERROR: "transient",
};

export const webliskError = (error: ErrorCode): WebliskError => {
  const { exit }: ErrorRow = ERROR_CATALOGUE[error];
  const named = BY_CODE[error] ?? BY_EXIT[exit] ?? "INTERNAL_ERROR";
  const { http, category } = WEBLISK_CODES[named];
  return {
    code: named,
    http: STATUS_BY_CODE[error] ?? STATUS_BY_EXIT[exit] ?? http,
    category: CATEGORY_BY_CODE[error] ?? category,
  };
};
