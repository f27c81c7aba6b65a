/**
 * Builds the events of all decoders: the six kinds of agent-event.txt on their channels, with the facets of
 * the AgentEvent notes, A.3. Messages are sentences of ours; output of an agent appears only as `text` of a
 * TextOutput. `text` may still exceed its bound here, because the ingest masks secrets before it splits, so
 * that no secret is hidden by a split.
 */

import { asWord } from "../../base/json.ts";
import { SESSION_ID_MAX_BYTES } from "../../base/limits.ts";
import type { AgentEvent, AgentEventKind } from "../../protocol/agent-event.ts";
import { SESSION_HANDLE, STRUCTURED_TOOLS } from "../../protocol/facets.ts";
import type { ModelUsage, Usage, WorkerError } from "../../protocol/records.ts";
import type { DecodedRecord } from "../adapter.ts";

export type Channel = "assistant" | "reasoning" | "tool" | "status" | "error" | "stdout" | "stderr";

/** The tools facet of one call: only metadata, never the input or output. */
export interface ToolFacts {
  readonly item_id: string | null;
  readonly thread_id: string | null;
  /** Open set: `tool_use`, `command_execution`, … */
  readonly kind: string;
  readonly name: string | null;
  readonly use_id: string | null;
  /** The call to which a sub-agent belongs. */
  readonly parent_tool_use_id?: string | null;
}

export interface ToolEnd {
  readonly failed: boolean;
  readonly exit_code: number | null;
  /**
   * The result came in a line over the limit, of which only the beginning was read: whether it failed is
   * unknown.
   */
  readonly truncated?: boolean;
  /** The agent ended before the call did, so its end is unknown. */
  readonly unended?: boolean;
  /** Bytes of UTF-8; 0 if unknown. */
  readonly bytes?: { readonly stdout?: number; readonly stderr?: number; readonly result?: number };
}

type DecodedData = Exclude<AgentEvent["data"], undefined>;
/** A decoder puts only names, numbers and booleans into `data`, all bounded. */
export type EventFacts = { readonly [key: string]: string | number | boolean | null };

const record = (payload: AgentEvent): DecodedRecord => ({ type: "agent.event", payload });

export interface RetryCount {
  readonly retry: number | null;
  readonly max_retries: number | null;
}

/** Makes the events of one agent kind: bounded in all but their text, which is split later. */
export interface KindEvents {
  readonly agent_kind: string;
  text(channel: Channel, text: string, data?: EventFacts): DecodedRecord;
  status(message: string, data?: EventFacts, channel?: Channel): DecodedRecord;
  /**
   * A tool call was refused because a permission was missing. The turn's account counts `data.denied`
   * (turn-account).
   */
  denied(tool: { readonly tool_name: string | null; readonly tool_use_id: string | null }): DecodedRecord;
  session(message: string, id: string, data?: EventFacts): DecodedRecord;
  /**
   * The CLI retries its request to the provider. `tried`: the number of this attempt and the maximum, as far
   * as the CLI reports them.
   */
  retrying(tried?: RetryCount, data?: EventFacts): DecodedRecord;
  error(error: WorkerError): DecodedRecord;
  toolCall(tool: ToolFacts): DecodedRecord;
  toolResult(tool: ToolFacts, end: ToolEnd): DecodedRecord;
  /** `what` names the unknown type; the line itself stays in the spool. */
  unknown(what: EventFacts): DecodedRecord;
}

export const voiceOf = (agent_kind: string): KindEvents => {
  const tool = (kind: AgentEventKind, facts: ToolFacts, end?: ToolEnd): DecodedRecord =>
    record({
      agent_kind,
      kind,
      channel: "tool",
      ...(end?.unended ? { message: "The agent ended before this call did." } : {}),
      data: toolFacet(facts, end),
    });
  const status: KindEvents["status"] = (message, data, channel = "status") =>
    record(
      data === undefined
        ? { agent_kind, kind: "Status", channel, message }
        : { agent_kind, kind: "Status", channel, message, data },
    );
  return {
    agent_kind,
    text: (channel, text, data) =>
      record(
        data === undefined
          ? { agent_kind, kind: "TextOutput", channel, text }
          : { agent_kind, kind: "TextOutput", channel, text, data },
      ),
    status,
    denied: (tool) => {
      const word = asWord(tool.tool_name);
      const what = word === null ? "A tool" : `The tool ${word}`;
      return status(`${what} was denied permission.`, { ...tool, denied: true }, "tool");
    },
    retrying: (tried, data) => {
      const { retry = null, max_retries = null } = tried ?? {};
      const which = retry === null || max_retries === null ? "" : ` (${retry} of ${max_retries})`;
      const facts = tried === undefined && data === undefined ? undefined : { ...tried, ...data };
      return status(`The agent's CLI retries its request to the provider${which}.`, facts);
    },
    session: (message, id, data) =>
      record({
        agent_kind,
        kind: "Status",
        channel: "status",
        message,
        data: { ...sessionFacet(id), ...data },
      }),
    error: ({ code, message, retry_after_s, reset_at, resets }) => {
      const data: DecodedData = {
        code,
        ...(retry_after_s === undefined ? {} : { retry_after_s }),
        ...(reset_at === undefined ? {} : { reset_at }),
        ...(resets === undefined ? {} : { resets }),
      };
      return record({ agent_kind, kind: "Error", channel: "error", message, data });
    },
    toolCall: (facts) => tool("ToolCall", facts),
    toolResult: (facts, end) => tool("ToolResult", facts, end),
    unknown: (what) => record({ agent_kind, kind: "Unknown", data: what }),
  };
};

const toolFacet = (tool: ToolFacts, end: ToolEnd | undefined): DecodedData => {
  const data = {
    schema: STRUCTURED_TOOLS,
    tool: {
      backend_item_id: tool.item_id,
      thread_id: tool.thread_id,
      // No supported CLI prints a turn id.
      turn_id: null,
      kind: tool.kind,
      phase: end === undefined ? "start" : end.failed ? "fail" : "complete",
      status: statusOf(end),
      exit_code: end?.exit_code ?? null,
      bytes: {
        stdout: end?.bytes?.stdout ?? 0,
        stderr: end?.bytes?.stderr ?? 0,
        diff: 0,
        result: end?.bytes?.result ?? 0,
      },
      tool_name: tool.name,
      tool_use_id: tool.use_id,
    },
  };
  return {
    ...data,
    ...(end?.truncated ? { truncated: true } : {}),
    ...(end?.unended ? { unended: true } : {}),
    ...(tool.parent_tool_use_id == null ? {} : { parent_tool_use_id: tool.parent_tool_use_id }),
  };
};

const statusOf = (end: ToolEnd | undefined): string => {
  if (end === undefined) return "running";
  if (end.unended) return "unknown";
  return end.failed ? "failed" : "completed";
};

/** The `data` of the one event that tells the session of a run. */
export const sessionFacet = (id: string): { schema: string; session: { id: string } } => ({
  schema: SESSION_HANDLE,
  session: { id },
});

/** Notes A.3: an id must not be blank, and an id over the bound is omitted, never cut. */
export const checkSessionId = (id: string): "ok" | "empty" | "oversize" =>
  id.trim() === "" ? "empty" : Buffer.byteLength(id) > SESSION_ID_MAX_BYTES ? "oversize" : "ok";

/** The text of notes A.3, Oversize warnings. */
export const OVERSIZE_SESSION = `session handle omitted: id exceeds ${SESSION_ID_MAX_BYTES} bytes`;

/** The record of a session, whenever it changes: a restart continues it. */
export const sessionStarted = (session_id: string): DecodedRecord => ({
  type: "session_started",
  payload: { session_id },
});

/** Turns are numbered from 1. */
export const turnStarted = (turn: number): DecodedRecord => ({ type: "turn_started", payload: { turn } });

/** `duration_ms` is null if the CLI does not tell it. */
export const turnCompleted = (
  turn: number,
  usage: Usage,
  duration_ms: number | null,
  error: WorkerError | null,
  /** The usage of each model, if the CLI reports it; the ingest supplies it for the other kinds. */
  models?: readonly ModelUsage[],
): DecodedRecord => ({
  type: "turn_completed",
  payload: {
    turn,
    usage,
    duration_ms,
    ...(error === null ? {} : { error }),
    ...(models === undefined || models.length === 0 ? {} : { models }),
  },
});
