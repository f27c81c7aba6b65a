/**
 * An agent must not start a daemon that somebody has stopped, because that would undo a stop that kills its
 * agents (promise R32). After a daemon was killed its agents keep running, and the next command of any caller
 * starts the next daemon.
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { RelatedProcess } from "../adapters/posix.ts";
import { lineageOf } from "../adapters/process/origin.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { isHolderAlive, readDaemonFile } from "./daemon-file.ts";

/**
 * Fails with POLICY_VIOLATION if this process, or an ancestor that /proc shows, belongs to a run of this
 * state directory.
 */
export const refuseFromInside = (stateDir: string): void => {
  // A daemon that stops removes its file; one that was killed leaves it.
  const holder = readDaemonFile(stateDir);
  if (holder !== undefined && !isHolderAlive(holder)) return;
  const runs = join(stateDir, "runs");
  const worker = lineageOf(process.pid, 0)
    ?.map((one) => workerOf(one, runs))
    .find((id) => id !== undefined);
  if (worker === undefined) return;
  throw new HoldfastError(
    "POLICY_VIOLATION",
    `The daemon was stopped, and the next one must not be started from inside the run of worker ${worker}.`,
    { suggestion: "Start it from outside: agent daemon start" },
  );
};

/**
 * The worker of a process: by the marker in its environment, or by its output, which goes to the spools of a
 * run.
 */
const workerOf = ({ marker, spools }: RelatedProcess, runs: string): string | undefined =>
  [marker?.split("/")[1], ...spools.map((dir) => relative(runs, dir).split("/")[0])].find(
    (id) => id !== undefined && /^\w+$/.test(id) && existsSync(join(runs, id)),
  );
