/**
 * `codex app-server`: JSON-RPC without its `jsonrpc` member. Answers come in pieces and as a whole, tools
 * as items that start and complete, and `turn/completed` says how a turn ended. Ids are those by which we ask (`dialogue.ts`).
 */
import { answersTo, isObject, notices } from "./dialogue.ts";
import { type Bit, gathered, NOTHING_USED, type Reader, type Used } from "./expected.ts";
import { get, getCount, getList, getText, type Printed } from "./printed.ts";

const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

/** Notifications that the mapping has a row for. */
const METHODS =
  words(`turn/started turn/completed item/started item/completed item/agentMessage/delta item/reasoning/summaryTextDelta
 thread/tokenUsage/updated serverRequest/resolved error turn/plan/updated warning configWarning guardianWarning deprecationNotice
 thread/started thread/status/changed thread/settings/updated thread/name/updated thread/compacted thread/closed turn/diff/updated
 item/commandExecution/outputDelta item/fileChange/outputDelta item/mcpToolCall/progress item/plan/delta
 item/reasoning/textDelta item/reasoning/summaryPartAdded rawResponseItem/completed account/rateLimits/updated
 account/updated remoteControl/status/changed model/rerouted mcpServer/startupStatus/updated`);
const TOOLS =
  words(`commandExecution fileChange mcpToolCall dynamicToolCall collabAgentToolCall webSearch imageView
 imageGeneration sleep`);
const ITEMS =
  words(`agentMessage reasoning userMessage plan contextCompaction enteredReviewMode exitedReviewMode
 subAgentActivity hookPrompt functionCallOutput`);
const ASKS = words(
  `item/commandExecution/requestApproval item/fileChange/requestApproval item/permissions/requestApproval`,
);
const COUNTS = ["inputTokens", "outputTokens", "cachedInputTokens", "reasoningOutputTokens"] as const;

type Message = NonNullable<Printed["value"]>;

const itemOf = (line: Message): unknown => get(line, "params.item");
const typeOf = (line: Message): string => getText(line, "params.item.type") ?? "";
const idOf = (line: Message): string | undefined => getText(line, "params.item.id");

const bitsOf = (lines: readonly Printed[]): readonly Bit[] =>
  notices(lines, "item/agentMessage/delta", "item/reasoning/summaryTextDelta", "item/completed").flatMap(
    (line): readonly Bit[] => {
      const channel = /reasoning/.test(`${line.method} ${typeOf(line)}`) ? "reasoning" : "assistant";
      if (line.method !== "item/completed") {
        const piece = getText(line, "params.delta");
        return piece === undefined ? [] : [{ channel, message: getText(line, "params.itemId") ?? "", piece }];
      }
      const summary = getList(line, "params.item.summary");
      const parts = summary.length > 0 ? summary : getList(line, "params.item.content");
      const thought = parts.filter((part) => typeof part === "string").join("\n\n");
      const whole = { agentMessage: getText(line, "params.item.text"), reasoning: thought }[typeOf(line)];
      return whole === undefined ? [] : [{ channel, message: idOf(line) ?? "", whole }];
    },
  );

/** A command that failed, a call that was declined, an error of a server: all the same to who asked for it. */
const hasFailed = (line: Message): boolean =>
  ["failed", "declined"].includes(getText(itemOf(line), "status") ?? "") ||
  getCount(itemOf(line), "exitCode") > 0 ||
  (get(itemOf(line), "error") ?? null) !== null ||
  get(itemOf(line), "success") === false;

/** Calls by their first sight; a result once, when they are complete, or a bad one where their turn ends before. */
const toolsOf = (lines: readonly Printed[]) => {
  const calls = new Map<string, string>();
  const results: string[] = [];
  const open = new Set<string>();
  const over = new Set<string>();
  for (const line of notices(lines, "item/started", "item/completed", "turn/completed")) {
    const id = idOf(line) ?? "";
    if (line.method === "turn/completed") {
      for (const one of open) results.push(`${one} failed`);
      open.clear();
      over.clear();
    } else if (TOOLS.has(typeOf(line)) && !over.has(id)) {
      if (!calls.has(id)) calls.set(id, `${id} ${getText(itemOf(line), "tool") ?? null}`);
      if (line.method === "item/started") open.add(id);
      else results.push(`${id} ${hasFailed(line) ? "failed" : "ok"}`);
      if (line.method === "item/started") continue;
      open.delete(id);
      over.add(id);
    }
  }
  return { calls: [...calls.values()], results };
};

/** Sums are of the whole thread: of the first, only its last request is ours. */
const usedBy = (lines: readonly Printed[]): Used => {
  const told = notices(lines, "thread/tokenUsage/updated").map((line) => get(line, "params.tokenUsage"));
  const [input = 0, output = 0, cached = 0, reasoning = 0] = COUNTS.map(
    (name) =>
      getCount(told.at(-1), `total.${name}`) -
      getCount(told[0], `total.${name}`) +
      getCount(told[0], `last.${name}`),
  );
  return { ...NOTHING_USED, input, output, cached, reasoning };
};

/**
 * A turn is begun by the answer to `turn/start` or by its own notice, whichever comes first, and one is open at a time: what
 * begins while one is open is that one. Its end names it, where anything before has.
 */
const turnsOf = (lines: readonly Printed[]) => {
  const ended: Message[] = [];
  let open: { id: string | undefined } | undefined;
  let from = 0;
  for (const [at, line] of lines.entries()) {
    const isStart = answersTo([line], /^turn:/).length > 0;
    const [notice] = notices([line], "turn/started", "turn/completed");
    if (!isStart && notice === undefined) continue;
    const id = getText(line.value, isStart ? "result.turn.id" : "params.turn.id") || undefined;
    if (notice?.method === "turn/completed") {
      if (open === undefined || (open.id !== undefined && open.id !== id)) continue;
      ended.push(notice);
      open = undefined;
      continue;
    }
    if (open === undefined) from = at;
    open = { id: open?.id ?? id };
    if (!isStart || isObject(line.value?.result)) continue;
    // A turn that could not be started has ended with that.
    ended.push(line.value!);
    open = undefined;
  }
  return { ended, isOpen: open !== undefined, from };
};

const unknownOf = (lines: readonly Printed[], known: ReadonlySet<number>): number =>
  lines.filter((line, at) => {
    const method = getText(line.value, "method");
    if (method === undefined) return !known.has(at);
    if ((line.value?.id ?? null) !== null) return false;
    const isItem = method === "item/started" || method === "item/completed";
    return (
      !METHODS.has(method) || (isItem && !ITEMS.has(typeOf(line.value!)) && !TOOLS.has(typeOf(line.value!)))
    );
  }).length;

export const codexAppServer: Reader = (all) => {
  const thread = answersTo(all, /^holdfast:thread$/)[0]?.[1];
  const session = getText(thread, "result.thread.id");
  const initialized = answersTo(all, /^holdfast:initialize$/)[0]?.[1];
  // The work of a sub-agent in its own thread is its own affair.
  const ours = all.filter(({ value }) => {
    const of = getText(value, "params.threadId");
    return typeof value?.method !== "string" || of === undefined || session === undefined || of === session;
  });
  const { ended, isOpen, from } = turnsOf(ours);
  const last = ended.at(-1);
  const refused =
    (initialized !== undefined && !isObject(initialized.result)) ||
    (thread !== undefined && session === undefined);
  const isSettled = refused || (last !== undefined && !isOpen);
  const isWell = isSettled && !refused && getText(last, "params.turn.status") === "completed";
  const answers = notices(ours.slice(from), "item/completed").filter(
    (line) => typeOf(line) === "agentMessage" && getText(itemOf(line), "text") !== undefined,
  );
  const known = new Set(
    answersTo(ours, /^(?:holdfast:(?:initialize|thread|list)$|turn:|interrupt:)/).map(([at]) => at),
  );
  return {
    sessions: session === undefined ? [] : [session],
    said: gathered(bitsOf(ours)),
    ...toolsOf(ours),
    asks: ours.filter(({ value }) => value?.id !== undefined && ASKS.has(getText(value, "method") ?? ""))
      .length,
    turns: ended.length,
    used: usedBy(ours),
    ending: !isSettled ? "open" : isWell ? "well" : "badly",
    final: isWell ? (getText(answers.at(-1), "params.item.text") ?? null) : null,
    unknown: unknownOf(ours, known),
  };
};
