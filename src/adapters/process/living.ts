/** Which runs of a store have living processes, as the markers in the process table say, whoever remembers them. */
import type { LivingRun } from "../spawner.ts";
import { listPids } from "./identity.ts";
import { eachEnvironment, markerIn } from "./marker.ts";

/** Of another store: nobody here. */
const runOf = (marker: string, storeId: string): Omit<LivingRun, "pids"> | undefined => {
  const [store, worker_id, number, ...rest] = marker.split("/");
  const incarnation = Number(number);
  const isOurs = store === storeId && rest.length === 0 && Number.isSafeInteger(incarnation);
  return isOurs && worker_id !== undefined && worker_id !== "" ? { worker_id, incarnation } : undefined;
};

export const livingRuns = async (storeId: string): Promise<readonly LivingRun[]> => {
  const found = new Map<string, LivingRun & { readonly pids: number[] }>();
  await eachEnvironment(listPids(), (pid, block) => {
    // Of a zombie it is empty.
    const marker = typeof block === "string" ? undefined : markerIn(block);
    const run = marker === undefined ? undefined : runOf(marker, storeId);
    if (marker === undefined || run === undefined) return;
    const known = found.get(marker) ?? { ...run, pids: [] };
    found.set(marker, known);
    known.pids.push(pid);
  });
  return [...found.values()];
};
