/** Histories of the simulator as records of a log, a list for each transaction: each seed another fleet under faults, kills, reloads and crashes. */
import { type LogRecord, type RecordDraft, workerStream } from "../../../src/protocol/records.ts";
import type { WorkerSpec } from "../../../src/protocol/worker.ts";
import { unleash } from "../../sim/chaos.ts";
import { Coverage } from "../../sim/coverage.ts";
import { Daemon } from "../../sim/daemon.ts";

export interface History {
  readonly batches: readonly (readonly LogRecord[])[];
  readonly specOf: (workerId: string) => WorkerSpec;
}

export const history = (seed: number, steps: number): History => {
  const daemon = new Daemon(seed, new Coverage());
  const batches: LogRecord[][] = [];
  const versions = new Map<string, number>();
  let seq = 0;
  const stamped = (draft: RecordDraft, wall_ms: number): LogRecord => {
    seq += 1;
    const version = (versions.get(draft.stream) ?? 0) + 1;
    versions.set(draft.stream, version);
    const id = `sim-${seed}-${seq}`;
    const recorded_at = new Date(wall_ms).toISOString();
    return { ...draft, seq, id, version, recorded_at, correlation_id: id, causation_id: id } as LogRecord;
  };
  const { disk } = daemon;
  const commit = disk.commit.bind(disk);
  disk.commit = (drafts, wall_ms) => {
    // The simulator begins with workers that exist: who asked for them is no part of it.
    const asked = drafts.flatMap(({ worker_id, type }, at) => {
      const isKnown = (id: string) =>
        versions.has(workerStream(id)) || drafts.slice(0, at).some((before) => before.worker_id === id);
      return worker_id === undefined || type === "worker_spawn_requested" || isKnown(worker_id)
        ? []
        : [worker_id];
    });
    const first = [...new Set(asked)].map((worker_id): RecordDraft => {
      const payload = { spec: daemon.specOf(worker_id), clock: { boot_id: "sim", mono_ns: "0" } };
      return { type: "worker_spawn_requested", stream: workerStream(worker_id), worker_id, payload };
    });
    batches.push([...first, ...drafts].map((draft) => stamped(draft, wall_ms)));
    return commit(drafts, wall_ms);
  };
  daemon.boot();
  daemon.apply();
  unleash(daemon, new Set());
  for (let step = 0; step < steps; step += 1) if (!daemon.timeline.step()) break;
  return { batches, specOf: daemon.specOf };
};
