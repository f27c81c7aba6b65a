/** json mode: one record a line where the command streams, then exactly one ResponseEnvelope (response-envelope.txt). */
import { toResponseEnvelope } from "../../protocol/response-envelope.ts";
import type { Renderer } from "./renderer.ts";

/** Protocol v1 data are objects; here a list is the array itself (cli.md, One record). */
const LIST_MEMBER: Readonly<Record<string, string>> = {
  "agent/list": "workers",
  "agent/messages": "messages",
  "agent/capabilities": "kinds",
  "cas/list": "artifacts",
};

/** A list that has more than it shows tells the cursor of the next page. */
const pageOf = (value: unknown): { truncated?: true; cursor?: string } => {
  const { cursor } = value as { cursor?: unknown };
  return typeof cursor === "string" ? { truncated: true, cursor } : {};
};

export const jsonRenderer: Renderer = {
  record: (record) => `${JSON.stringify(record)}\n`,
  end({ command, outcome, exit, duration_ms, request_id }) {
    const member = LIST_MEMBER[command.command];
    const shown =
      outcome.ok && member !== undefined
        ? { ...outcome, value: (outcome.value as Record<string, unknown>)[member] }
        : outcome;
    const meta = outcome.ok && member !== undefined ? pageOf(outcome.value) : {};
    const { envelope } = toResponseEnvelope(shown, { duration_ms, request_id, exitCode: exit, meta });
    return { stdout: `${JSON.stringify(envelope)}\n`, stderr: "" };
  },
};
