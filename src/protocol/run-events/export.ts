/**
 * Exports our log as the streams of the contract (protocol-v1 notes 2.6, 2.7): one `agent` stream for each worker, one `run`
 * stream for each incarnation, each numbered from 1. Pure: it takes records in the order of the log and returns events. The
 * id of an event comes from its record and its place in the record, so the same log always gives the same events.
 */
import { type LogRecord, workerStream } from "../records.ts";
import { SUBPROCESS } from "../words.ts";
import type { WorkerSpec } from "../worker.ts";
import type { StreamEvent, WorkerEvent } from "./events.ts";
import { RunLife } from "./run-life.ts";
import { type LifeEvent, WorkerLife } from "./worker-life.ts";

/** The verb of Protocol v1 from which every event of a worker comes. */
const COMMAND = "spawn";

interface KnownWorker {
  readonly life: WorkerLife;
  version: number;
  spec: Pick<WorkerSpec, "kind" | "name" | "parent" | "interactive" | "prompt">;
  session?: string;
  /** The kind of the runtime of its newest start. */
  backend_kind?: string;
  run?: { readonly id: string; readonly life: RunLife; version: number };
}

const NOBODY: KnownWorker["spec"] = { kind: "unknown", interactive: false };
/** The prefix is that of the contract, whatever runs the worker: an id never changes. */
const backendId = (id: string): string => `${SUBPROCESS}:${id}`;
/** The run of one incarnation, as its events name it. */
export const runId = (worker_id: string, incarnation: number): string => `run:${worker_id}:${incarnation}`;

export class Exporter {
  private readonly workers = new Map<string, KnownWorker>();

  take(record: LogRecord): readonly StreamEvent[] {
    const { worker_id } = record;
    // Records of the daemon and of a file's tree concern no run and no worker.
    if (worker_id === undefined || record.stream !== workerStream(worker_id)) return [];
    const known = this.workers.get(worker_id) ?? { life: new WorkerLife(), version: 0, spec: NOBODY };
    this.workers.set(worker_id, known);
    if (record.type === "worker_spawn_requested" || record.type === "worker_spec_changed")
      known.spec = specOf(record.payload.spec);
    if (record.type === "worker_spawned") known.backend_kind = record.payload.backend_kind ?? SUBPROCESS;
    if (record.type === "session_started") known.session = record.payload.session_id;
    const isBegun = record.type === "worker_state_changed" && record.payload.to === "starting";
    const events: StreamEvent[] = [];
    const event = (rest: EventBody): void => {
      const id = events.length === 0 ? record.id : `${record.id}:${events.length}`;
      events.push(streamEvent({ ...record, id, worker_id }, rest));
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

  /** A heartbeat of a worker's process, which is newer than all its records. */
  beat(worker_id: string, incarnation: number, at_ms: number): readonly StreamEvent[] {
    const known = this.workers.get(worker_id);
    if (known === undefined) return [];
    const id = `heartbeat:${worker_id}:${incarnation}:${at_ms}`;
    const recorded_at = new Date(at_ms).toISOString();
    const origin = { id, recorded_at, correlation_id: id, causation_id: id, incarnation, worker_id };
    return [
      streamEvent(origin, {
        stream_id: worker_id,
        stream_type: "agent",
        stream_version: ++known.version,
        event_type: "worker_heartbeat",
        payload: workerEvent({ ...origin, seq: id }, id, known, known.life.beat()),
      }),
    ];
  }
}

/** The members of an event that do not come from its record. */
type EventBody = Pick<StreamEvent, "stream_id" | "stream_type" | "stream_version" | "event_type" | "payload">;

const streamEvent = (
  { id, recorded_at, correlation_id, causation_id, worker_id }: EventOrigin & { readonly worker_id: string },
  told: EventBody,
): StreamEvent => ({
  id,
  ...told,
  sequence: told.stream_version,
  occurred_at: recorded_at,
  correlation_id,
  causation_id,
  actor_id: worker_id,
  request_id: correlation_id,
  command: COMMAND,
});

/** A prompt may be a megabyte, so only its beginning is exported. */
const specOf = ({ kind, name, parent, interactive, prompt }: WorkerSpec): KnownWorker["spec"] => ({
  kind,
  interactive,
  ...(name === undefined ? {} : { name }),
  ...(parent === undefined ? {} : { parent }),
  ...(prompt === undefined ? {} : { prompt: prompt.slice(0, 8_192) }),
});

/** The members of an event that come from its record. */
type EventOrigin = Pick<LogRecord, "id" | "recorded_at" | "correlation_id" | "causation_id">;

const workerEvent = (
  record: EventOrigin & Pick<LogRecord, "worker_id" | "incarnation"> & { readonly seq: number | string },
  event_id: string,
  { spec, session, run, backend_kind = SUBPROCESS }: KnownWorker,
  { kind, metadata, ...told }: LifeEvent,
): WorkerEvent => {
  const { recorded_at, correlation_id, causation_id, incarnation, seq } = record;
  const worker_id = record.worker_id as string;
  return {
    event_id,
    event_kind: kind,
    observed_at: recorded_at,
    worker_id: backendId(worker_id),
    backend_kind,
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
