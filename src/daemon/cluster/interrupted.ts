/** The turn in which a worker's last run ended, by the copied records of that run (decision 0086). */
import { TOOLS_IN_FLIGHT_MAX } from "../../base/limits.ts";
import type { LogRecord } from "../../protocol/records.ts";
import { isUnended, toolKeyOf, toolNameOf } from "../../protocol/tool-calls.ts";
import type { Brought } from "../../protocol/worker.ts";

/**
 * Undefined if no turn was open, or if its old node had decided already how to go on. `records`: newest first. The first one that
 * opens or closes a turn decides. If none of them does, and an agent used tools, its turn is open: it began before the records.
 */
export const interruptedBy = (records: readonly string[]): Brought["interrupted"] => {
  const ended = new Set<string>();
  const open = new Set<string>();
  let isInTurn = false;
  for (const text of records) {
    const record: LogRecord = JSON.parse(text);
    switch (record.type) {
      case "agent.event": {
        const { kind, data } = record.payload;
        const key = toolKeyOf(data);
        isInTurn ||= kind === "ToolCall" || kind === "ToolResult";
        // The result that an end gives to an open call says nothing of its effect.
        if (kind === "ToolResult" && !isUnended(data)) ended.add(key);
        else if (kind === "ToolCall" && !ended.has(key)) open.add(toolNameOf(data));
        break;
      }
      case "turn_started":
        return openWith(open);
      case "worker_question":
        // Nobody has answered it: a start would be newer.
        if (record.payload.about === "interrupted") return openWith(record.payload.tools);
        break;
      case "worker_state_changed":
        if (record.payload.to === "starting") return undefined;
        break;
      case "turn_completed":
        return undefined;
      // These come before a start. If that is missing, days between them and the turn are dropped.
      case "worker_restart_scheduled":
        return isInTurn ? openWith(open) : undefined;
      case "worker_spawn_requested":
        return isInTurn ? openWith(open) : record.payload.spec.placed?.brought?.interrupted;
      default:
    }
  }
  return isInTurn ? openWith(open) : undefined;
};

const openWith = (tools: Iterable<string>): NonNullable<Brought["interrupted"]> => ({
  tools: [...new Set(tools)].sort().slice(0, TOOLS_IN_FLIGHT_MAX),
});
