/** A schedule as it is asked for, by a command, a program or a holdfast.yaml: its bounds hold everywhere. */
import * as z from "zod";
import { isTimeZone, readCron } from "../base/cron.ts";
import {
  CRON_MAX_CHARS,
  DURATION_MAX_MS,
  NAME_MAX_BYTES,
  SCHEDULE_DEADLINE_MIN_MS,
  SCHEDULE_MISSED_DEFAULT,
  SCHEDULE_MISSED_MAX,
  SCHEDULE_NAME_MAX_BYTES,
} from "../base/limits.ts";
import { isTellable, NOT_TELLABLE } from "./redact.ts";
import { MISSED, OVERLAPS } from "./schedule-records.ts";
import { NAME_FORM } from "./spec-fields.ts";
import { WorkerSpec } from "./worker.ts";

export const ScheduleName = z
  .string()
  .max(SCHEDULE_NAME_MAX_BYTES, `may have at most ${SCHEDULE_NAME_MAX_BYTES} characters`)
  .regex(NAME_FORM, "has letters, digits, '.', '_' and '-', and starts with a letter or digit")
  .refine(isTellable, NOT_TELLABLE);

const TimeZone = z
  .string()
  .max(NAME_MAX_BYTES)
  .refine(isTimeZone, "is no time zone of the IANA, such as UTC or Europe/Berlin");

/** A message is the rest of a sentence that begins with the key. */
export const SchedulePlanFields = {
  cron: z.string().max(CRON_MAX_CHARS),
  zone: TimeZone.optional(),
  overlap: z.enum(OVERLAPS).default("forbid"),
  missed: z.enum(MISSED).default("once"),
  missed_max: z.int().min(1).max(SCHEDULE_MISSED_MAX).default(SCHEDULE_MISSED_DEFAULT),
  starting_deadline_ms: z.int().min(SCHEDULE_DEADLINE_MIN_MS).max(DURATION_MAX_MS).optional(),
};

interface AskedTimes {
  readonly cron: string;
  readonly zone?: string | undefined;
}

/** The cron line in its zone; a wrong zone has been told. */
export const cronProblem = ({ cron, zone = "UTC" }: AskedTimes): string | undefined => {
  if (!isTimeZone(zone)) return undefined;
  const read = readCron(cron, zone);
  return read.ok ? undefined : read.problem;
};

export const REPLACES_ALL =
  "is all, and with overlap: replace each missed run would end the one before it; use once";
export const NEVER_ENDS = "is permanent, and a worker of a schedule must end: use transient or temporary";

export const ScheduleSpec = z
  .strictObject({ name: ScheduleName, ...SchedulePlanFields, spec: WorkerSpec })
  .superRefine(({ overlap, missed, spec, ...times }, { addIssue }) => {
    const about = (path: string[], message: string | undefined) =>
      message === undefined ? undefined : addIssue({ code: "custom", path, message });
    about(["cron"], cronProblem(times));
    about(["missed"], overlap === "replace" && missed === "all" ? REPLACES_ALL : undefined);
    about(["spec", "restart"], spec.restart === "permanent" ? NEVER_ENDS : undefined);
    about(["spec", "name"], spec.name === undefined ? undefined : "is given by the schedule to each worker");
  });
export type ScheduleSpec = z.output<typeof ScheduleSpec>;
export type ScheduleSpecInput = z.input<typeof ScheduleSpec>;
