/** Which runs of a store have living processes, as the markers in the process table say, whoever remembers them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LivingRun, RunId } from "../spawner.ts";
import { listPids } from "./identity.ts";
import { eachEnvironment, markerIn } from "./marker.ts";

/** A run of another store is nobody here. */
export const runOf = (marker: string, storeId: string): RunId | undefined => {
  const run = runIn(marker);
  return run?.store === storeId ? { worker_id: run.worker_id, incarnation: run.incarnation } : undefined;
};

const runIn = (marker: string): (RunId & { readonly store: string }) | undefined => {
  const [store, worker_id, number, ...rest] = marker.split("/");
  const incarnation = Number(number);
  const isWhole = store !== undefined && rest.length === 0 && Number.isSafeInteger(incarnation);
  return isWhole && worker_id !== undefined && worker_id !== ""
    ? { store, worker_id, incarnation }
    : undefined;
};

export const livingRuns = (storeId: string): Promise<readonly LivingRun[]> =>
  livingBy((marker) => runOf(marker, storeId));

/** Finds runs that have a directory here, whatever store their markers name. */
export const livingUnder = async (runsDir: string): Promise<readonly LivingRun[]> =>
  livingBy((marker) => {
    const run = runIn(marker);
    const isHere =
      run !== undefined &&
      /^\w+$/.test(run.worker_id) &&
      existsSync(join(runsDir, run.worker_id, String(run.incarnation)));
    return isHere ? { worker_id: run.worker_id, incarnation: run.incarnation } : undefined;
  });

const livingBy = async (of: (marker: string) => RunId | undefined): Promise<readonly LivingRun[]> => {
  const found = new Map<string, LivingRun & { readonly pids: number[] }>();
  await eachEnvironment(listPids(), (pid, block) => {
    // It is empty for a zombie.
    const marker = typeof block === "string" ? undefined : markerIn(block);
    const run = marker === undefined ? undefined : of(marker);
    if (marker === undefined || run === undefined) return;
    const known = found.get(marker) ?? { ...run, pids: [] };
    found.set(marker, known);
    known.pids.push(pid);
  });
  return [...found.values()];
};
