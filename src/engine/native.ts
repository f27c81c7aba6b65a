/**
 * The engine of Holdfast: it asks a model, runs the tools that the model calls, and keeps a journal of both. `next` decides;
 * this file carries the decisions out, one at a time.
 */
import { ENGINE_SUMMARY_MAX_TOKENS } from "../base/limits.ts";
import type { EngineOpening } from "../protocol/engine-lines.ts";
import { asHoldfastError } from "../protocol/errors.ts";
import type { TokenCounts } from "../protocol/token-counts.ts";
import { olderOf, SUMMARY_REQUEST, summarized, trimmed } from "./compaction.ts";
import {
  type ConversationState,
  type EndedEngineTurn,
  type EngineTurn,
  evolve,
  foldEntries,
} from "./conversation.ts";
import { type AtCrashPoint, ENGINE_CRASH_POINTS, type EngineCrashPoint } from "./crash.ts";
import type { AgentEngine, EngineRun } from "./engine.ts";
import type { JournalEntry, PendingCall } from "./entries.ts";
import { EngineInbox, type EngineMessage } from "./inbox.ts";
import type { EngineJournal } from "./journal.ts";
import type { EngineJournals } from "./journals.ts";
import { type Message, type Model, ModelError, type ModelPart, type ToolSpec } from "./model.ts";
import { errorOfFailure } from "./model-errors.ts";
import { type Command, type LoopRules, next } from "./next.ts";
import { ToolRunner } from "./tool-runner.ts";
import type { ToolExecutor } from "./tools.ts";

/** All that one conversation needs, made for its opening. */
export interface ConversationParts {
  readonly model: Model;
  readonly tools: ToolExecutor;
  readonly rules: Omit<LoopRules, "mayOverlap">;
}

export interface NativeEngineOptions {
  readonly journals: EngineJournals;
  /** Rejects with a HoldfastError if the opening asks for something that does not exist. */
  readonly parts: (opening: EngineOpening) => Promise<ConversationParts>;
  /** Resolves after the time, or once the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly at?: AtCrashPoint | undefined;
}

type FinishedPart = Extract<ModelPart, { type: "finished" }>;

const POINTS: ReadonlySet<string> = new Set(ENGINE_CRASH_POINTS);

class Conversing {
  private readonly options: NativeEngineOptions;
  private readonly parts: ConversationParts;
  private readonly run: EngineRun;
  private readonly journal: EngineJournal;
  private readonly inbox: EngineInbox;
  private readonly runner: ToolRunner;
  private readonly rules: LoopRules;
  private specs: readonly ToolSpec[] = [];
  private state: ConversationState;
  /** Aborted by an interruption of the open turn. */
  private turnStop = new AbortController();

  constructor(
    options: NativeEngineOptions,
    parts: ConversationParts,
    run: EngineRun,
    journal: EngineJournal,
  ) {
    this.options = options;
    this.parts = parts;
    this.run = run;
    this.journal = journal;
    this.state = foldEntries(journal.entries);
    this.inbox = new EngineInbox(run.inputs, () => this.turnStop.abort());
    const { worker_id, cwd } = run.opening;
    const context = { worker_id, cwd, session: this.state.session };
    this.runner = new ToolRunner(parts.tools, context, this.inbox, run.tell, (point) => options.at?.(point));
    this.rules = { ...parts.rules, mayOverlap: (call) => this.runner.mayOverlap(call, this.specs) };
    run.signal.addEventListener("abort", () => this.inbox.end(), { once: true });
  }

  async converse(): Promise<void> {
    const { opening, signal, tell } = this.run;
    tell({ type: "session", id: this.state.session, model: opening.model });
    this.specs = await this.parts.tools.list();
    const { turn } = this.state;
    if (turn !== null && turn.worker_id !== opening.worker_id) await this.abandon();
    if (opening.interactive) await this.resume();
    else {
      const message = await this.inbox.message();
      if (message !== undefined) await this.takeOnly(message);
      return;
    }
    for (let more = true; more && !signal.aborted; ) {
      const message = await this.inbox.message();
      more = message !== undefined;
      if (message !== undefined) await this.take(message);
    }
    if (!signal.aborted) await this.inbox.done;
  }

  /** Goes on where the last incarnation of a dialogue stopped. */
  private async resume(): Promise<void> {
    const { turn, last } = this.state;
    if (turn !== null) await this.goOn(turn.message_id);
    else if (this.run.opening.interrupted === true && last !== null)
      this.tellAgain(last, last.turn.message_id);
  }

  /** The only prompt of a worker. A later incarnation gets it again under another id, and goes on with its turn. */
  private async takeOnly(message: EngineMessage): Promise<void> {
    const { turn, last } = this.state;
    const { opening } = this.run;
    const isSame = (one: EngineTurn) => one.worker_id === opening.worker_id && one.prompt === message.text;
    if (turn !== null && isSame(turn)) return this.goOn(message.id);
    if (turn === null && opening.interrupted === true && last !== null && isSame(last.turn))
      return this.tellAgain(last, message.id);
    if (turn !== null) await this.abandon();
    await this.take(message);
  }

  private async take(message: EngineMessage): Promise<void> {
    const { taken, last } = this.state;
    if (taken.includes(message.id)) {
      if (last?.turn.message_id === message.id) this.tellAgain(last, message.id);
      else this.run.tell({ type: "taken", message_id: message.id });
      return;
    }
    const { worker_id } = this.run.opening;
    await this.append({ type: "given", message_id: message.id, worker_id, text: message.text });
    this.run.tell({ type: "turn", message_id: message.id, is_resumed: false });
    await this.work();
  }

  private async goOn(message_id: string): Promise<void> {
    this.run.tell({ type: "turn", message_id, is_resumed: true });
    await this.work();
  }

  private tellAgain(ended: EndedEngineTurn, message_id: string): void {
    this.run.tell({ type: "turn", message_id, is_resumed: true });
    this.tellEnd(ended);
  }

  private tellEnd({ turn, error }: EndedEngineTurn): void {
    const text = error === null ? (turn.answer?.text ?? "") : "";
    this.run.tell({ type: "end", error, text, usage: turn.usage, model: this.run.opening.model });
  }

  /** Ends a turn that another worker left open: its calls get the results that can be known. */
  private async abandon(): Promise<void> {
    await this.append({ type: "interrupted" });
    for (let turn = this.state.turn; turn !== null; turn = this.state.turn) {
      const command = next(this.state, this.rules);
      if (command.type === "end") await this.append({ type: "ended", error: command.error });
      else if (command.type === "unknown" || command.type === "skip")
        await this.append(this.runner.withoutRun(command));
      else return;
    }
  }

  /** Works on the open turn until its end, or until the run has to end. */
  private async work(): Promise<void> {
    this.turnStop = new AbortController();
    while (this.state.turn !== null && !this.run.signal.aborted) {
      if (this.turnStop.signal.aborted && !this.state.turn.is_interrupted)
        await this.append({ type: "interrupted" });
      await this.carryOut(next(this.state, this.rules));
    }
  }

  private async carryOut(command: Command): Promise<void> {
    switch (command.type) {
      case "ask":
        return this.ask(command);
      case "call":
        return this.call(command.calls);
      case "unknown":
      case "skip":
        await this.append(this.runner.withoutRun(command));
        return this.runner.tellWithoutRun(command);
      case "compact":
        return this.compact(command);
      case "correct":
        await this.append({ type: "corrected", text: command.text });
        return this.run.tell({ type: "corrected" });
      case "end":
        await this.append({ type: "ended", error: command.error });
        if (this.state.last !== null) this.tellEnd(this.state.last);
        this.options.at?.("told");
    }
  }

  /** Each call has its own intent and result in the journal. A failure of the journal is told once all have ended. */
  private async call(calls: readonly PendingCall[]): Promise<void> {
    const signal = this.signal();
    const append = (entry: JournalEntry) => this.append(entry);
    const ran = await Promise.allSettled(
      calls.map((pending) => this.runner.run(pending, this.specs, signal, append)),
    );
    for (const one of ran) if (one.status === "rejected") throw one.reason;
  }

  private async compact({ by, ...again }: Extract<Command, { type: "compact" }>): Promise<void> {
    const older = by === "summarize" ? olderOf(this.state.messages) : [];
    if (older.length === 0) return this.compacted("trim", trimmed(this.state.messages));
    await this.tryModel(again, { type: "summarizing" }, async (signal) => {
      const { opening } = this.run;
      const request = {
        model: opening.model,
        messages: [...older, SUMMARY_REQUEST],
        tools: [],
        max_output_tokens: ENGINE_SUMMARY_MAX_TOKENS,
      };
      const { reason, message, usage } = await this.last(this.parts.model.stream(request, signal));
      const isSummary = reason === "stop" && message.text.trim() !== "";
      const { messages } = this.state;
      if (isSummary) await this.compacted("summarize", summarized(messages, message.text), usage);
      else await this.compacted("trim", trimmed(messages), usage);
    });
  }

  private async compacted(policy: string, messages: readonly Message[], usage?: TokenCounts): Promise<void> {
    await this.append({ type: "compacted", policy, messages, ...(usage === undefined ? {} : { usage }) });
    this.run.tell({ type: "compacted", policy, messages: messages.length });
    if (usage !== undefined) this.tellUsage();
  }

  private ask(command: Extract<Command, { type: "ask" }>): Promise<void> {
    return this.tryModel(command, { type: "asking" }, async (signal) => {
      const { reason, message, usage } = await this.stream(signal);
      await this.append({ type: "answered", reason, message, usage });
      this.tellUsage();
    });
  }

  private tellUsage(): void {
    const { turn } = this.state;
    if (turn !== null) this.run.tell({ type: "usage", usage: turn.usage });
  }

  /** One request to the model: the wait after the last failure, the intent, and the answer or the new failure. */
  private async tryModel(
    { wait_ms, tried }: Pick<Extract<Command, { type: "ask" }>, "wait_ms" | "tried">,
    intent: JournalEntry,
    request: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const signal = this.signal();
    const failure = this.state.turn?.failure ?? null;
    if (failure !== null && tried > 0) {
      const error = errorOfFailure(failure);
      this.run.tell({ type: "retry", retry: tried, max_retries: this.rules.tries_max - 1, error });
      await this.options.sleep(wait_ms, signal);
      if (signal.aborted) return;
    }
    await this.append(intent);
    try {
      await request(signal);
    } catch (cause) {
      if (signal.aborted) return;
      if (!(cause instanceof ModelError)) throw cause;
      const { kind, message, status, retry_after_ms } = cause;
      await this.append({
        type: "failed",
        kind,
        message,
        ...(status === undefined ? {} : { status }),
        ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
      });
    }
  }

  /** The last part of the answer; the pieces before it are told. */
  private stream(signal: AbortSignal): Promise<FinishedPart> {
    const { opening, tell } = this.run;
    const { system, output_schema, max_output_tokens } = opening.settings;
    const first: readonly Message[] = system === undefined ? [] : [{ role: "system", text: system }];
    const request = {
      model: opening.model,
      messages: [...first, ...this.state.messages],
      tools: this.specs,
      ...(output_schema === undefined ? {} : { output_schema }),
      ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
    };
    const step = (this.state.turn?.steps ?? 0) + 1;
    return this.last(this.parts.model.stream(request, signal), ({ type, text }) =>
      tell({ type: "text", channel: type === "text" ? "assistant" : "reasoning", step, text }),
    );
  }

  private async last(
    parts: AsyncIterable<ModelPart>,
    onText: (part: Exclude<ModelPart, FinishedPart>) => void = () => undefined,
  ): Promise<FinishedPart> {
    for await (const part of parts) {
      if (part.type === "finished") return part;
      onText(part);
      this.options.at?.("answering");
    }
    throw new ModelError("bad_answer", "The answer has no end.");
  }

  private signal(): AbortSignal {
    return AbortSignal.any([this.run.signal, this.turnStop.signal]);
  }

  private async append(entry: JournalEntry): Promise<void> {
    this.pass(`${entry.type}-before`);
    await this.journal.append(entry);
    this.state = evolve(this.state, entry);
    this.pass(`${entry.type}-after`);
  }

  private pass(point: string): void {
    if (POINTS.has(point)) this.options.at?.(point as EngineCrashPoint);
  }
}

/** Opens what the run asks for; undefined if it does not exist, which is then told. */
const opened = async (options: NativeEngineOptions, run: EngineRun) => {
  try {
    const parts = await options.parts(run.opening);
    try {
      return { parts, journal: await options.journals.open(run.opening) };
    } catch (cause) {
      await parts.tools.close();
      throw cause;
    }
  } catch (cause) {
    const { code, message } = asHoldfastError(cause);
    run.tell({ type: "refused", error: { code, message } });
    return undefined;
  }
};

export const nativeEngine = (options: NativeEngineOptions): AgentEngine => ({
  name: "native",
  run: async (run) => {
    const found = await opened(options, run);
    if (found === undefined) return;
    const { parts, journal } = found;
    try {
      await new Conversing(options, parts, run, journal).converse();
    } finally {
      await parts.tools.close();
      await journal.close();
    }
  },
});
