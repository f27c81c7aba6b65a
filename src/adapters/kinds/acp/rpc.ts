/**
 * The lines that we write to an ACP agent: JSON-RPC 2.0, one object per line. Our request ids are words, so
 * that an answer identifies its request even for a daemon that did not send it.
 */
import type {
  CancelNotification,
  InitializeRequest,
  LoadSessionRequest,
  NewSessionRequest,
  PromptRequest,
  RequestPermissionResponse,
  ResumeSessionRequest,
  SetSessionConfigOptionRequest,
  SetSessionModeRequest,
} from "@agentclientprotocol/sdk";
import { isUlid } from "../../../protocol/forms.ts";
import type { RequestId } from "../../decoding/dialogue.ts";
import type { AcpServer } from "./state.ts";

/** The version of the protocol that we speak: an integer that changes only with breaking changes. */
export const PROTOCOL_VERSION = 1;

/** Codes of ACP itself (its schema, ErrorCode). */
export const AUTH_REQUIRED = -32_000;
export const RESOURCE_NOT_FOUND = -32_002;

/** Ids of the requests that open a session. */
const INITIALIZE = "holdfast:initialize";
const SESSION = "holdfast:session";
const MODEL_CHOICE = "holdfast:model";
const MODE_CHOICE = "holdfast:mode";

const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

export const initialize = (): string => {
  const params = {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "holdfast", title: "Holdfast", version: "1" },
    // The agent works on files and processes itself, under its own supervision.
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  } satisfies InitializeRequest;
  return line({ id: INITIALIZE, method: "initialize", params });
};

export const newSession = (cwd: string, servers: readonly AcpServer[]): string => {
  const params = { cwd, mcpServers: [...servers] } satisfies NewSessionRequest;
  return line({ id: SESSION, method: "session/new", params });
};

export const loadSession = (sessionId: string, cwd: string, servers: readonly AcpServer[]): string => {
  const params = { sessionId, cwd, mcpServers: [...servers] } satisfies LoadSessionRequest;
  return line({ id: SESSION, method: "session/load", params });
};

/** As `loadSession`, without a replay. */
export const resumeSession = (sessionId: string, cwd: string, servers: readonly AcpServer[]): string => {
  const params = { sessionId, cwd, mcpServers: [...servers] } satisfies ResumeSessionRequest;
  return line({ id: SESSION, method: "session/resume", params });
};

export const setConfigOption = (sessionId: string, configId: string, value: string): string => {
  const params = { sessionId, configId, value } satisfies SetSessionConfigOptionRequest;
  return line({ id: MODEL_CHOICE, method: "session/set_config_option", params });
};

export const setMode = (sessionId: string, modeId: string): string => {
  const params = { sessionId, modeId } satisfies SetSessionModeRequest;
  return line({ id: MODE_CHOICE, method: "session/set_mode", params });
};

/** The method of agents that do not offer the model as an option yet. The official schema has dropped it. */
export const setModel = (sessionId: string, modelId: string): string =>
  line({ id: MODEL_CHOICE, method: "session/set_model", params: { sessionId, modelId } });

/**
 * A prompt after a mark. ACP does not say which prompt the updates of a session belong to. The mark is a
 * request of an extension (names with `_` are reserved for them) that no agent knows. Its refusal, -32601 as
 * the protocol requires, carries the message's id and shows that the agent has read up to here.
 */
export const prompt = (message_id: string, sessionId: string, text: string): string => {
  const params = { sessionId, prompt: [{ type: "text", text }] } satisfies PromptRequest;
  return (
    line({ id: `${MARK}${message_id}`, method: "_holdfast/message", params: {} }) +
    line({ id: `${PROMPT}${message_id}`, method: "session/prompt", params })
  );
};

const MARK = "mark:";
const PROMPT = "prompt:";

/** The request that an answer belongs to, by its id; undefined if no request of ours has that id. */
export type AcpRequest =
  | { readonly what: "initialize" | "session" | "mode" | "model" }
  | { readonly what: "mark" | "prompt"; readonly message_id: string };

export const answeredBy = (id: unknown): AcpRequest | undefined => {
  if (id === INITIALIZE) return { what: "initialize" };
  if (id === SESSION) return { what: "session" };
  if (id === MODE_CHOICE) return { what: "mode" };
  if (id === MODEL_CHOICE) return { what: "model" };
  if (typeof id !== "string") return undefined;
  const [prefix, what] = id.startsWith(MARK) ? [MARK, "mark" as const] : [PROMPT, "prompt" as const];
  const message_id = id.startsWith(prefix) ? id.slice(prefix.length) : "";
  return isUlid(message_id) ? { what, message_id } : undefined;
};

/** The turn is in the line so that the lines of two turns differ, because each line is sent only once. */
export const cancel = (sessionId: string, turn: number): string => {
  const params = { sessionId, _meta: { "holdfast/turn": turn } } satisfies CancelNotification;
  return line({ method: "session/cancel", params });
};

/** The answer to a permission request: one of the offered options, or null to cancel the call. */
export const permission = (id: RequestId, optionId: string | null): string => {
  const result = {
    outcome: optionId === null ? { outcome: "cancelled" } : { outcome: "selected", optionId },
  } satisfies RequestPermissionResponse;
  return line({ id, result });
};

export const refuse = (id: RequestId, code: number, message: string): string =>
  line({ id, error: { code, message } });
