/** Why nothing can be started by name under a supervisor, and the next step. */
import { HoldfastError } from "../../protocol/errors.ts";
import { isBeingEnded, outOfService, type SupervisorState, type TreeState } from "./state.ts";

/** Why a supervisor cannot be restarted by name: it is being ended, or one above it does not run. */
export const restartRefusal = (state: TreeState, supervisor: string): HoldfastError | undefined => {
  const own = state.supervisors.get(supervisor);
  if (own === undefined) return gone(supervisor);
  if (isBeingEnded(own)) return beingEnded(own);
  return startRefusal(state, own.parent);
};

/** Why nothing can be started by name under a supervisor. */
export const startRefusal = (state: TreeState, supervisor: string | null): HoldfastError | undefined => {
  const stopped = outOfService(state, supervisor);
  if (stopped === undefined) return undefined;
  return isBeingEnded(stopped) ? beingEnded(stopped) : notRunning(stopped.path, stopped.phase);
};

const beingEnded = ({ path, operation }: SupervisorState): HoldfastError =>
  operation?.end === "down"
    ? new HoldfastError("INVALID_STATE", `The tree ${path} is being taken down.`, {
        suggestion: "Wait for its end, then bring it up again with `agent up`.",
      })
    : new HoldfastError("INVALID_STATE", `Supervisor ${path} is being killed.`, {
        suggestion: `Wait for its end, then start it with \`agent restart ${path}\`.`,
      });

export const notRunning = (path: string, phase: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `Supervisor ${path} is ${phase}; nothing can be started under it.`, {
    suggestion: `Start it with \`agent restart ${path}\`; \`agent why ${path}\` says why.`,
  });

/** The supervisor was removed while the request was on its way: its tree was taken down, or its file changed. */
const gone = (path: string): HoldfastError =>
  new HoldfastError("WORKER_NOT_FOUND", `There is no supervisor "${path}" any more.`, {
    suggestion: "See the supervisors with `agent tree`.",
  });
