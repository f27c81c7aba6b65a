/** Exports one incarnation of our log as a run of the contract: tools, turns, and exactly one end (protocol-v1 notes 2.7). */

import { MESSAGE_MAX_BYTES } from "../../base/limits.ts";
import { truncateMessage } from "../bounds.ts";
import type { AgentCompletion, AnswerArtifact } from "../completion.ts";
import type { V1Code } from "../error-row.ts";
import { ERROR_CATALOGUE } from "../errors.ts";
import type { LogRecord, WorkerError } from "../records.ts";
import type { RunEventType } from "./events.ts";

export interface RunEvent {
  readonly type: RunEventType;
  readonly payload: object;
}

/** Kinds of errors of the notes, 2.2, by the code of Protocol v1. */
const KINDS: Readonly<Partial<Record<V1Code, string>>> = {
  EARG: "validation",
  EPOLICY: "policy_violation",
  ENOTFOUND: "not_found",
  ETIMEOUT: "timeout",
  ERATELIMIT: "dependency",
  ESKILLDOWN: "dependency",
};

const errorPayload = ({ code, message }: WorkerError, fatal: boolean) => {
  const { v1, http, retryable } = ERROR_CATALOGUE[code];
  return {
    kind: KINDS[v1] ?? "internal",
    message,
    fatal,
    retryable,
    http_status: http,
    envelope_code: v1,
    details: { code },
  };
};

/** The state of a run between its records. */
export class RunLife {
  private calls = 0;
  private callsOfTurn = 0;
  private readonly names = new Map<string, string>();
  private readonly run_id: string;

  constructor(run_id: string) {
    this.run_id = run_id;
  }

  static started({
    interactive,
    prompt,
  }: {
    readonly interactive: boolean;
    readonly prompt?: string | undefined;
  }): RunEvent {
    const mode = interactive ? "reactive" : "autonomous";
    const shown = prompt === undefined ? {} : { prompt: truncateMessage(prompt, MESSAGE_MAX_BYTES) };
    return { type: "run.started", payload: { mode, ...shown } };
  }

  take(record: LogRecord): readonly RunEvent[] {
    switch (record.type) {
      case "agent.event":
        return this.tool(record.payload);
      case "turn_completed": {
        const { turn, error } = record.payload;
        const turn_id = `${this.run_id}:turn:${turn}`;
        const recorded = { turn_id, iterations: 1, tool_calls: this.callsOfTurn };
        this.callsOfTurn = 0;
        return [
          ...(error === undefined ? [] : [failed("stage.failed", error, false)]),
          { type: "turn.recorded", payload: recorded },
        ];
      }
      case "worker_completed": {
        const { completion, artifact } = record.payload;
        return [
          ...artifactFailed(artifact),
          { type: "run.completed", payload: summaryOf(completion, artifact) },
        ];
      }
      case "worker_failed":
      case "worker_cancelled":
        return [...artifactFailed(record.payload.artifact), failed("run.failed", record.payload.error, true)];
      default:
        return [];
    }
  }

  private tool({ kind, data }: Extract<LogRecord, { type: "agent.event" }>["payload"]): readonly RunEvent[] {
    if (kind !== "ToolCall" && kind !== "ToolResult") return [];
    const { tool = {} } = (data ?? {}) as {
      tool?: { tool_name?: string; tool_use_id?: string; kind?: string; status?: string };
    };
    const id = tool.tool_use_id ?? "";
    if (kind === "ToolResult") {
      const name = tool.tool_name ?? this.names.get(id) ?? tool.kind ?? "unknown";
      this.names.delete(id);
      const status = tool.status === "failed" ? "error" : "ok";
      return [{ type: "tool.responded", payload: { name, status } }];
    }
    this.calls += 1;
    this.callsOfTurn += 1;
    const name = tool.tool_name ?? tool.kind ?? "unknown";
    if (id !== "" && this.names.size < NAMES_MAX) this.names.set(id, name);
    return [{ type: "tool.invoked", payload: { name, iteration_index: this.calls } }];
  }
}

/** Tool calls that may still end. */
const NAMES_MAX = 256;

const failed = (type: RunEventType, error: WorkerError, fatal: boolean): RunEvent => ({
  type,
  payload: errorPayload(error, fatal),
});

const artifactFailed = (artifact: AnswerArtifact | undefined): readonly RunEvent[] =>
  artifact?.error === undefined ? [] : [failed("artifact.failed", artifact.error, false)];

const summaryOf = ({ final_text }: AgentCompletion, artifact: AnswerArtifact | undefined) => ({
  summary: truncateMessage(final_text ?? "completed", MESSAGE_MAX_BYTES),
  ...(artifact?.digest == null ? {} : { artifact: artifact.digest }),
});
