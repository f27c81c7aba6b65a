/** The session that a worker asks for, and what it is told where another worker holds it. */
import { HoldfastError } from "../../protocol/errors.ts";
import { agentOptions } from "../../protocol/extensions.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";

/** The session that a spec asks for by its id, to go on in it. */
export const askedSession = (spec: WorkerSpec): string | undefined => {
  const { session, fork } = agentOptions(spec);
  return session?.by === "id" && !fork ? session.id : undefined;
};

export const sessionInUse = (session_id: string, holder: string): HoldfastError =>
  new HoldfastError("SESSION_IN_USE", `Worker ${holder} goes on in session ${session_id} already.`, {
    suggestion: `Talk to it with \`agent send ${holder}\`, wait for its end, or branch its session: agent fork ${holder}`,
    details: { holder, session_id },
  });
