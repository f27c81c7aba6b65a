/**
 * Finds the runs with living processes from the markers in the process table, even runs that no record
 * mentions.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LivingRun, RunId } from "../spawner.ts";
import { listPids } from "./identity.ts";
import { eachEnvironment, markerIn } from "./marker.ts";

/** The run of a marker; undefined if it belongs to another store. */
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
    // The block of a zombie is empty.
    const marker = typeof block === "string" ? undefined : markerIn(block);
    const run = marker === undefined ? undefined : of(marker);
    if (marker === undefined || run === undefined) return;
    const known = found.get(marker) ?? { ...run, pids: [] };
    found.set(marker, known);
    known.pids.push(pid);
  });
  return [...found.values()];
};
