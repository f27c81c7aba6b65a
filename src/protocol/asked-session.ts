/** The session that a worker asks for, and its error if another worker holds it. */
import { HoldfastError } from "./errors.ts";
import { agentOptions } from "./extensions.ts";
import type { WorkerSpec } from "./worker.ts";

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

/** The same for a placed worker of a cluster, by its name, which any node knows. */
export const sessionInUseAt = (session_id: string, holder: string, node: string | null): HoldfastError =>
  new HoldfastError(
    "SESSION_IN_USE",
    `Worker ${holder} of ${node === null ? "the cluster" : `the node ${node}`} already uses session ${session_id}.`,
    {
      suggestion: `Wait for its end, or end it from any node: agent kill ${holder}`,
      details: { holder, session_id, ...(node === null ? {} : { node }) },
    },
  );
