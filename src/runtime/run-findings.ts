/**
 * Reports and records files in a run directory that the runtime has not put there, each once per daemon
 * (docs/explanation/security.md).
 */
import type { RunFinding } from "../adapters/posix.ts";
import type { RunId } from "../adapters/spawner.ts";
import { RUN_FINDINGS_MAX } from "../base/limits.ts";
import { workerStream } from "../protocol/records.ts";
import type { EventLog } from "../store/event-log.ts";

export interface RunFindings {
  tell(id: RunId, finding: RunFinding): void;
  /** Workers with findings of this daemon in their run directories. */
  readonly workers: ReadonlySet<string>;
}

export const makeRunFindings = (
  log: Pick<EventLog, "commit">,
  report: (message: string, cause?: unknown) => void,
): RunFindings => {
  const told = new Set<string>();
  const workers = new Set<string>();
  const tell: RunFindings["tell"] = ({ worker_id, incarnation }, { file, what, detail }) => {
    const key = `${worker_id}/${incarnation}/${file}/${what}`;
    if (told.has(key) || told.size >= RUN_FINDINGS_MAX) return;
    told.add(key);
    workers.add(worker_id);
    report(`run ${worker_id}.${incarnation} was tampered with: ${file}: ${detail}`);
    log
      .commit([
        {
          type: "worker_run_finding",
          stream: workerStream(worker_id),
          worker_id,
          incarnation,
          payload: { file, what, detail },
        },
      ])
      .catch((cause) => report("a finding in a run directory could not be recorded", cause));
  };
  return { tell, workers };
};
