/**
 * The lines that we write to `codex app-server`: JSON-RPC without its `jsonrpc` member, one object per line.
 * Our request ids are words, so that an answer identifies its request even for a daemon that did not send it.
 * Checked with 0.169.0 (`codex app-server generate-ts`).
 */
import { isUlid } from "../../../../protocol/forms.ts";
import type { JsonValue } from "../../../../protocol/records.ts";
import type { OutputSchema } from "../../../../protocol/worker.ts";
import type { RequestId } from "../../../decoding/dialogue.ts";
import type { ThreadWanted } from "./state.ts";

const INITIALIZE = "holdfast:initialize";
const LIST = "holdfast:list";
const THREAD = "holdfast:thread";
const TURN = "turn:";
const INTERRUPT = "interrupt:";

const line = (message: object): string => `${JSON.stringify(message)}\n`;

export const initialize = (): string =>
  line({
    id: INITIALIZE,
    method: "initialize",
    params: { clientInfo: { name: "holdfast", title: "Holdfast", version: "1" } },
  });

export const initialized = (): string => line({ method: "initialized" });

/** The sources of threads that people began. Threads that a sub-agent began do not count. */
const OF_PEOPLE = ["cli", "vscode", "exec", "appServer"];

/** Requests the newest thread of the directory. */
export const newestThread = (cwd: string): string =>
  line({
    id: LIST,
    method: "thread/list",
    params: { cwd, sortKey: "updated_at", sortDirection: "desc", limit: 1, sourceKinds: OF_PEOPLE },
  });

const METHODS = { new: "thread/start", resume: "thread/resume", fork: "thread/fork" } as const;

/**
 * Opens a thread: a new one, a known one, or a branch of a known one. codex then does not send its earlier
 * text again.
 */
export const openThread = (
  { cwd, model, policy, sandbox }: ThreadWanted,
  how: keyof typeof METHODS,
  id: string,
) =>
  line({
    id: THREAD,
    method: METHODS[how],
    params: {
      ...(how === "new" ? {} : { threadId: id, excludeTurns: true }),
      cwd,
      approvalPolicy: policy,
      sandbox,
      ...(model === null ? {} : { model }),
    },
  });

export const startTurn = (
  message_id: string,
  threadId: string,
  text: string,
  outputSchema: OutputSchema | undefined,
): string =>
  line({
    id: `${TURN}${message_id}`,
    method: "turn/start",
    params: {
      threadId,
      clientUserMessageId: message_id,
      input: [{ type: "text", text }],
      ...(outputSchema === undefined ? {} : { outputSchema }),
    },
  });

/** The turn is in the id so that the lines of two turns differ, because each line is sent only once. */
export const interruptTurn = (threadId: string, turnId: string): string =>
  line({ id: `${INTERRUPT}${turnId}`, method: "turn/interrupt", params: { threadId, turnId } });

export const answer = (id: RequestId, result: { readonly [key: string]: JsonValue }): string =>
  line({ id, result });

export const refuse = (id: RequestId, code: number, message: string): string =>
  line({ id, error: { code, message } });

/** The request that an answer belongs to, by its id; undefined if no request of ours has that id. */
export type CodexRequest =
  | { readonly what: "initialize" | "list" | "thread" | "interrupt" }
  | { readonly what: "turn"; readonly message_id: string };

export const answeredBy = (id: unknown): CodexRequest | undefined => {
  if (id === INITIALIZE) return { what: "initialize" };
  if (id === LIST) return { what: "list" };
  if (id === THREAD) return { what: "thread" };
  if (typeof id !== "string") return undefined;
  if (id.startsWith(INTERRUPT)) return { what: "interrupt" };
  const message_id = id.startsWith(TURN) ? id.slice(TURN.length) : "";
  return isUlid(message_id) ? { what: "turn", message_id } : undefined;
};
