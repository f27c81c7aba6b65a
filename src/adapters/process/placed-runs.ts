/** Ends what is left of the workers that a cluster placed on this machine, by the markers in the environments of processes. */
import { setTimeout as sleep } from "node:timers/promises";
import { PLACED_SEARCH_WAIT_MS, PLACED_SEARCHES_MAX } from "../../base/limits.ts";
import { identityOf, listPids, readProc, readStat, signalProcess } from "./identity.ts";
import { LAUNCHER_CMDLINE } from "./launcher.ts";
import { eachEnvironment, MARKER, variableIn } from "./marker.ts";
import { PLACED_MARKER, type PlacedRun, parsePlacedMarker } from "./placed-marker.ts";

/** Searches until one finds none. A launcher is spared, because it writes the exit. Rejects if some stay. */
export const endPlaced = async (
  store_id: string,
  node: string,
  which: (run: PlacedRun) => boolean,
): Promise<void> => {
  for (let searches = 1; searches <= PLACED_SEARCHES_MAX; searches += 1) {
    let found = 0;
    await eachEnvironment(listPids(), (pid, block) => {
      if (typeof block === "string" || variableIn(block, MARKER)?.startsWith(`${store_id}/`) !== true) return;
      const run = parsePlacedMarker(variableIn(block, PLACED_MARKER) ?? "");
      if (run === undefined || run.node !== node || !which(run) || isLauncher(pid)) return;
      const start_time = readStat(pid)?.start_time;
      if (start_time === undefined) return;
      found += 1;
      signalProcess(identityOf(pid, start_time), "SIGKILL");
    });
    if (found === 0) return;
    await sleep(PLACED_SEARCH_WAIT_MS);
  }
  throw new Error("Processes of a worker that a cluster placed here stay, although they were killed.");
};

const isLauncher = (pid: number): boolean => {
  const cmdline = readProc(`/proc/${pid}/cmdline`);
  return typeof cmdline !== "string" && cmdline.subarray(0, LAUNCHER_CMDLINE.length).equals(LAUNCHER_CMDLINE);
};
