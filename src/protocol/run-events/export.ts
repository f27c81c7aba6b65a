/**
 * Our log as the streams of the contract (protocol-v1 notes 2.6, 2.7): one `agent` stream a worker, one `run` stream an
 * incarnation, each numbered from 1. Pure: records in, in the order of the log, events out. An event has the id of its record, and
 * its place in it, so the same log gives the same events each time.
 */
import { type LogRecord, workerStream } from "../records.ts";
import type { WorkerSpec } from "../worker.ts";
import type { StreamEvent, WorkerEvent } from "./events.ts";
import { RunLife } from "./run-life.ts";
import { type LifeEvent, WorkerLife } from "./worker-life.ts";

/** The verb of Protocol v1 that everything of a worker comes from. */
const COMMAND = "spawn";

interface Known {
  readonly life: WorkerLife;
  version: number;
  spec: Pick<WorkerSpec, "kind" | "name" | "parent" | "interactive" | "prompt">;
  session?: string;
  run?: { readonly id: string; readonly life: RunLife; version: number };
}

const NOBODY: Known["spec"] = { kind: "unknown", interactive: false };
const backendId = (id: string): string => `subprocess:${id}`;
const runId = (worker_id: string, incarnation: number): string => `run:${worker_id}:${incarnation}`;

export class Exporter {
  private readonly workers = new Map<string, Known>();

  take(record: LogRecord): readonly StreamEvent[] {
    const { worker_id } = record;
    // The daemon's records and those of a file's tree are about no run and no worker.
    if (worker_id === undefined || record.stream !== workerStream(worker_id)) return [];
    const known = this.workers.get(worker_id) ?? { life: new WorkerLife(), version: 0, spec: NOBODY };
    this.workers.set(worker_id, known);
    if (record.type === "worker_spawn_requested" || record.type === "worker_spec_changed")
      known.spec = specOf(record.payload.spec);
    if (record.type === "session_started") known.session = record.payload.session_id;
    const isBegun = record.type === "worker_state_changed" && record.payload.to === "starting";
    const events: StreamEvent[] = [];
    const event = (
      rest: Pick<StreamEvent, "stream_id" | "stream_type" | "stream_version" | "event_type" | "payload">,
    ): void => {
      const { id, recorded_at, correlation_id, causation_id } = record;
      events.push({
        id: events.length === 0 ? id : `${id}:${events.length}`,
        ...rest,
        sequence: rest.stream_version,
        occurred_at: recorded_at,
        correlation_id,
        causation_id,
        actor_id: worker_id,
        request_id: correlation_id,
        command: COMMAND,
      });
    };
    if (isBegun) {
      const id = runId(worker_id, record.incarnation ?? 0);
      known.run = { id, life: new RunLife(id), version: 0 };
    }
    for (const told of known.life.take(record)) {
      const id = events.length === 0 ? record.id : `${record.id}:${events.length}`;
      event({
        stream_id: worker_id,
        stream_type: "agent",
        stream_version: ++known.version,
        event_type: told.kind,
        payload: workerEvent(record, id, known, told),
      });
    }
    const { run } = known;
    if (run === undefined) return events;
    for (const { type, payload } of isBegun ? [RunLife.started(known.spec)] : run.life.take(record)) {
      event({
        stream_id: run.id,
        stream_type: "run",
        stream_version: ++run.version,
        event_type: type,
        payload,
      });
      // Nothing follows the end of a run.
      if (type === "run.completed" || type === "run.failed") delete known.run;
    }
    return events;
  }
}

/** A prompt may be a megabyte, and only its beginning is told. */
const specOf = ({ kind, name, parent, interactive, prompt }: WorkerSpec): Known["spec"] => ({
  kind,
  interactive,
  ...(name === undefined ? {} : { name }),
  ...(parent === undefined ? {} : { parent }),
  ...(prompt === undefined ? {} : { prompt: prompt.slice(0, 8_192) }),
});

const workerEvent = (
  record: LogRecord,
  event_id: string,
  { spec, session, run }: Known,
  { kind, metadata, ...told }: LifeEvent,
): WorkerEvent => {
  const { recorded_at, correlation_id, causation_id, incarnation, seq } = record;
  const worker_id = record.worker_id as string;
  return {
    event_id,
    event_kind: kind,
    observed_at: recorded_at,
    worker_id: backendId(worker_id),
    backend_kind: "subprocess",
    agent_id: worker_id,
    ...(run === undefined ? {} : { run_id: run.id }),
    ...(session === undefined ? {} : { session_id: session }),
    ...(spec.parent === undefined
      ? {}
      : { parent_agent_id: spec.parent, parent_worker_id: backendId(spec.parent) }),
    request_id: correlation_id,
    correlation_id,
    causation_id,
    role: spec.kind,
    ...(spec.name === undefined ? {} : { tag: spec.name }),
    ...told,
    metadata: {
      backend_seq: event_id === record.id ? seq : `${seq}${event_id.slice(record.id.length)}`,
      ...(incarnation === undefined ? {} : { incarnation }),
      ...metadata,
    },
  };
};
