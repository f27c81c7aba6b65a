/** Errors of Copilot CLI: an HTTP status or a type where it gives one, else its words, which are classified and dropped. */

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
  // The failure when the model was asked.
  ["query", classifyName("server_error")],
]);

/** `http_status` is that of the last call that failed: what was retried is told without it. */
export const sessionError = (data: JsonObject, http_status: number): WorkerError =>
  classifyStatus(asNumber(data.statusCode) ?? 0) ??
  classifyStatus(http_status) ??
  classifyText(asString(data.message) ?? "") ??
  TYPES.get(data.errorType) ??
  UNNAMED;
