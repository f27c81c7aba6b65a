/**
 * Requests of codex to its client. A permission request becomes an approval, which the supervisor answers.
 * Everything else is refused, and codex continues without it.
 */

import { appended } from "../../../../base/bounded-list.ts";
import { asName, asObject, asString, type JsonObject } from "../../../../base/json.ts";
import type { JsonValue } from "../../../../protocol/records.ts";
import type { DecodedItem, PermissionAnswer } from "../../../adapter.ts";
import { approvalRequested } from "../../../approval.ts";
import {
  dialogueOf,
  INVALID_REQUEST,
  keyOf,
  METHOD_NOT_FOUND,
  type RequestId,
  requestId,
} from "../../../decoding/dialogue.ts";
import { voiceOf } from "../../../decoding/events.ts";
import { TOO_LONG, tooLongToRead } from "../../../decoding/long-requests.ts";
import * as rpc from "./rpc.ts";
import { scriptOf } from "./shell-words.ts";
import { type AppServerState, ASKS_MAX, type CodexPermissionRequest } from "./state.ts";

const voice = voiceOf("codex");
const dialogue = dialogueOf(voice);

/** The request, as people and rules see it. */
interface PermissionQuestion {
  readonly tool: string;
  readonly title: string;
  readonly input: JsonObject;
  /** The requested permissions, if codex asks for more permissions. */
  readonly permissions?: JsonObject;
}

/** The data for the answer. */
interface PermissionReply {
  readonly id: RequestId;
  readonly permissions?: { readonly [key: string]: JsonValue };
}

/**
 * The maximum length of requested permissions, in UTF-16 units of JSON, because they become a part of the
 * answer.
 */
const PERMISSIONS_MAX_UNITS = 4_096;

export const onRequest = (
  before: AppServerState,
  request: JsonObject,
  out: DecodedItem[],
): AppServerState => {
  const id = requestId(request.id);
  if (id === undefined) {
    out.push(voice.unknown({ type: "request", reason: "no usable id" }));
    return before;
  }
  const params = asObject(request.params) ?? {};
  switch (request.method) {
    case "item/commandExecution/requestApproval":
      return asks(dialogue.working(before, out), id, params, commandQuestion(params), out);
    case "item/fileChange/requestApproval":
      return asks(dialogue.working(before, out), id, params, changeQuestion(before, params), out);
    case "item/permissions/requestApproval":
      return asks(dialogue.working(before, out), id, params, permissionsQuestion(params), out);
    case "mcpServer/elicitation/request":
      return denied(before, rpc.answer(id, { action: "decline", content: null, _meta: null }), out);
  }
  out.push(...dialogue.notOffered(request.method, rpc.refuse(id, METHOD_NOT_FOUND, "Method not found")));
  return before;
};

/**
 * Handles a request that was too long to read. `unanswerable` is called for a permission request without an
 * id.
 */
export const onLongRequest = (
  state: AppServerState,
  { id: given, method }: JsonObject,
  out: DecodedItem[],
  unanswerable: () => AppServerState,
): AppServerState => {
  const id = requestId(given);
  const permissions = method === "item/permissions/requestApproval" ? { permissions: {} } : {};
  const isPermission = typeof method === "string" && method.endsWith("/requestApproval");
  if (id !== undefined && typeof method === "string") {
    const denied = answerOf({ id, ...permissions } as JsonValue, { decision: "deny" });
    out.push(...tooLongToRead(voice, isPermission ? denied : rpc.refuse(id, INVALID_REQUEST, TOO_LONG)));
    return state;
  }
  return isPermission ? unanswerable() : state;
};

const asks = (
  state: AppServerState,
  id: RequestId,
  params: JsonObject,
  question: PermissionQuestion | undefined,
  out: DecodedItem[],
): AppServerState => {
  const item = asName(params.itemId);
  const reply = { id, ...(question?.permissions === undefined ? {} : { permissions: question.permissions }) };
  if (question === undefined || JSON.stringify(reply).length > PERMISSIONS_MAX_UNITS)
    return denied(state, answerOf({ ...reply } as JsonValue, { decision: "deny" }), out);
  out.push(
    approvalRequested({
      key: keyOf(id),
      tool: question.tool,
      tool_use_id: item,
      title: question.title,
      input: question.input,
      reply: reply as JsonValue,
    }),
  );
  return { ...state, asks: appended(withRoom(state.asks), { id, item }, ASKS_MAX) };
};

/** Makes room by dropping the oldest resolved request first. */
const withRoom = (asks: readonly CodexPermissionRequest[]): readonly CodexPermissionRequest[] => {
  if (asks.length < ASKS_MAX) return asks;
  const oldest = asks.findIndex(({ resolved }) => resolved === true);
  return asks.filter((_, index) => index !== oldest);
};

const denied = (state: AppServerState, line: string, out: DecodedItem[]): AppServerState => {
  out.push(...dialogue.deniedAtOnce(line));
  return state;
};

/** A question about a command, or about a host if codex wants to use the network. */
const commandQuestion = (params: JsonObject): PermissionQuestion => {
  const reason = asString(params.reason);
  const host = asString(asObject(params.networkApprovalContext)?.host);
  if (host !== undefined)
    return { tool: "network", title: reason ?? `Reach ${host}`, input: { url: host, ...why(reason) } };
  const command = scriptOf(asString(params.command) ?? "");
  return {
    tool: "shell",
    title: reason ?? command,
    input: { command, cwd: asString(params.cwd) ?? null, ...why(reason) },
  };
};

const why = (reason: string | undefined) => (reason === undefined ? {} : { reason });

/**
 * A question about a patch. The path of a single file is included, so that a rule may name it. Undefined for
 * a grant to write below a root for the rest of the session, which nobody may give.
 */
const changeQuestion = (state: AppServerState, params: JsonObject): PermissionQuestion | undefined => {
  if ((params.grantRoot ?? null) !== null) return undefined;
  const reason = asString(params.reason);
  const paths = state.items.find(({ id }) => id === params.itemId)?.paths ?? null;
  const title = paths === null ? "Change files" : `Change ${paths.join(", ")}`;
  return {
    tool: "patch",
    title: reason ?? title,
    input: {
      ...(paths?.length === 1 ? { path: paths[0] } : {}),
      changes: paths?.map((path) => ({ path })) ?? null,
      ...why(reason),
    },
  };
};

const permissionsQuestion = (params: JsonObject): PermissionQuestion => {
  const { network, fileSystem } = asObject(params.permissions) ?? {};
  const permissions = {
    ...(asObject(network) === undefined ? {} : { network }),
    ...(asObject(fileSystem) === undefined ? {} : { fileSystem }),
  };
  const reason = asString(params.reason);
  return {
    tool: "permissions",
    title: reason ?? "Have more permissions for this turn",
    input: { permissions, ...why(reason) },
    permissions,
  };
};

/**
 * The line that answers a request. The permission applies to this call; permissions that codex asked for
 * apply to this turn.
 */
export const answerOf = (reply: JsonValue, { decision }: PermissionAnswer): string => {
  const { id, permissions } = reply as unknown as PermissionReply;
  const isAllowed = decision === "allow";
  if (permissions !== undefined)
    return rpc.answer(id, { permissions: isAllowed ? permissions : {}, scope: "turn" });
  return rpc.answer(id, { decision: isAllowed ? "accept" : "decline" });
};

/**
 * `serverRequest/resolved`: either we have answered, or the turn is being interrupted. The end of the turn
 * tells which.
 */
export const onResolved = (state: AppServerState, params: JsonObject | undefined): AppServerState => {
  const id = requestId(params?.requestId);
  return state.asks.some((ask) => ask.id === id && ask.resolved !== true)
    ? { ...state, asks: state.asks.map((ask) => (ask.id === id ? { ...ask, resolved: true } : ask)) }
    : state;
};

/**
 * The requests without an answer at the end of a turn. After an interruption all are included; for those that
 * were answered, the answer stands.
 */
export const unanswered = (
  { asks }: AppServerState,
  isInterrupted: boolean,
): readonly CodexPermissionRequest[] => asks.filter(({ resolved }) => isInterrupted || resolved !== true);
