/**
 * The name of an error in a Weblisk ErrorResponse (weblisk.txt, Standard Error Codes; notes 1.1). The protocol has few codes
 * and allows no others, so our code goes into `detail.reason`. `retryable` of the catalogue overrides the category.
 */
import { ERROR_CATALOGUE, type ErrorCode, type ErrorRow } from "./errors.ts";

export type WebliskCategory = "transient" | "permanent" | "partial";

export interface WebliskError {
  readonly code: string;
  readonly category: WebliskCategory;
  readonly http: number;
}

const error = (code: string, http: number, category: WebliskCategory): WebliskError => ({
  code,
  http,
  category,
});

/** By exit code of G1. */
const BY_EXIT: Readonly<Record<number, WebliskError>> = {
  1: error("INTERNAL_ERROR", 500, "transient"),
  2: error("PHASE_FAILED", 500, "permanent"),
  3: error("INVALID_REQUEST", 400, "permanent"),
  4: error("INVALID_REQUEST", 412, "permanent"),
  5: error("NOT_FOUND", 404, "permanent"),
  6: error("INVALID_REQUEST", 409, "permanent"),
  7: error("FORBIDDEN", 403, "permanent"),
  8: error("INVALID_SIGNATURE", 401, "permanent"),
  10: error("AGENT_TIMEOUT", 504, "transient"),
  11: error("RATE_LIMITED", 429, "transient"),
  12: error("AGENT_UNREACHABLE", 502, "transient"),
  13: error("INVALID_REQUEST", 400, "permanent"),
  130: error("PHASE_FAILED", 500, "permanent"),
};

/** Errors for which the exit code is not specific enough. */
const BY_CODE: Readonly<Partial<Record<ErrorCode, WebliskError>>> = {
  PARTIAL_FAILURE: error("PARTIAL_FAILURE", 207, "partial"),
  TOKEN_EXPIRED: error("TOKEN_EXPIRED", 401, "transient"),
  REQUEST_TOO_LARGE: error("INVALID_REQUEST", 413, "permanent"),
  ARGUMENTS_TOO_LONG: error("INVALID_REQUEST", 413, "permanent"),
  SUPERVISOR_DOWN: error("AGENT_UNREACHABLE", 502, "transient"),
  UNAVAILABLE: error("INTERNAL_ERROR", 503, "transient"),
  DAEMON_UNHEALTHY: error("INTERNAL_ERROR", 503, "transient"),
  SUPERVISOR_GAVE_UP: error("PHASE_FAILED", 500, "permanent"),
  PROVIDER_ERROR: error("PHASE_FAILED", 502, "transient"),
  WORKER_CANCELLED: error("PHASE_FAILED", 500, "permanent"),
  WORKER_FAILED: error("PHASE_FAILED", 500, "permanent"),
};

export const webliskError = (code: ErrorCode): WebliskError => {
  const row: ErrorRow = ERROR_CATALOGUE[code];
  return BY_CODE[code] ?? BY_EXIT[row.exit] ?? BY_EXIT[1]!;
};
