/**
 * The session of a worker. Copilot CLI prints its id only in its last line, so we choose one at the start.
 * All incarnations use the same id, because the flag creates a new session or continues an existing one.
 */
import { uuidFor } from "../../../base/uuid.ts";
import { agentOptions } from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { Opening } from "../../adapter.ts";

/** Arguments of the user that name a session. */
const NAMES_SESSION = /^(?:-r|--resume|--session-id|--continue|--connect)(?:=|$)/;

/** The first run of this worker begins a session; a later one goes on in it. */
export const beginsSession = (spec: WorkerSpec): boolean =>
  agentOptions(spec).session === undefined && !spec.argv.some((arg) => NAMES_SESSION.test(arg));

/** The session's id, if it is known before the CLI prints it. */
export const chosenSession = ({ spec, session: known, worker_id }: Opening): string | undefined => {
  const { session } = agentOptions(spec);
  if (known !== undefined) return known;
  if (session !== undefined) return session.by === "id" ? session.id : undefined;
  return !beginsSession(spec) || worker_id === undefined ? undefined : uuidFor(worker_id);
};
