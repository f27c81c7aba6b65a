/** The answers about jobs: workers that are never restarted, in the terms of protocol-v1.txt. */
import * as z from "zod";
import { JOB_STATES, type JobStep } from "../jobs.ts";
import { id, type Reply, time } from "./reply.ts";
import type { OutputReply } from "./talk.ts";
import { WorkerView } from "./workers.ts";

/** A worker as a job (protocol-v1.txt, Jobs). */
export const JobView = z.object({
  job_id: id.describe("ULID of its worker"),
  state: z.enum(JOB_STATES),
  submitted_at: time,
  ...WorkerView.pick({
    name: true,
    kind: true,
    task: true,
    reason: true,
    started_at: true,
    ended_at: true,
    exit_code: true,
    signal: true,
    error: true,
    usage: true,
    labels: true,
    queue: true,
  }).shape,
});
export type JobView = Reply<typeof JobView>;

export const SubmittedJob = JobView.extend({ effect: z.enum(["created", "noop"]) });
export type SubmittedJob = Reply<typeof SubmittedJob>;

export interface JobsReply {
  readonly jobs: readonly JobView[];
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}

export interface JobResult extends Omit<OutputReply, "id"> {
  readonly job_id: string;
}

/** One line of `agent jobs tail`, before the envelope. */
export const jobStep: z.ZodType<JobStep> = z.object({
  job_id: id,
  seq: z.int().describe("seq of its record: --from goes on after it"),
  at: time,
  stage: z.enum([...JOB_STATES, "waiting", "started", "turn", "text", "tool", "note", "stopping"]),
  pct: z.literal(100).optional().describe("at the end of a job that went well"),
  message: z.string(),
  final: z.literal(true).optional().describe("the job has ended in this stage"),
});
