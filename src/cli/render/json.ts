/** json mode: one record a line for streams, then exactly one ResponseEnvelope (response-envelope.txt). */
import { HoldfastError } from "../../protocol/errors.ts";
import type { Generation } from "../../protocol/generations.ts";
import { toResponseEnvelope } from "../../protocol/response-envelope.ts";
import { brokenRules } from "../../protocol/response-rules.ts";
import type { Renderer } from "./renderer.ts";

/** Protocol v1 data are objects; json mode prints the list itself. */
export const LIST_MEMBER: Readonly<Record<string, string>> = {
  "agent/list": "workers",
  "agent/messages": "messages",
  "agent/inbox": "holds",
  "mailbox/list": "messages",
  "agent/approvals": "approvals",
  "agent/capabilities": "kinds",
  "jobs/list": "jobs",
  "jobs/wait": "jobs",
  "agent/search": "hits",
  "bb/list": "items",
  "bb/search": "items",
  "schedule/list": "schedules",
  "token/list": "tokens",
  "peer/list": "peers",
  "cas/list": "artifacts",
  "skill/list": "skills",
};

export interface JsonOptions {
  readonly generation: Generation;
  /** Test mode: throws if an envelope breaks a rule of the contract. */
  readonly validate: boolean;
  /** The answer is that of several hosts. */
  readonly isOverHosts?: boolean;
}

export const jsonRenderer = ({ generation, validate, isOverHosts }: JsonOptions): Renderer => ({
  record: (record) => `${JSON.stringify(record)}\n`,
  end({ command, outcome, exit, duration_ms, request_id, meta }) {
    const member = LIST_MEMBER[command.command] ?? (isOverHosts ? "hosts" : undefined);
    const shown =
      outcome.ok && member !== undefined
        ? { ...outcome, value: (outcome.value as Record<string, unknown>)[member] }
        : outcome;
    const { envelope } = toResponseEnvelope(shown, {
      duration_ms,
      request_id,
      exitCode: exit,
      generation,
      ...(meta && { meta }),
    });
    const text = JSON.stringify(envelope);
    const broken = validate ? brokenRules(JSON.parse(text), exit, generation) : [];
    if (broken.length > 0)
      throw new HoldfastError("INTERNAL", `An envelope breaks the contract: ${broken.join("; ")}. ${text}`);
    return { stdout: `${text}\n`, stderr: "" };
  },
});
