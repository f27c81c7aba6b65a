/** The requests of schedules, as zod schemas: their bounds hold over the socket and in the library. */
import * as z from "zod";
import {
  SCHEDULE_NEXT_DEFAULT,
  SCHEDULE_NEXT_MAX,
  SCHEDULES_PAGE_DEFAULT,
  SCHEDULES_PAGE_MAX,
} from "../base/limits.ts";
import { cronProblem, ScheduleName, SchedulePlanFields, ScheduleSpec } from "./schedule-spec.ts";

const keyed = { idempotency_key: z.string().min(1).max(256).optional() };
const named = z.strictObject({ name: ScheduleName });
const changed = z.strictObject({ name: ScheduleName, ...keyed });

export const SCHEDULE_REQUESTS = {
  /** Without a zone, in that of the daemon; the reply names it. */
  "schedule/add": z.strictObject({ schedule: ScheduleSpec, ...keyed }),
  /** In the order of their names; with the cursor of an answer, those after them. */
  "schedule/list": z.strictObject({
    limit: z.int().min(1).max(SCHEDULES_PAGE_MAX).default(SCHEDULES_PAGE_DEFAULT),
    cursor: ScheduleName.optional(),
  }),
  "schedule/show": named,
  /** Its workers go on. */
  "schedule/remove": changed,
  /** Times that pass meanwhile are not made up for. */
  "schedule/pause": changed,
  "schedule/resume": changed,
  /** Starts a worker now, paused or not. */
  "schedule/run": changed,
  /** The next times of a cron line, of no schedule. */
  "schedule/next": z
    .strictObject({
      cron: SchedulePlanFields.cron,
      zone: SchedulePlanFields.zone,
      /** After this time; default: now. */
      from: z.iso.datetime({ offset: true }).optional(),
      limit: z.int().min(1).max(SCHEDULE_NEXT_MAX).default(SCHEDULE_NEXT_DEFAULT),
    })
    .superRefine((asked, { addIssue }) => {
      const message = cronProblem(asked);
      if (message !== undefined) addIssue({ code: "custom", path: ["cron"], message });
    }),
} as const;
