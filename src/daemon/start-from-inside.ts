/**
 * An agent does not start the daemon that somebody has stopped: a stop that kills its agents would be undone by one of them (promise
 * R32). A daemon that was killed is another matter: its agents keep running, and the next command of any caller starts the next daemon.
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { lineageOf } from "../adapters/process/origin.ts";
import type { RelatedProcess } from "../adapters/spawner.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { isHolderAlive, readDaemonFile } from "./daemon-file.ts";

/** Fails with POLICY_VIOLATION where this process, or one above it as far as /proc shows, belongs to a run of this state directory. */
export const refuseFromInside = (stateDir: string): void => {
  // A daemon that stops takes its file away at its end; a daemon that was killed leaves it.
  const holder = readDaemonFile(stateDir);
  if (holder !== undefined && !isHolderAlive(holder)) return;
  const runs = join(stateDir, "runs");
  const worker = lineageOf(process.pid, 0)
    ?.map((one) => workerOf(one, runs))
    .find((id) => id !== undefined);
  if (worker === undefined) return;
  throw new HoldfastError(
    "POLICY_VIOLATION",
    `The daemon was stopped, and the next one may not be started from inside the run of worker ${worker}.`,
    { suggestion: "Start it from outside: agent daemon start" },
  );
};

/** By the marker in its environment, or by its output, which goes to the spools of a run. */
const workerOf = ({ marker, spools }: RelatedProcess, runs: string): string | undefined =>
  [marker?.split("/")[1], ...spools.map((dir) => relative(runs, dir).split("/")[0])].find(
    (id) => id !== undefined && /^\w+$/.test(id) && existsSync(join(runs, id)),
  );
