/** An ACP agent's side of a conversation, written by hand. */

import type { DecodedItem, Opening } from "../../../../src/adapters/adapter.ts";
import { acp } from "../../../../src/adapters/kinds/acp/index.ts";
import type { AcpState } from "../../../../src/adapters/kinds/acp/state.ts";
import { openingOf } from "../../conformance/support.ts";

export const MESSAGE = "01JD0000000000000000000001";
export const OTHER = "01JD0000000000000000000002";

export const opening = (over: Partial<Opening> = {}, spec: Partial<Opening["spec"]> = {}): Opening => ({
  ...openingOf("acp", { argv: ["agent"], cwd: "/work", ...spec } as never),
  ...over,
});

export const initialized = (result: object = {}) => ({
  id: "holdfast:initialize",
  result: { protocolVersion: 1, agentCapabilities: { loadSession: true }, ...result },
});
export const created = (result: object = {}) => ({
  id: "holdfast:session",
  result: { sessionId: "s1", ...result },
});
export const marked = (id = MESSAGE) => ({
  id: `mark:${id}`,
  error: { code: -32_601, message: "Method not found" },
});
export const answered = (result: object = { stopReason: "end_turn" }, id = MESSAGE) => ({
  id: `prompt:${id}`,
  result,
});
export const failed = (error: object, id = MESSAGE) => ({ id: `prompt:${id}`, error });
export const update = (sessionUpdate: string, rest: object = {}, sessionId = "s1") => ({
  method: "session/update",
  params: { sessionId, update: { sessionUpdate, ...rest } },
});
export const chunk = (text: string, rest: object = {}) =>
  update("agent_message_chunk", { content: { type: "text", text }, ...rest });
export const permission = (
  id: unknown,
  toolCall: object,
  kinds = ["allow_always", "allow_once", "reject_once"],
) => ({
  id,
  method: "session/request_permission",
  params: {
    sessionId: "s1",
    toolCall,
    options: kinds.map((kind) => ({ optionId: `do-${kind}`, name: kind, kind })),
  },
});

export interface Folded {
  readonly state: AcpState;
  readonly records: readonly DecodedItem[];
}

export const fold = (lines: readonly (object | string)[], from = acp.initial(opening())): Folded => {
  const records: DecodedItem[] = [];
  let state = from;
  for (const one of lines) {
    const text = typeof one === "string" ? one : JSON.stringify({ jsonrpc: "2.0", ...one });
    const decoded = acp.decode(state, { kind: "text", text, end: "\n" }, "stdout");
    state = decoded.state;
    records.push(...decoded.records);
  }
  return { state, records };
};

/** An agent whose session is open. */
export const opened = (spec: Partial<Opening["spec"]> = {}): AcpState =>
  fold([initialized(), created()], acp.initial(opening({}, spec))).state;
/** And who has read a prompt. */
export const prompted = (spec: Partial<Opening["spec"]> = {}): AcpState =>
  fold([marked()], opened(spec)).state;

/** Lines to be said to the agent; "end" for the end of its input. */
export const repliesOf = (records: readonly DecodedItem[]): readonly unknown[] =>
  records.flatMap((record) =>
    record.type !== "reply"
      ? []
      : "closes" in record
        ? ["end"]
        : record.line
            .split("\n")
            .slice(0, -1)
            .map((line) => JSON.parse(line)),
  );

export const eventsOf = (records: readonly DecodedItem[]) =>
  records.flatMap((record) => (record.type === "agent.event" ? [record.payload] : []));

export const wordsOf = (records: readonly DecodedItem[]): readonly string[] =>
  eventsOf(records).map(({ kind, text, message }) => `${kind}: ${text ?? message ?? ""}`);

export const ofType = <T extends DecodedItem["type"]>(records: readonly DecodedItem[], type: T) =>
  records.filter((record): record is Extract<DecodedItem, { type: T }> => record.type === type);
