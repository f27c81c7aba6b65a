/**
 * Refuses a log that is missing, empty, or older than agents that run: nobody would stop them or read their output.
 * Possible causes are a power loss, a mistake, and an older copy that was put back (docs/decisions/0023).
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { livingUnder } from "../../adapters/process/living.ts";
import type { LivingRun } from "../../adapters/spawner.ts";
import { LOST_RUNS_NAMED_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";

/** The runs that no record of the log mentions. */
type UnknownRuns = (file: string, runs: readonly LivingRun[]) => readonly LivingRun[];

/** Fails with STORE_CORRUPT, which names the log and the agents. */
export const refuseLostLog = async (
  file: string,
  runsDir: string,
  unknownRuns: UnknownRuns,
): Promise<void> => {
  if (!existsSync(runsDir) || readdirSync(runsDir).length === 0) return;
  const runs = await livingUnder(runsDir);
  if (runs.length === 0) return;
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  const agents = (count: number) => (count === 1 ? "an agent" : `${count} agents`);
  if ((size ?? 0) === 0) {
    const run = runs.length === 1 ? "runs" : "run";
    const what = `is ${size === undefined ? "missing" : "empty"}, and ${agents(runs.length)} of it ${run}`;
    throw lost(file, what, "Bring the log back from a backup", "begins a new log", runs);
  }
  const unknown = unknownRuns(file, runs);
  if (unknown.length === 0) return;
  const what = `does not know ${agents(unknown.length)} that ${unknown.length === 1 ? "runs" : "run"}`;
  throw lost(
    file,
    what,
    "It is older than they are: bring the newer log back",
    "goes on with this one",
    unknown,
  );
};

const lost = (
  file: string,
  what: string,
  remedy: string,
  next: string,
  runs: readonly LivingRun[],
): HoldfastError => {
  const named = runs
    .slice(0, LOST_RUNS_NAMED_MAX)
    .map(({ worker_id, incarnation, pids }) => `runs/${worker_id}/${incarnation} (pid ${pids.join(", ")})`);
  const more = runs.length > named.length ? ` and ${runs.length - named.length} more` : "";
  return new HoldfastError("STORE_CORRUPT", `The event log ${file} ${what}: ${named.join("; ")}${more}.`, {
    suggestion: `${remedy}; or end them, and the next daemon ${next}: kill -9 ${runs.flatMap(({ pids }) => pids).join(" ")}`,
    details: { runs: runs.map(({ worker_id, incarnation, pids }) => ({ worker_id, incarnation, pids })) },
  });
};
