/** Runs one call of a tool: the policy's answer, a person's if the policy asks, the intent, the deed, the result. */
import { ENGINE_TOOL_MAX_MS } from "../base/limits.ts";
import type { EngineLine } from "../protocol/engine-lines.ts";
import type { AtCrashPoint } from "./crash.ts";
import type { JournalEntry, PendingCall } from "./entries.ts";
import type { EngineInbox } from "./inbox.ts";
import type { ToolCall, ToolSpec } from "./model.ts";
import {
  brokenTool,
  CANCELLED_CALL,
  cutOutput,
  deniedCall,
  missingTool,
  UNKNOWN_OUTCOME,
} from "./outputs.ts";
import type { ToolExecutor, ToolResult } from "./tools.ts";

type Append = (entry: JournalEntry) => Promise<void>;
type CallOutcome = Extract<EngineLine, { type: "result" }>["outcome"];

/** A command about a call that is not run. */
interface CallNotRun {
  readonly type: "unknown" | "skip";
  readonly pending: PendingCall;
}

interface RunnerContext {
  readonly worker_id: string;
  readonly cwd: string;
  readonly session: string;
}

export class ToolRunner {
  private readonly tools: ToolExecutor;
  private readonly context: RunnerContext;
  private readonly inbox: EngineInbox;
  private readonly tell: (line: EngineLine) => void;
  private readonly at: AtCrashPoint;

  constructor(
    tools: ToolExecutor,
    context: RunnerContext,
    inbox: EngineInbox,
    tell: (line: EngineLine) => void,
    at: AtCrashPoint,
  ) {
    this.tools = tools;
    this.context = context;
    this.inbox = inbox;
    this.tell = tell;
    this.at = at;
  }

  /** Whether the call needs no permission and may run beside others. */
  mayOverlap(call: ToolCall, specs: readonly ToolSpec[]): boolean {
    const spec = specs.find(({ name }) => name === call.name);
    if (spec === undefined || !spec.may_overlap || !spec.is_idempotent) return false;
    return this.tools.judge(call).decision === "allow";
  }

  /** Appends nothing if the signal is aborted before the call begins. */
  async run(
    { call, state }: PendingCall,
    specs: readonly ToolSpec[],
    signal: AbortSignal,
    append: Append,
  ): Promise<void> {
    const spec = specs.find(({ name }) => name === call.name);
    const refused =
      spec === undefined
        ? missingTool(call.name)
        : // It was allowed before it was cut off.
          state === "begun"
          ? undefined
          : await this.refusal(call, signal);
    if (signal.aborted) return;
    if (refused !== undefined) {
      await append(returned(call, refused));
      return this.tellResult(call, refused, spec === undefined ? "returned" : "denied");
    }
    await append({ type: "calling", call_id: call.id, is_idempotent: spec?.is_idempotent === true });
    this.tell({ type: "call", call_id: call.id, name: call.name });
    const result = await this.result(call, signal);
    this.at("called");
    await append(returned(call, result));
    this.tellResult(call, result, "returned");
  }

  withoutRun({ type, pending }: CallNotRun): JournalEntry {
    return returned(pending.call, type === "unknown" ? UNKNOWN_OUTCOME : CANCELLED_CALL);
  }

  tellWithoutRun({ type, pending }: CallNotRun): void {
    const isUnknown = type === "unknown";
    this.tellResult(
      pending.call,
      isUnknown ? UNKNOWN_OUTCOME : CANCELLED_CALL,
      isUnknown ? "unknown" : "skipped",
    );
  }

  private tellResult({ id, name }: ToolCall, { output, is_error }: ToolResult, outcome: CallOutcome): void {
    const bytes = Buffer.byteLength(JSON.stringify(output));
    this.tell({ type: "result", call_id: id, name, is_error, bytes, outcome });
  }

  /** The result of a call that may not be run; undefined if it may. */
  private async refusal(call: ToolCall, signal: AbortSignal): Promise<ToolResult | undefined> {
    const verdict = this.tools.judge(call);
    if (verdict.decision === "allow") return undefined;
    if (verdict.decision === "deny") return deniedCall(verdict.reason);
    this.tell({ type: "ask", key: call.id, name: call.name, title: verdict.title, input: call.input });
    const answer = await this.inbox.answer(call.id, signal);
    if (answer === undefined) {
      this.tell({ type: "withdrawn", key: call.id });
      return deniedCall("Nobody can answer the request for permission any more.");
    }
    return answer.decision === "allow"
      ? undefined
      : deniedCall(answer.message ?? "The permission was denied.");
  }

  private async result(call: ToolCall, turn: AbortSignal): Promise<ToolResult> {
    const { session, worker_id, cwd } = this.context;
    const signal = AbortSignal.any([turn, AbortSignal.timeout(ENGINE_TOOL_MAX_MS)]);
    try {
      return await this.tools.run(call, {
        signal,
        worker_id,
        cwd,
        idempotency_key: `${session}:${call.id}`,
      });
    } catch (cause) {
      // It was begun, so it may have had its effect.
      if (turn.aborted) return UNKNOWN_OUTCOME;
      return signal.aborted
        ? { output: `The tool did not end within ${ENGINE_TOOL_MAX_MS} ms.`, is_error: true, code: "TIMEOUT" }
        : brokenTool(cause);
    }
  }
}

const returned = ({ id }: ToolCall, { output, is_error, code }: ToolResult): JournalEntry => ({
  type: "returned",
  call_id: id,
  output: cutOutput(output),
  is_error,
  ...(code === undefined ? {} : { code }),
});
