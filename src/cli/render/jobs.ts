/** Jobs, as `agent jobs` tells them. */
import type { JobState, JobStep } from "../../protocol/jobs.ts";
import type { JobView } from "../../protocol/replies/jobs.ts";
import { oneLine, type Paint, type Tone, table } from "./terminal.ts";
import { clock, duration } from "./units.ts";

const TONES: Readonly<Record<JobState, Tone>> = {
  queued: "dim",
  running: "plain",
  ok: "good",
  error: "bad",
  canceled: "warn",
};
/** It is the last column: a terminal cuts it at its edge, and a pipe gets it whole. */
const TASK_MAX_CHARS = 16_384;
const STAGE_COLUMNS = 9;

interface JobContext {
  readonly paint: Paint;
  readonly now: number;
  readonly columns?: number | undefined;
}

const stateOf = ({ state, queue }: JobView, paint: Paint): string =>
  paint(TONES[state], queue === undefined ? state : `${state} (${queue.place}, ${queue.waits_for})`);

const tookOf = ({ started_at, ended_at }: JobView, now: number): string =>
  started_at === null
    ? ""
    : duration(Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at)));

const jobsText = (
  { jobs }: { readonly jobs: readonly JobView[] },
  { paint, now, columns }: JobContext,
): string => {
  if (jobs.length === 0) return "";
  const head = ["JOB", "NAME", "STATE", "AGE", "TOOK", "TASK"].map((cell) => paint("dim", cell));
  const rows = jobs.map((job) => [
    job.job_id,
    oneLine(job.name ?? "", 40),
    stateOf(job, paint),
    duration(Math.max(0, now - Date.parse(job.submitted_at))),
    tookOf(job, now),
    oneLine(job.task, TASK_MAX_CHARS),
  ]);
  return table([head, ...rows], { fit: columns });
};

const jobText = (job: JobView, { paint, now }: JobContext): string => {
  const ended = job.error?.message ?? job.reason;
  const rows: readonly (readonly [string, string])[] = [
    ["job", job.job_id],
    ["name", oneLine(job.name ?? "", 80)],
    ["state", stateOf(job, paint)],
    ["task", oneLine(job.task, TASK_MAX_CHARS)],
    ["submitted", job.submitted_at],
    ["took", tookOf(job, now)],
    ["reason", oneLine(ended, TASK_MAX_CHARS)],
  ];
  return table(rows.filter(([, value]) => value !== "").map(([name, value]) => [paint("dim", name), value]));
};

/** A job that was submitted: its id alone, for `ID=$(agent jobs submit …)`. */
const submittedText = ({ job_id }: JobView): string => job_id;

/** One step, as one line. */
export const stepText = ({ at, stage, message }: JobStep, paint: Paint): string => {
  const tone = Object.hasOwn(TONES, stage) ? TONES[stage as JobState] : "name";
  return `${paint("dim", clock(at))}  ${paint(tone, stage.padEnd(STAGE_COLUMNS))} ${oneLine(message, TASK_MAX_CHARS)}`;
};

/** Texts of the commands that answer with jobs. */
export const JOB_TEXTS = {
  "jobs/submit": submittedText,
  "jobs/list": jobsText,
  "jobs/info": jobText,
  "jobs/tail": () => "",
  "jobs/wait": jobsText,
} as const;
