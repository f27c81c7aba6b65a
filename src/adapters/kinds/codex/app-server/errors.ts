/**
 * Classifies an error of codex: by its own error name or the provider's HTTP status (CodexErrorInfo), else by
 * the text of the message, which is then dropped.
 */

import { asNumber, asObject, asString, type JsonObject } from "../../../../base/json.ts";
import type { WorkerError } from "../../../../protocol/records.ts";
import { classifyName, classifyStatus, classifyText, SESSION_NOT_FOUND } from "../../../decoding/classify.ts";
import { modelRejected } from "../../../decoding/rejections.ts";

const NAMES: ReadonlyMap<string, WorkerError> = new Map(
  Object.entries({
    contextWindowExceeded: classifyName("context_length_exceeded")!,
    usageLimitExceeded: classifyName("insufficient_quota")!,
    rateLimitExceeded: classifyName("rate_limit")!,
    serverOverloaded: classifyName("overloaded")!,
    modelNotFound: modelRejected("codex"),
    cyberPolicy: classifyName("refusal")!,
    misalignmentPolicyViolation: classifyName("refusal")!,
    internalServerError: classifyName("server_error")!,
    unauthorized: classifyName("authentication_error")!,
    badRequest: classifyName("invalid_request")!,
    sessionBudgetExceeded: classifyName("error_max_budget_usd")!,
  }),
);

const OTHER: WorkerError = { code: "AGENT_FAILED", message: "codex reported an error." };

/** The error of a TurnError. */
export const turnError = (error: JsonObject | undefined): WorkerError => {
  const info = error?.codexErrorInfo;
  const said = classifyText(asString(error?.message) ?? "");
  const meant =
    classifyStatus(httpStatusOf(info) ?? 0) ?? (typeof info === "string" ? NAMES.get(info) : undefined);
  // The text may say when a limit resets.
  return (said !== undefined && said.code === meant?.code ? said : (meant ?? said)) ?? OTHER;
};

/** Reads `{ httpConnectionFailed: { httpStatusCode: 401 } }` and similar values. */
const httpStatusOf = (info: unknown): number | undefined =>
  asNumber(asObject(Object.values(asObject(info) ?? {})[0])?.httpStatusCode);

/** The error of a JSON-RPC response. */
export const rpcError = (error: JsonObject | undefined): WorkerError => {
  const message = asString(error?.message) ?? "";
  if (/\b(?:thread|session) not found\b|\binvalid (?:thread|session) id\b/i.test(message))
    return SESSION_NOT_FOUND;
  return classifyText(message) ?? { code: "AGENT_FAILED", message: "codex answered with an error." };
};
