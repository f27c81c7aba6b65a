/**
 * How a session is opened: `initialize`, then `session/new` or `session/load`, then the mode where the agent would act unasked in its own,
 * then the model where one was asked for. Each
 * step is a reply to the answer to the one before. A failure here is this incarnation's end: its input is closed.
 */

import { asList, asName, asObject, asString, type JsonObject } from "../../../base/json.ts";
import type { WorkerError } from "../../../protocol/records.ts";
import type { DecodedItem } from "../../adapter.ts";
import { dialogueOf, usableId } from "../../decoding/dialogue.ts";
import { checkSessionId, OVERSIZE_SESSION, sessionStarted, voiceOf } from "../../decoding/events.ts";
import * as rpc from "./rpc.ts";
import type { AcpState, Handshake } from "./state.ts";
import { CODEX, rpcError } from "./told-errors.ts";

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
  const { resume, cwd } = handshake;
  if (resume === null) return create(next, handshake, out);
  if (asObject(result.agentCapabilities)?.loadSession !== true) {
    if (resume.asked) return refused(next, CANNOT_LOAD, out);
    return create(
      next,
      handshake,
      out,
      "The agent cannot load the session of its incarnation before: it begins a new session.",
    );
  }
  out.push(say(rpc.loadSession(resume.id, cwd)));
  return { ...next, handshake: { ...handshake, step: "load" } };
};

const create = (state: AcpState, handshake: Handshake, out: DecodedItem[], why?: string): AcpState => {
  if (why !== undefined) out.push(voice.status(why));
  out.push(say(rpc.newSession(handshake.cwd)));
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

/** If the session of the spec cannot be loaded, nothing else would be what was asked for. */
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
    "The session of the incarnation before could not be loaded: the agent begins a new session.",
  );
};

const announced = (state: AcpState, id: string, message: string, out: DecodedItem[]): AcpState => {
  out.push(sessionStarted(id), voice.session(message, id, { agent: state.agent }));
  return { ...state, session: id, announced: true };
};

/** The mode first: nothing is said to an agent that may do more than it is allowed to. */
const choose = (state: AcpState, handshake: Handshake, result: JsonObject, out: DecodedItem[]): AcpState => {
  const wanted = handshake.guarded === true ? GUARDED_MODES.get(state.agent ?? "") : undefined;
  const modes = asObject(result.modes);
  if (wanted === undefined || modes?.currentModeId === wanted)
    return chooseModel(state, handshake, result, out);
  if (!asList(modes?.availableModes).some((mode) => asObject(mode)?.id === wanted))
    return refused(state, UNGUARDED, out);
  const next = modelChoice(state, handshake, result);
  if (next !== null && typeof next !== "string") return refused(state, next, out);
  out.push(say(rpc.setMode(state.session!, wanted)));
  return { ...state, handshake: { ...handshake, step: "mode", ...(next === null ? {} : { next }) } };
};

/** Agents that begin in a mode in which they act unasked, and the mode in which they do not (of codex-acp 2.6: its sandbox only reads). */
const GUARDED_MODES: ReadonlyMap<string, string> = new Map([[CODEX, "read-only"]]);

export const onMode = (state: AcpState, answer: JsonObject, out: DecodedItem[]): AcpState => {
  const { handshake } = state;
  if (handshake?.step !== "mode") return unasked(state, out);
  if (answer.error !== undefined) return refused(state, UNGUARDED, out);
  out.push(voice.status("The agent took the mode in which it does nothing unasked."));
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
 * The line that chooses the model, by an option of category `model`, or, in agents that have none yet, by `session/set_model`. Null
 * where there is nothing to choose.
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
    // Told, too, because who waits for the session to be open is woken by what is told.
    out.push(voice.status("The agent took the model that was asked for."));
    return { ...state, handshake: null };
  }
  const error = rpcError(asObject(answer.error));
  return refused(state, error.code === "AGENT_FAILED" ? NO_SUCH_MODEL : error, out);
};

const OTHER_VERSION: WorkerError = {
  code: "AGENT_FAILED",
  message: `The agent speaks another version of the Agent Client Protocol than ${rpc.PROTOCOL_VERSION}.`,
};
const CANNOT_LOAD: WorkerError = {
  code: "SESSION_NOT_FOUND",
  message: "The agent cannot load sessions: leave --session out.",
};
const NOT_LOADED: WorkerError = {
  code: "SESSION_NOT_FOUND",
  message: "The agent could not load the session that was asked for.",
};
const NO_SESSION_ID: WorkerError = {
  code: "AGENT_FAILED",
  message: "The agent opened a session without an id by which it can be spoken of.",
};
const UNGUARDED: WorkerError = {
  code: "PERMISSION_DENIED",
  message:
    "The agent has no mode in which it does nothing unasked, so it runs with --permission allow alone, which a sandbox confines.",
};
const NO_MODELS: WorkerError = {
  code: "INVALID_REQUEST",
  message:
    "The agent offers no choice of its model: leave --model out, and choose it in the agent's own settings.",
};
const NO_SUCH_MODEL: WorkerError = {
  code: "PROVIDER_BAD_REQUEST",
  message: "The agent did not take the model that was asked for.",
};
