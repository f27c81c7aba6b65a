/** Answers of others as errors of ours. Pure. */
import { asString } from "../../base/json.ts";
import { type ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import { plain, WebliskRefusal } from "../wire/refusal.ts";
import type { IncomingReply } from "./exchange.ts";

export const untrusted = (host: string, why: string): HoldfastError =>
  new HoldfastError("PEER_UNTRUSTED", `The answer of ${host} is not believed: ${why}`, {
    suggestion:
      "Compare the address and its keys with its operator. If they changed: agent weblisk register URL --new-keys",
  });

/** An answer that breaks a rule of the wire is not believed. */
export const believed = async <T>(host: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof WebliskRefusal) throw untrusted(host, plain(cause.message));
    throw cause;
  }
};

/** Codes of the wire that say the same as one of ours; the others mean that this side lacks a right. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  INVALID_REQUEST: "INVALID_REQUEST",
  KEY_DECODE_ERROR: "INVALID_REQUEST",
  UNSUPPORTED_VERSION: "INVALID_REQUEST",
  NAMESPACE_CONFLICT: "INVALID_STATE",
  NAMESPACE_RESERVED: "INVALID_REQUEST",
  NOT_FOUND: "INVALID_REQUEST",
  RETENTION_EXPIRED: "INVALID_STATE",
  RATE_LIMITED: "RATE_LIMITED",
  AGENT_UNREACHABLE: "UNAVAILABLE",
  AGENT_TIMEOUT: "UNAVAILABLE",
  INTERNAL_ERROR: "UNAVAILABLE",
};

export const refusedBy = (host: string, { status, body, retry_after_s }: IncomingReply): HoldfastError => {
  if (status >= 300 && status < 400)
    return new HoldfastError("INVALID_REQUEST", `${host} answers with a redirect, which is not followed.`, {
      suggestion: "Give the address to which it leads, if you trust it.",
    });
  const named = asString(body?.value.code) ?? "";
  const otherwise = status === 401 ? "NOT_AUTHORISED" : "PERMISSION_DENIED";
  const code = (Object.hasOwn(CODES, named) ? CODES[named] : undefined) ?? otherwise;
  const why = plain(asString(body?.value.error) ?? `it does not say why, and has status ${status}`);
  return new HoldfastError(
    body === undefined && status >= 500 ? "UNAVAILABLE" : code,
    `${host} refuses: ${why}`,
    {
      suggestion: "Ask its operator, or correct the request.",
      ...(retry_after_s !== undefined && { retry_after_s }),
    },
  );
};

export const unheard = (url: string): HoldfastError =>
  new HoldfastError("UNAVAILABLE", `Nobody answers at ${url}.`, {
    suggestion: "See whether it runs, and whether the address is right.",
  });
