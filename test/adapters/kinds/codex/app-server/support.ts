/** The side of `codex app-server` in a conversation, written by hand. */
import type { DecodedItem, Opening } from "../../../../../src/adapters/adapter.ts";
import type { AppServerState } from "../../../../../src/adapters/kinds/codex/app-server/state.ts";
import { codex } from "../../../../../src/adapters/kinds/codex/index.ts";
import type { WorkerSpecInput } from "../../../../../src/protocol/worker.ts";
import { openingOf } from "../../../conformance/support.ts";

export const MESSAGE = "01JD0000000000000000000001";
export const OTHER = "01JD0000000000000000000002";

export const opening = (spec: Partial<WorkerSpecInput> = {}, session?: string): Opening => ({
  ...openingOf("codex", { interactive: true, cwd: "/work", ...spec }),
  session,
});

export const initialized = () => ({ id: "holdfast:initialize", result: { userAgent: "x" } });
export const threadOpened = (id = "t1") => ({ id: "holdfast:thread", result: { thread: { id } } });
export const turnAnswered = (id = MESSAGE, turn = "u1") => ({
  id: `turn:${id}`,
  result: { turn: { id: turn } },
});
export const notice = (method: string, params: object = {}) => ({
  method,
  params: { threadId: "t1", turnId: "u1", ...params },
});
export const item = (phase: "started" | "completed", type: string, rest: object = {}) =>
  notice(`item/${phase}`, { item: { type, id: "i1", ...rest } });
export const delta = (text: string, itemId = "i1") =>
  notice("item/agentMessage/delta", { itemId, delta: text });
export const turnOver = (status: string, rest: object = {}, id = "u1") =>
  notice("turn/completed", { turn: { id, status, ...rest } });
export const asksFor = (what: string, params: object, id: unknown = 0) => ({
  id,
  ...notice(`item/${what}/requestApproval`, { itemId: "i1", ...params }),
});

export interface Folded {
  readonly state: AppServerState;
  readonly records: readonly DecodedItem[];
}

export const fold = (lines: readonly (object | string)[], from = codex.initial(opening())): Folded => {
  const records: DecodedItem[] = [];
  let state = from;
  for (const one of lines) {
    const text = typeof one === "string" ? one : JSON.stringify(one);
    const decoded = codex.decode(state, { kind: "text", text, end: "\n" }, "stdout");
    state = decoded.state;
    records.push(...decoded.records);
  }
  if (state.mode !== "app_server") throw new Error("not in a conversation");
  return { state, records };
};

/** A thread that is open. */
export const opened = (spec: Partial<WorkerSpecInput> = {}): AppServerState =>
  fold([initialized(), threadOpened()], codex.initial(opening(spec))).state;
/** And in which a message is being answered. */
export const given = (spec: Partial<WorkerSpecInput> = {}): AppServerState =>
  fold([turnAnswered()], opened(spec)).state;

/** Lines to be said to codex; "end" for the end of its input. */
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

export const wordsOf = (records: readonly DecodedItem[]): readonly string[] =>
  records.flatMap((record) =>
    record.type === "agent.event"
      ? [`${record.payload.kind}: ${record.payload.text ?? record.payload.message ?? ""}`]
      : [],
  );

export const ofType = <T extends DecodedItem["type"]>(records: readonly DecodedItem[], type: T) =>
  records.filter((record): record is Extract<DecodedItem, { type: T }> => record.type === type);
