/**
 * The Agent Client Protocol, version 1: chunks of messages, tools by their id, and one answer to each
 * prompt, which says how its turn ended. Ids are those by which we ask (`dialogue.ts`).
 */
import { type Asked, answersTo, isAnswer, isObject } from "./dialogue.ts";
import { type Bit, dollars, type Expected, gathered, type Reader } from "./expected.ts";
import { get, getCount, getList, getText, type Printed, sum } from "./printed.ts";

const UPDATES = new Set(
  `agent_message_chunk agent_thought_chunk user_message_chunk tool_call tool_call_update plan usage_update
 session_info_update available_commands_update current_mode_update config_option_update notice plan_update plan_removed
 compaction_update compaction_summary_chunk`.split(/\s+/),
);
const CHUNKS: Readonly<Record<string, "assistant" | "reasoning">> = {
  agent_message_chunk: "assistant",
  agent_thought_chunk: "reasoning",
};
const MESSAGE = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

type Message = NonNullable<Printed["value"]>;

const methodOf = ({ value }: Printed): string | undefined => getText(value, "method");
const updateOf = (line: Printed): string =>
  methodOf(line) === "session/update" ? (getText(line.value, "params.update.sessionUpdate") ?? "") : "";

/** The id of a chunk of text. */
const textOf = ({ value }: Printed): string | undefined =>
  getText(value, "params.update.content.type") === "text"
    ? getText(value, "params.update.content.text")
    : undefined;

/** Two agents put words of their own among the model's: a warning without an id of a message, and that they try again. */
const isOwnNotice = (line: Printed, agent: string | undefined): boolean => {
  const text = updateOf(line) === "agent_message_chunk" ? (textOf(line) ?? "") : "";
  const isAnonymous = getText(line.value, "params.update.messageId") === undefined;
  if (agent === "Copilot") return /^Info: .* Retrying\.{3}\s*$/.test(text);
  return agent === "@agentclientprotocol/codex-acp" && isAnonymous && text.startsWith("Warning: ");
};

/** The answers that open a session: each counts once, and after the one that it needs. */
const opening = (lines: readonly Printed[], { session: former, model }: Asked) => {
  const first = answersTo(lines, /^holdfast:initialize$/)[0];
  const isAble = get(first?.[1], "result.agentCapabilities.loadSession") === true;
  const isSpoken = get(first?.[1], "result.protocolVersion") === 1 && (former === undefined || isAble);
  const loads = former !== undefined && isSpoken;
  const after = isSpoken ? first![0] : lines.length;
  const second = answersTo(lines, /^holdfast:session$/).find(([at]) => at > after);
  const third =
    model === undefined ? undefined : answersTo(lines, /^holdfast:model$/).find(([at]) => at > after);
  const hasAnswered = second !== undefined && second[1].error === undefined;
  const named = loads ? former : getText(second?.[1], "result.sessionId");
  const session = hasAnswered && named?.trim() !== "" ? named : undefined;
  return {
    session,
    answers: [first, second, third].flatMap((answer) => (answer === undefined ? [] : [answer[0]])),
    /** The replay of a session that is loaded stands between these. */
    replay: loads ? ([after, second?.[0] ?? lines.length] as const) : undefined,
    openedAt: session === undefined ? lines.length : second![0],
    refused:
      (first !== undefined && !isSpoken) ||
      (second !== undefined && session === undefined) ||
      third?.[1].error !== undefined,
  };
};

interface Turn {
  /** Lines; `to` is that of the answer, undefined where there is none. */
  readonly from: number;
  readonly to: number | undefined;
}

/** A turn begins where the prompt's mark is refused, else behind the turn before, and ends with the prompt's answer. */
const turnsOf = (lines: readonly Printed[]): { turns: readonly Turn[]; strays: number } => {
  const turns: { id: string; from: number; to: number | undefined }[] = [];
  let strays = 0;
  for (const [at, answer] of answersTo(lines, /^(?:mark|prompt):/)) {
    const [what, id = ""] = getText(answer, "id")!.split(":");
    const last = turns.at(-1);
    const isOpen = last !== undefined && last.to === undefined;
    if (!MESSAGE.test(id)) strays += 1;
    else if (what === "mark") {
      if (!isOpen && last?.id !== id) turns.push({ id, from: at, to: undefined });
    } else if (isOpen ? last.id !== id : last?.id === id) strays += 1;
    else if (isOpen) last.to = at;
    else turns.push({ id, from: (last?.to ?? -1) + 1, to: at });
  }
  return { turns, strays };
};

/** Calls, by their first sight, and again where a `tool_call` follows in a later turn; a result once, or by the end of its turn. */
const toolsOf = (lines: readonly Printed[], ends: ReadonlySet<number>) => {
  const calls: string[] = [];
  const results: string[] = [];
  const open = new Set<string>();
  const over = new Set<string>();
  const before = new Set<string>();
  for (const [at, line] of lines.entries()) {
    if (ends.has(at)) {
      for (const id of open) results.push(`${id} failed`);
      for (const id of [...open, ...over]) before.add(id);
      open.clear();
      over.clear();
    }
    const isAsked = methodOf(line) === "session/request_permission";
    const type = updateOf(line);
    if (!isAsked && type !== "tool_call" && type !== "tool_call_update") continue;
    const call = get(line.value, isAsked ? "params.toolCall" : "params.update");
    const id = getText(call, "toolCallId");
    if (id === undefined || over.has(id) || (before.has(id) && type !== "tool_call")) continue;
    if (!open.has(id)) calls.push(`${id} ${nameOf(call)}`);
    open.add(id);
    before.delete(id);
    const status = getText(call, "status");
    if (status !== "completed" && status !== "failed") continue;
    results.push(`${id} ${status === "failed" ? "failed" : "ok"}`);
    open.delete(id);
    over.add(id);
  }
  return { calls, results };
};

const nameOf = (call: unknown): string | null => {
  const kind = getText(call, "kind") ?? "other";
  return (
    getText(call, "name") ?? getText(call, "_meta.claudeCode.toolName") ?? (kind === "other" ? null : kind)
  );
};

const bitsOf = (lines: readonly Printed[], isNotice: (line: Printed) => boolean): readonly Bit[] =>
  lines.flatMap((line) => {
    const channel = CHUNKS[updateOf(line)];
    const piece = textOf(line);
    if (channel === undefined || piece === undefined || isNotice(line)) return [];
    return [{ channel, message: getText(line.value, "params.update.messageId") ?? "", piece }];
  });

/** The model's last message: what comes after a tool, a thought, or under another id is another one. */
const finalOf = (lines: readonly Printed[], isNotice: (line: Printed) => boolean): string | null => {
  const texts: string[] = [];
  let message: string | undefined;
  for (const line of lines.toReversed()) {
    const type = updateOf(line);
    const text = textOf(line);
    if (isNotice(line)) {
      if (texts.length > 0) break;
    } else if (type === "agent_message_chunk" && text !== undefined) {
      const id = getText(line.value, "params.update.messageId") ?? "";
      if (message !== undefined && id !== message) break;
      message = id;
      texts.unshift(text);
    } else if (/^tool_call|^agent_thought/.test(type) || methodOf(line) === "session/request_permission") {
      if (texts.length > 0) break;
    }
  }
  return texts.length === 0 ? null : texts.join("");
};

/** Two agents end a turn well whose provider failed, and say so by something else. */
const isHidden = (
  lines: readonly Printed[],
  agent: string | undefined,
  answer: Message,
  before: readonly Message[],
): boolean => {
  const states = lines
    .filter((line) => updateOf(line) === "session_info_update")
    .flatMap(({ value }) => getText(value, "params.update._meta.codex.threadStatus.type") ?? []);
  if (states.at(-1) === "systemError") return true;
  const said = lines.filter((line) => updateOf(line) === "agent_message_chunk");
  const words = said.flatMap((line) => textOf(line) ?? []).at(-1) ?? "";
  // Its usage so far has grown, where the provider has answered.
  const counted = tokensOf(answer) > Math.max(0, ...before.map(tokensOf));
  return (
    agent === "Copilot" &&
    (words.startsWith("Error: No response was returned.") || (words.startsWith("Error: ") && !counted))
  );
};

const tokensOf = (answer: Message): number =>
  getCount(answer, "result.usage.inputTokens") + getCount(answer, "result.usage.outputTokens");

/** By the numbers of the protocol, and by the name that one agent gives. */
const codeOf = (error: unknown): string | undefined => {
  if (get(error, "code") === -32_000) return "TOKEN_MISSING";
  if (get(error, "code") === -32_002) return "SESSION_NOT_FOUND";
  return getText(error, "data.errorName") === "APIError" ? "PROVIDER_ERROR" : undefined;
};

/** By model, where an answer tells them so: there it has all requests of the turn, in `usage` not always. */
const countsOf = (answer: unknown): readonly unknown[] => {
  const models = getList(answer, "result._meta.quota.model_usage").map((one) => get(one, "token_count"));
  const whole = get(answer, "result.usage") ?? get(answer, "result._meta.quota.token_count");
  return models.length > 0 ? models : isObject(whole) ? [whole] : [];
};

const cachedOf = (counts: unknown): number =>
  getCount(counts, "cachedReadTokens") + getCount(counts, "cachedInputTokens");

/** If the sum of both is all there is, cached tokens are a part of the input; else they stand beside it. */
const inputOf = (counts: unknown): number => {
  const input = getCount(counts, "inputTokens") + getCount(counts, "input_tokens");
  const isAll = getCount(counts, "totalTokens") === input + getCount(counts, "outputTokens");
  return input - (isAll ? cachedOf(counts) : 0);
};

/** Each answer tells its own turn's tokens, but Copilot's those of its session so far: its last one has them all. */
const usedBy = (
  lines: readonly Printed[],
  turns: readonly Turn[],
  agent: string | undefined,
): Expected["used"] => {
  const ended = turns.flatMap(({ to }) => (to === undefined ? [] : [to]));
  const told = ended.map((at) => countsOf(lines[at]?.value));
  const counts = (agent === "Copilot" ? told.filter((one) => one.length > 0).slice(-1) : told).flat();
  // The session's cost so far: what stood there before the first turn was spent by others.
  const costAt = (at: number): number | undefined =>
    lines
      .slice(0, at)
      .map(({ value }) => get(value, "params.update.cost"))
      .filter((cost) => getText(cost, "currency") === "USD" && typeof get(cost, "amount") === "number")
      .map((cost) => get(cost, "amount") as number)
      .at(-1);
  const last = costAt(ended.at(-1) ?? 0);
  return {
    input: sum(counts.map(inputOf)),
    output: sum(counts.map((one) => getCount(one, "outputTokens") + getCount(one, "output_tokens"))),
    cached: sum(counts.map(cachedOf)),
    reasoning: sum(
      counts.map((one) => getCount(one, "thoughtTokens") + getCount(one, "reasoningOutputTokens")),
    ),
    cost: last === undefined ? null : dollars(last - (costAt(turns[0]?.from ?? 0) ?? 0)),
  };
};

/** Lines that no row of the mapping has, and answers to nothing that was asked. */
const unknownOf = (
  lines: readonly Printed[],
  known: ReadonlySet<number>,
  isOurs: (line: Printed, at: number) => boolean,
): number =>
  lines.filter((line, at) => {
    if (!isOurs(line, at)) return false;
    if (line.value === undefined) return true;
    if (isAnswer(line)) return !known.has(at) && line.value.id !== null;
    if (methodOf(line) === undefined) return true;
    // A request is refused or asked on, and in either way known.
    if ((line.value.id ?? null) !== null || methodOf(line) === "$/cancel_request") return false;
    return !UPDATES.has(updateOf(line));
  }).length;

export const acp: Reader = (all, asked = {}) => {
  const { session, answers, replay, openedAt, refused } = opening(all, asked);
  const { turns, strays } = turnsOf(all);
  // All of a session that is loaded is on record; sessions of sub-agents are the agent's own affair.
  const isOurs = ({ value }: Printed, at: number): boolean =>
    value?.method !== "session/update" ||
    ((replay === undefined || at < replay[0] || at > replay[1]) &&
      (at < openedAt || get(value, "params.sessionId") === session));
  const ours = all.map((line, at) => (isOurs(line, at) ? line : { text: "", value: {} }));
  const last = turns.at(-1);
  const answer = last?.to === undefined ? undefined : all[last.to]?.value;
  const before = turns.slice(0, -1).map(({ to }) => all[to ?? -1]?.value ?? {});
  const spoken = ours.slice(last?.from ?? 0);
  const agent = getText(all[answers[0] ?? -1]?.value, "result.agentInfo.name");
  // Before it has said who it is, nobody knows its notices from words.
  const isSpoken = get(all[answers[0] ?? -1]?.value, "result.protocolVersion") === 1;
  const named = new Set(isSpoken ? all.slice(answers[0]) : []);
  const isNotice = (line: Printed): boolean => named.has(line) && isOwnNotice(line, agent);
  const isWell =
    !refused &&
    answer !== undefined &&
    getText(answer, "result.stopReason") === "end_turn" &&
    !isHidden(ours.slice(last?.from, last?.to), agent, answer, before);
  const failure = refused ? all[answers.at(-1) ?? -1]?.value : answer;
  const code = codeOf(get(failure, "error"));
  const known = new Set([...answers, ...answersTo(all, /^(?:mark|prompt):/).map(([at]) => at)]);
  return {
    sessions: session === undefined ? [] : [session],
    said: gathered(bitsOf(ours, isNotice)),
    ...toolsOf(ours, new Set(turns.flatMap(({ to }) => to ?? []))),
    asks: all.filter(
      (line) =>
        methodOf(line) === "session/request_permission" &&
        getList(line.value, "params.options").some((option) => getText(option, "kind") === "allow_once"),
    ).length,
    turns: turns.filter(({ to }) => to !== undefined).length,
    used: usedBy(all, turns, agent),
    ending: refused ? "badly" : answer === undefined ? "open" : isWell ? "well" : "badly",
    ...(code === undefined ? {} : { code }),
    final: isWell ? finalOf(spoken, isNotice) : null,
    unknown: unknownOf(all, known, isOurs) + strays,
  };
};
