/** The effects that restart, pause and unpause would have, judged from the daemon's current view of each worker. */

import type { Client } from "../../daemon/client.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { PerWorker } from "../../runtime/api.ts";
import type { WorkerInfo } from "../../runtime/replies.ts";

/** Whether the command would change anything. Throws if it is not possible for the worker. */
export type WouldChange = (worker: WorkerInfo) => boolean;

const isPausedByName = ({ paused }: WorkerInfo): boolean =>
  paused?.some(({ reason }) => reason === "operator") === true;

export const wouldRestart: WouldChange = () => true;
export const wouldUnpause: WouldChange = isPausedByName;
export const wouldPause: WouldChange = (worker) => {
  if (worker.ended_at !== null)
    throw new HoldfastError("INVALID_STATE", `Worker ${worker.id} has ended; there is nothing to pause.`);
  return !isPausedByName(worker);
};

export const dryRun = async (
  client: Client,
  refs: readonly string[],
  would: WouldChange,
): Promise<Outcome<{ readonly results: readonly PerWorker[] }>> => ({
  ok: true,
  value: { results: await Promise.all(refs.map((ref) => one(client, ref, would))) },
});

const one = async (client: Client, ref: string, would: WouldChange): Promise<PerWorker> => {
  const asked = await client.ask("agent/info", { id: ref });
  if (!asked.ok) return (await isSupervisor(client, ref)) ? changed(ref) : refused(ref, asked.error);
  const { id, name, status } = asked.value;
  try {
    return { id, name, ok: true, effect: would(asked.value) ? "would_update" : "noop", status, error: null };
  } catch (cause) {
    return { ...refused(id, cause as HoldfastError), name, status };
  }
};

/** Whether this is the path of a supervisor, which stands for the workers below it. */
const isSupervisor = async (client: Client, path: string): Promise<boolean> => {
  const asked = await client.ask("agent/why", { id: path });
  return asked.ok && asked.value.type === "supervisor";
};

const changed = (path: string): PerWorker => ({
  id: path,
  name: path,
  ok: true,
  effect: "would_update",
  status: null,
  error: null,
});

const refused = (id: string, { code, message, suggestion }: HoldfastError): PerWorker => ({
  id,
  name: null,
  ok: false,
  effect: "noop",
  status: null,
  error: { code, message, suggestion },
});
