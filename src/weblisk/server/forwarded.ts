/** A forwarded task as a request to its agent, and the agent's refusals as answers to its sender. Pure. */
import { asObject, asString, type JsonObject } from "../../base/json.ts";
import { WEBLISK_CODES } from "../../protocol/weblisk-errors.ts";
import type { WireBody } from "../wire/body.ts";
import { wireId } from "../wire/ids.ts";
import { textOfMembers } from "../wire/raw-members.ts";
import { plain, WebliskRefusal } from "../wire/refusal.ts";
import type { AgentCall, AgentReply, TaskSender } from "./ports.ts";

export interface ForwardedRequest {
  readonly task_id: string;
  /** As it came: members that nobody here knows go on with it (weblisk.txt, Type Rules). */
  readonly body: WireBody;
  readonly caller: TaskSender;
  readonly trace: string;
  /** For the agent, in the place of the sender's own. */
  readonly token: string;
  /** The id of this attempt: a server that refuses repeats takes the next one. */
  readonly attempt: string;
  /** The directory, for a task that brings none. */
  readonly services: JsonObject;
}

export const forwardedRequest = ({
  task_id,
  body,
  trace,
  token,
  attempt,
  services,
}: ForwardedRequest): Pick<AgentCall, "text" | "headers"> => {
  const context = asObject(body.value.context) ?? {};
  const trace_id = wireId(context.trace_id) ?? trace;
  const members = new Map(body.raw);
  const own = { id: task_id, token, context: { services, ...context, trace_id } };
  for (const [name, value] of Object.entries(own)) members.set(name, JSON.stringify(value));
  return {
    text: textOfMembers(members),
    headers: { authorization: `Bearer ${token}`, "x-trace-id": trace_id, "x-request-id": attempt },
  };
};

/** weblisk.txt, Response Envelope: "forwarding to agent failed — connection refused". */
export const unreachable = (
  agent: string,
  why: string,
  reason = "agent_silent",
  more: { readonly retry_after?: number } = {},
): WebliskRefusal =>
  new WebliskRefusal("AGENT_UNREACHABLE", `Forwarding to ${agent} failed, because ${why}; try again later.`, {
    reason,
    ...more,
  });

export const goesOn = (): WebliskRefusal =>
  new WebliskRefusal("AGENT_TIMEOUT", "The task goes on; send the same request again.", {
    reason: "task_goes_on",
  });

/** A refusal for the task's sake is for its sender; one of this server is not. */
const PASSED_ON = {
  400: "INVALID_REQUEST",
  403: "FORBIDDEN",
  409: "INVALID_REQUEST",
  413: "INVALID_REQUEST",
} as const;

export const refusalOfReply = (
  agent: string,
  { status, body, retry_after_s }: AgentReply,
): WebliskRefusal => {
  const said = plain(asString(body?.value.error) ?? `it has status ${status}`);
  const agent_code = asString(body?.value.code);
  const facts = {
    reason: "agent_refused",
    ...(agent_code !== undefined && Object.hasOwn(WEBLISK_CODES, agent_code) && { detail: { agent_code } }),
    ...(retry_after_s !== undefined && { retry_after: Math.ceil(retry_after_s) }),
  };
  if (status === 429) return new WebliskRefusal("RATE_LIMITED", `${agent} says: ${said}`, facts);
  if (status === 202 || status === 504) return goesOn();
  if (Object.hasOwn(PASSED_ON, status)) {
    const http = status as keyof typeof PASSED_ON;
    return new WebliskRefusal(PASSED_ON[http], `${agent} says: ${said}`, { ...facts, http });
  }
  return unreachable(agent, `it answers: ${said}`, "agent_refused", facts);
};
