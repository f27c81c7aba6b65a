/** The session that a worker asks for, and its error if another worker holds it. */
import { HoldfastError } from "../../protocol/errors.ts";
import { agentOptions } from "../../protocol/extensions.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";

/** The session that a spec names in order to continue it. */
export const askedSession = (spec: WorkerSpec): string | undefined => {
  const { session, fork } = agentOptions(spec);
  return session?.by === "id" && !fork ? session.id : undefined;
};

export const sessionInUse = (session_id: string, holder: string): HoldfastError =>
  new HoldfastError("SESSION_IN_USE", `Worker ${holder} already uses session ${session_id}.`, {
    suggestion: `Talk to it with \`agent send ${holder}\`, wait for its end, or branch its session: agent fork ${holder}`,
    details: { holder, session_id },
  });
