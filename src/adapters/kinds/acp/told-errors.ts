/**
 * Classifies an ACP agent's error: one row of the catalogue, and a sentence of ours. Structured facts come
 * first: the code, then the contents of `data`. Two agents answer `end_turn` when their provider failed and
 * print the error as if it were the model's text. Another sign reveals each such error,
 * and only with that sign does the text count as one.
 */

import { asNumber, asObject, asString, type JsonObject } from "../../../base/json.ts";
import type { WorkerError } from "../../../protocol/records.ts";
import { classifyName, classifyStatus, classifyText, SESSION_NOT_FOUND } from "../../decoding/classify.ts";
import { AUTH_REQUIRED, RESOURCE_NOT_FOUND } from "./rpc.ts";
import { type AcpState, TROUBLE_MAX_UNITS } from "./state.ts";

const LOGIN: WorkerError = {
  code: "TOKEN_MISSING",
  message: "The agent has no valid credentials: log in with its own program, or give it a key by --env.",
};
const PROVIDER: WorkerError = {
  code: "PROVIDER_ERROR",
  message: "The agent reported an error of its provider.",
};
const OTHER: WorkerError = { code: "AGENT_FAILED", message: "The agent answered with an error." };

/** Names of opencode's errors; the other agents use another member. */
const ERROR_NAMES: ReadonlyMap<string, WorkerError> = new Map([
  ["APIError", PROVIDER],
  ["ProviderAuthError", LOGIN],
  ["MessageOutputLengthError", classifyName("max_tokens")!],
]);

/** The error of a JSON-RPC response. */
export const rpcError = (error: JsonObject | undefined): WorkerError => {
  const code = asNumber(error?.code) ?? 0;
  const data = asObject(error?.data);
  const words = [
    asString(error?.message),
    asString(data?.details),
    asString(data?.message),
    asString(error?.data),
  ]
    .filter((text) => text !== undefined)
    .join("\n");
  if (code === AUTH_REQUIRED) return LOGIN;
  if (code === RESOURCE_NOT_FOUND) return SESSION_NOT_FOUND;
  return (
    // gemini uses its provider's HTTP status as the code.
    classifyStatus(code) ??
    // qwen puts the status before the words of its provider.
    classifyStatus(Number(/^(\d{3}) /.exec(asString(data?.details) ?? "")?.[1] ?? 0)) ??
    classifyName(data?.errorKind) ??
    inWords(words) ??
    ERROR_NAMES.get(asString(data?.errorName) ?? "") ??
    OTHER
  );
};

/**
 * The HTTP status as the bridges and copilot write it: `API Error: 400 …`, `… (HTTP 401)`, `Error: 400 …`,
 * `Request rejected (429)`.
 */
const STATUS = /\bAPI Error: (\d{3})\b|\((?:HTTP )?(\d{3})\)|^Error: (\d{3})\b/;

const inWords = (text: string): WorkerError | undefined => {
  const found = STATUS.exec(text);
  const status = Number(found?.[1] ?? found?.[2] ?? found?.[3] ?? 0);
  return (
    classifyStatus(status) ??
    (/\bsession (?:\S+ )?not found\b/i.test(text) ? SESSION_NOT_FOUND : classifyText(text))
  );
};

/** The name by which Copilot CLI identifies itself. */
export const COPILOT = "Copilot";
/** Its texts for an empty answer and for giving up on its provider. It may have counted tokens before. */
const OWN_WORDS =
  /^Error: (?:No response was returned\.|Failed to get response from the AI model; retried \d+ times\b)/;
/** The text that it prints instead of an answer when it retries; each is a chunk of its own. */
const RETRYING =
  /^Info: (?:Request failed due to|Response was interrupted due to) a [a-zA-Z ]{1,64} error\. Retrying\.{3}\s*$/;

/** Whether a chunk is the agent's own notice of a retry and not the model's text. */
export const isRetryNotice = ({ agent }: AcpState, text: string): boolean =>
  agent === COPILOT && RETRYING.test(text);

export const KIMI = "Kimi Code CLI";

export const CODEX = "@agentclientprotocol/codex-acp";

/** Whether a chunk is a warning of the agent itself: codex-acp gives ids only to messages of its model. */
export const isWarning = ({ agent, trouble }: AcpState, text: string, message_id: string | null): boolean =>
  agent === CODEX && trouble === null && message_id === null && text.startsWith("Warning: ");

/**
 * The text so far that may be an error of the agent itself. For copilot: the last chunk, if it begins like an
 * error. For codex-acp: all text outside the model's messages, once its status has reported trouble.
 */
export const troubleAfter = (state: AcpState, text: string, message_id: string | null): string | null => {
  if (state.agent === COPILOT) return text.startsWith("Error: ") ? text.slice(0, TROUBLE_MAX_UNITS) : null;
  if (state.trouble === null || message_id !== null) return state.trouble;
  return (state.trouble + text).slice(0, TROUBLE_MAX_UNITS);
};

/**
 * The error of a turn whose stop reason reports success. `counted`: the agent reports that it used tokens.
 */
export const toldError = ({ agent, trouble }: AcpState, counted: boolean): WorkerError | null => {
  if (trouble === null) return null;
  if (agent === COPILOT && counted && !OWN_WORDS.test(trouble)) return null;
  return inWords(trouble) ?? PROVIDER;
};
