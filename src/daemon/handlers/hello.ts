/**
 * protocol/hello: the version and profiles of a connection, and its bounds (protocol-v1.txt, Versioning and
 * compatibility).
 */
import { Effect } from "effect";
import {
  REQUEST_LINE_MAX_MS,
  REQUEST_MAX_BYTES,
  REQUEST_MAX_DEPTH,
  REQUESTS_IN_FLIGHT_MAX,
} from "../../base/limits.ts";
import { byOf } from "../../protocol/caller.ts";
import { PROTOCOL_VERSION } from "../../protocol/envelope-v1.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { type RequestName, Requests } from "../../protocol/requests.ts";
import { PROFILES } from "../profiles.ts";
import type { RequestHandler } from "./handler.ts";

const LIMITS = {
  request_bytes: REQUEST_MAX_BYTES,
  request_depth: REQUEST_MAX_DEPTH,
  request_line_ms: REQUEST_LINE_MAX_MS,
  requests_in_flight: REQUESTS_IN_FLIGHT_MAX,
};

export const hello: RequestHandler<"protocol/hello"> = {
  lifetime: "read",
  run: ({ runtime, caller }, { versions, profiles }) =>
    Effect.gen(function* () {
      if (!versions.includes(PROTOCOL_VERSION))
        return yield* unsupported(
          `This daemon speaks version ${PROTOCOL_VERSION} of the protocol, not ${versions.join(" or ")}.`,
        );
      const missing = profiles.filter((profile) => !PROFILES.includes(profile));
      if (missing.length > 0)
        return yield* unsupported(
          `This daemon has no profile ${missing.join(", ")}; it has ${PROFILES.join(" and ") || "none"}.`,
        );
      const { version, store_id, epoch } = yield* runtime.status();
      return success({
        version: PROTOCOL_VERSION,
        profiles: PROFILES,
        commands: Object.keys(Requests) as RequestName[],
        limits: LIMITS,
        daemon: { version, store_id, epoch },
        caller: byOf(caller()),
      });
    }),
};

const unsupported = (sentence: string) =>
  Effect.fail(
    new HoldfastError("UNSUPPORTED_CAPABILITY", sentence, {
      suggestion: "Request only what it has, or upgrade the daemon: agent daemon upgrade.",
      details: { versions: [PROTOCOL_VERSION], profiles: PROFILES },
      phase: "validation",
    }),
  );
