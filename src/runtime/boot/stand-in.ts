/**
 * Replaces an adapter that is no longer loaded (a mistake in config.yaml is enough). A running agent is watched to its end,
 * counted and stopped like any other. Its output stays unread in its spools, and it is never started.
 */

import type { AgentAdapter } from "../../adapters/adapter.ts";
import { voiceOf } from "../../adapters/decoding/events.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";

export const standIn = (kind: string): AgentAdapter<null> => {
  const message = `Kind ${kind} is not loaded, so the agent's outcome is unknown.`;
  const error = { code: "INVALID_AGENT_KIND", message } as const;
  return {
    kind,
    aliases: [],
    summary: message,
    capabilities: [],
    binary: null,
    credentials: [],
    streams: [],
    default_restart: "temporary",
    validate: () => [message],
    plan: () => {
      throw new HoldfastError(error.code, message);
    },
    decoder_version: 0,
    initial: () => null,
    decode: (state) => ({ state, records: [] }),
    finish: (_, { status }) => ({
      outcome: { status: "failed", completion: { status }, error },
      records: [voiceOf(kind).error(error)],
    }),
  };
};

/** Its progress is unknown, so it is not restarted and no stall clock applies. */
export const unread = (spec: WorkerSpec): WorkerSpec => ({
  ...spec,
  restart: "temporary",
  stall_ms: 0,
  tool_timeout_ms: 0,
});
