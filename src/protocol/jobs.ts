/** A job (protocol-v1.txt, Jobs) is a worker that is never restarted, told in the words of the contract. Pure. */
import { JOB_MESSAGE_MAX_BYTES } from "../base/limits.ts";
import { truncateMessage } from "./bounds.ts";
import type { LogRecord } from "./records.ts";
import type { WorkerStatus } from "./worker.ts";

/** protocol-v1 notes 2.4: the states of a job. */
export const JOB_STATES = ["queued", "running", "ok", "error", "canceled"] as const;
export type JobState = (typeof JOB_STATES)[number];

const STATE_OF: Readonly<Record<WorkerStatus, JobState>> = {
  pending: "queued",
  starting: "running",
  running: "running",
  stopping: "running",
  completed: "ok",
  failed: "error",
  cancelled: "canceled",
};

export const jobStateOf = (status: WorkerStatus): JobState => STATE_OF[status];

export const isJobOver = (state: JobState): boolean => state !== "queued" && state !== "running";

/** `final` marks the last step: its stage is the state in which the job has ended. */
export interface JobStep {
  readonly job_id: string;
  /** The seq of the record that tells it; of the last step, the newest record of the job. */
  readonly seq: number;
  /** When it was recorded: RFC 3339, UTC. */
  readonly at: string;
  readonly stage: "waiting" | "started" | "turn" | "text" | "tool" | "note" | "stopping" | JobState;
  /** 100 at the end of a job that went well. No agent tells how far it is, so other steps have none. */
  readonly pct?: 100;
  /** At most JOB_MESSAGE_MAX_BYTES of UTF-8. */
  readonly message: string;
  readonly final?: true;
}

type StepWords = Pick<JobStep, "stage" | "message"> | undefined;

const ofEvent = (event: Extract<LogRecord, { type: "agent.event" }>["payload"]): StepWords => {
  const message = event.text ?? event.message ?? "";
  switch (event.kind) {
    case "TextOutput":
      return { stage: "text", message };
    case "ToolCall":
      return { stage: "tool", message: message === "" ? (event.channel ?? "a tool") : message };
    case "Status":
    case "Error":
      return message === "" ? undefined : { stage: "note", message };
    default:
      return undefined;
  }
};

const startedOf = ({
  pid,
  backend_kind,
}: {
  readonly pid?: number;
  readonly backend_kind?: string;
}): string => (pid === undefined ? `it runs in ${backend_kind}` : `process ${pid} runs`);

const WAITED = { slot: "a slot", memory: "memory", disk: "room on the disk" } as const;

const toldBy = (record: LogRecord): StepWords => {
  switch (record.type) {
    case "worker_spawn_requested":
      return { stage: "queued", message: "accepted" };
    case "worker_queued":
      return { stage: "queued", message: `waits for ${WAITED[record.payload.waits_for]}` };
    case "worker_spawned":
      return { stage: "started", message: startedOf(record.payload) };
    case "turn_started":
      return { stage: "turn", message: `turn ${record.payload.turn} begins` };
    case "agent.event":
      return ofEvent(record.payload);
    case "approval_requested":
      return { stage: "waiting", message: `asks for a permission: ${record.payload.title}` };
    case "worker_question":
      return { stage: "waiting", message: `asks what becomes of it: ${record.payload.about}` };
    case "worker_paused":
      return { stage: "waiting", message: `paused: ${record.payload.reason}` };
    case "worker_restart_scheduled":
      return { stage: "waiting", message: record.payload.reason };
    case "worker_cancel_requested":
      return { stage: "stopping", message: record.payload.reason };
    default:
      return undefined;
  }
};

/** The step of a job that a record of its worker tells; undefined where it tells none. The end is `lastStep`'s. */
export const stepOf = (record: LogRecord): JobStep | undefined => {
  const told = toldBy(record);
  if (told === undefined || record.worker_id === undefined) return undefined;
  const { seq, worker_id: job_id, recorded_at: at } = record;
  return { job_id, seq, at, stage: told.stage, message: bounded(told.message) };
};

export const lastStep = (
  end: Pick<JobStep, "job_id" | "seq" | "at" | "message"> & { readonly stage: JobState },
): JobStep => ({
  ...end,
  message: bounded(end.message),
  ...(end.stage === "ok" ? { pct: 100 } : {}),
  final: true,
});

const bounded = (text: string): string => truncateMessage(text.trimEnd(), JOB_MESSAGE_MAX_BYTES);
