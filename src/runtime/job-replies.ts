/** The answers about jobs: workers that are never restarted, in the terms of protocol-v1.txt. */
import type { JobState } from "../protocol/jobs.ts";
import type { Usage, WorkerError } from "../protocol/records.ts";
import type { QueuePlace } from "../supervisor/admission/seats.ts";
import type { OutputReply } from "./replies.ts";

/** A worker as a job (protocol-v1.txt, Jobs). */
export interface JobView {
  /** The worker's id. */
  readonly job_id: string;
  readonly state: JobState;
  readonly name: string | null;
  readonly kind: string;
  readonly task: string;
  readonly reason: string;
  readonly submitted_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly error: WorkerError | null;
  readonly usage: Usage;
  readonly labels: Readonly<Record<string, string>>;
  /** Its place in the start queue; absent if it does not wait. */
  readonly queue?: QueuePlace;
}

export interface SubmittedJob extends JobView {
  readonly effect: "created" | "noop";
}

export interface JobsReply {
  readonly jobs: readonly JobView[];
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}

export interface JobResult extends Omit<OutputReply, "id"> {
  readonly job_id: string;
}
