/**
 * The session of a worker. Copilot CLI tells it in its last line alone, so a worker has one of its own from the start: the same for all
 * its incarnations, because the flag makes a session that is not there and goes on in one that is.
 */
import { uuidFor } from "../../../base/uuid.ts";
import { agentOptions } from "../../../protocol/extensions.ts";
import type { Opening } from "../../adapter.ts";

/** Arguments of the user's own that name a session. */
const NAMES_SESSION = /^(?:-r|--resume|--session-id|--continue|--connect)(?:=|$)/;

/** Its id, where it is known before the CLI tells it. */
export const chosenSession = ({ spec, session: known, worker_id }: Opening): string | undefined => {
  const { session } = agentOptions(spec);
  if (known !== undefined) return known;
  if (session !== undefined) return session.by === "id" ? session.id : undefined;
  const isNamed = spec.argv.some((arg) => NAMES_SESSION.test(arg));
  return isNamed || worker_id === undefined ? undefined : uuidFor(worker_id);
};
