/**
 * Errors of Copilot CLI: by an HTTP status or type if it has one, else by its text, which is classified and
 * dropped.
 */

import { asNumber, asString, type JsonObject } from "../../../base/json.ts";
import type { WorkerError } from "../../../protocol/records.ts";
import { classifyName, classifyStatus, classifyText } from "../../decoding/classify.ts";

export const UNNAMED: WorkerError = { code: "AGENT_FAILED", message: "Copilot CLI reported an error." };

export const INTERRUPTED: WorkerError = { code: "AGENT_FAILED", message: "The agent was interrupted." };

const TYPES: ReadonlyMap<unknown, WorkerError | undefined> = new Map([
  ["authentication", classifyName("authentication_error")],
  ["authorization", classifyName("permission_error")],
  ["quota", classifyName("insufficient_quota")],
  ["rate_limit", classifyName("rate_limit")],
  ["context_limit", classifyName("context_length_exceeded")],
  // The call of the model failed.
  ["query", classifyName("server_error")],
]);

/** `http_status` is that of the last failed call, because the final error does not repeat it. */
export const sessionError = (data: JsonObject, http_status: number): WorkerError =>
  classifyStatus(asNumber(data.statusCode) ?? 0) ??
  classifyStatus(http_status) ??
  classifyText(asString(data.message) ?? "") ??
  TYPES.get(data.errorType) ??
  UNNAMED;
