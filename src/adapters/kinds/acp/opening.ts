/**
 * Opens a session: `initialize`, then `session/new`, `session/resume` or `session/load`, then the mode if the agent's own mode
 * would act without asking, then the model if one was requested. Each step is the reply to the answer of the
 * step before. A failure here ends this incarnation: its input is closed.
 */

import { asList, asName, asObject, asString, type JsonObject } from "../../../base/json.ts";
import type { WorkerError } from "../../../protocol/records.ts";
import type { DecodedItem } from "../../adapter.ts";
import { dialogueOf, usableId } from "../../decoding/dialogue.ts";
import { checkSessionId, OVERSIZE_SESSION, sessionStarted, voiceOf } from "../../decoding/events.ts";
import * as rpc from "./rpc.ts";
import type { AcpState, Handshake } from "./state.ts";
import { CODEX, KIMI, rpcError } from "./told-errors.ts";

const voice = voiceOf("acp");
const { unasked, refused } = dialogueOf(voice);

const say = (line: string): DecodedItem => ({ type: "reply", line });

export const onInitialized = (state: AcpState, answer: JsonObject, out: DecodedItem[]): AcpState => {
  const { handshake } = state;
  if (handshake?.step !== "initialize") return unasked(state, out);
  const result = asObject(answer.result);
  if (result === undefined) return refused(state, rpcError(asObject(answer.error)), out);
  if (result.protocolVersion !== rpc.PROTOCOL_VERSION) return refused(state, OTHER_VERSION, out);
  const info = asObject(result.agentInfo);
  const next = { ...state, agent: asName(info?.name) };
  const { resume, cwd, servers = [] } = handshake;
  const takes = asObject(asObject(result.agentCapabilities)?.mcpCapabilities);
  if (servers.some((server) => "url" in server) && takes?.http !== true)
    return refused(next, NO_ADDRESSES, out);
  if (resume === null) return create(next, handshake, out);
  const able = asObject(result.agentCapabilities);
  const loads = able?.loadSession === true;
  if (!loads && asObject(asObject(able?.sessionCapabilities)?.resume) === undefined) {
    if (resume.asked) return refused(next, CANNOT_LOAD, out);
    return create(
      next,
      handshake,
      out,
      "The agent cannot load the session of its previous incarnation, so it begins a new one.",
    );
  }
  // A replay tells what the session has cost so far, so that it is not counted again.
  const reopen = loads ? rpc.loadSession : rpc.resumeSession;
  out.push(say(reopen(resume.id, cwd, servers)));
  return { ...next, handshake: { ...handshake, step: "load" } };
};

const create = (state: AcpState, handshake: Handshake, out: DecodedItem[], why?: string): AcpState => {
  if (why !== undefined) out.push(voice.status(why));
  out.push(say(rpc.newSession(handshake.cwd, handshake.servers ?? [])));
  return { ...state, handshake: { ...handshake, step: "new" } };
};

export const onSession = (state: AcpState, answer: JsonObject, out: DecodedItem[]): AcpState => {
  const { handshake } = state;
  if (handshake?.step === "load") return onLoaded(state, handshake, answer, out);
  if (handshake?.step !== "new") return unasked(state, out);
  const result = asObject(answer.result);
  if (result === undefined) return refused(state, rpcError(asObject(answer.error)), out);
  const id = usableId(result.sessionId);
  if (id === undefined) {
    if (checkSessionId(asString(result.sessionId) ?? "") !== "empty")
      out.push(voice.status(OVERSIZE_SESSION));
    return refused(state, NO_SESSION_ID, out);
  }
  return choose(announced(state, id, "A session of the agent started.", out), handshake, result, out);
};

/**
 * If the session of the spec cannot be loaded, the run fails, because any other session is not the requested
 * one.
 */
const onLoaded = (
  state: AcpState,
  handshake: Handshake,
  answer: JsonObject,
  out: DecodedItem[],
): AcpState => {
  const { id, asked } = handshake.resume!;
  if (answer.error === undefined) {
    const next = announced(state, id, "The agent loaded its session.", out);
    return choose(next, handshake, asObject(answer.result) ?? {}, out);
  }
  const error = rpcError(asObject(answer.error));
  if (error.code === "TOKEN_MISSING") return refused(state, error, out);
  if (asked) return refused(state, NOT_LOADED, out);
  return create(
    state,
    handshake,
    out,
    "The session of the previous incarnation could not be loaded, so the agent begins a new one.",
  );
};

const announced = (state: AcpState, id: string, message: string, out: DecodedItem[]): AcpState => {
  out.push(sessionStarted(id), voice.session(message, id, { agent: state.agent }));
  return { ...state, session: id, announced: true };
};

/**
 * The mode comes first: an agent with too many rights gets no prompt. Kimi Code reports the wanted mode as its
 * current one even if its own settings let it act without asking, so its report does not count.
 */
const choose = (state: AcpState, handshake: Handshake, result: JsonObject, out: DecodedItem[]): AcpState => {
  const wanted = handshake.guarded === true ? GUARDED_MODES.get(state.agent ?? "") : undefined;
  const modes = asObject(result.modes);
  const isIn = modes?.currentModeId === wanted && state.agent !== KIMI;
  if (wanted === undefined || isIn) return chooseModel(state, handshake, result, out);
  if (!asList(modes?.availableModes).some((mode) => asObject(mode)?.id === wanted))
    return refused(state, UNGUARDED, out);
  const next = modelChoice(state, handshake, result);
  if (next !== null && typeof next !== "string") return refused(state, next, out);
  out.push(say(rpc.setMode(state.session!, wanted)));
  return { ...state, handshake: { ...handshake, step: "mode", ...(next === null ? {} : { next }) } };
};

/**
 * Agents whose initial mode acts without asking, or may be set so by their own settings, and the mode that
 * does not (codex-acp 2.6: its sandbox is read-only).
 */
const GUARDED_MODES: ReadonlyMap<string, string> = new Map([
  [CODEX, "read-only"],
  [KIMI, "default"],
]);

export const onMode = (state: AcpState, answer: JsonObject, out: DecodedItem[]): AcpState => {
  const { handshake } = state;
  if (handshake?.step !== "mode") return unasked(state, out);
  if (answer.error !== undefined) return refused(state, UNGUARDED, out);
  out.push(voice.status("The agent accepted the mode in which it does nothing without asking."));
  return withModel(state, handshake, handshake.next ?? null, out);
};

const chooseModel = (
  state: AcpState,
  handshake: Handshake,
  result: JsonObject,
  out: DecodedItem[],
): AcpState => {
  const choice = modelChoice(state, handshake, result);
  return choice === null || typeof choice === "string"
    ? withModel(state, handshake, choice, out)
    : refused(state, choice, out);
};

const withModel = (
  state: AcpState,
  handshake: Handshake,
  choice: string | null,
  out: DecodedItem[],
): AcpState => {
  if (choice === null) return { ...state, handshake: null };
  out.push(say(choice));
  return { ...state, handshake: { ...handshake, step: "model" } };
};

/**
 * The line that selects the model: by an option of category `model`, or, for agents without that option, by
 * `session/set_model`. Null if the agent offers no choice.
 */
const modelChoice = (
  { session }: AcpState,
  { model }: Handshake,
  result: JsonObject,
): string | null | WorkerError => {
  if (model === null) return null;
  const options = asList(result.configOptions).map(asObject);
  const option = options.find((one) => one?.category === "model" && asName(one.id) !== null);
  const models = asObject(result.models);
  const current = option === undefined ? models?.currentModelId : option.currentValue;
  if (current === model) return null;
  const configId = asName(option?.id);
  if (configId !== null) return rpc.setConfigOption(session!, configId, model);
  return models === undefined ? NO_MODELS : rpc.setModel(session!, model);
};

export const onModel = (state: AcpState, answer: JsonObject, out: DecodedItem[]): AcpState => {
  if (state.handshake?.step !== "model") return unasked(state, out);
  if (answer.error === undefined) {
    // The record also wakes a caller that waits for the session to open.
    out.push(voice.status("The agent accepted the requested model."));
    return { ...state, handshake: null };
  }
  const error = rpcError(asObject(answer.error));
  return refused(state, error.code === "AGENT_FAILED" ? NO_SUCH_MODEL : error, out);
};

const OTHER_VERSION: WorkerError = {
  code: "AGENT_FAILED",
  message: `The agent speaks a version of the Agent Client Protocol other than ${rpc.PROTOCOL_VERSION}.`,
};
const NO_ADDRESSES: WorkerError = {
  code: "UNSUPPORTED_CAPABILITY",
  message: "The agent takes no MCP servers at an address: name a program that speaks to it, or leave it out.",
};
const CANNOT_LOAD: WorkerError = {
  code: "SESSION_NOT_FOUND",
  message: "The agent cannot load sessions: leave out --session.",
};
const NOT_LOADED: WorkerError = {
  code: "SESSION_NOT_FOUND",
  message: "The agent could not load the requested session.",
};
const NO_SESSION_ID: WorkerError = {
  code: "AGENT_FAILED",
  message: "The agent opened a session without a usable id.",
};
const UNGUARDED: WorkerError = {
  code: "PERMISSION_DENIED",
  message:
    "The agent has no mode in which it does nothing without asking, so it runs only with --permission allow, which a sandbox can confine.",
};
const NO_MODELS: WorkerError = {
  code: "INVALID_REQUEST",
  message:
    "The agent offers no choice of model: leave out --model, and choose the model in the agent's own settings.",
};
const NO_SUCH_MODEL: WorkerError = {
  code: "PROVIDER_BAD_REQUEST",
  message: "The agent did not accept the requested model.",
};
