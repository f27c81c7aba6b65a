/** Commands of schedules. */
import type { FlagDef } from "../base/flag.ts";
import {
  SCHEDULE_DEADLINE_MIN_MS,
  SCHEDULE_MISSED_DEFAULT,
  SCHEDULE_MISSED_MAX,
  SCHEDULE_NAME_MAX_BYTES,
  SCHEDULE_NEXT_DEFAULT,
  SCHEDULE_NEXT_MAX,
  SCHEDULES_PAGE_DEFAULT,
  SCHEDULES_PAGE_MAX,
} from "../base/limits.ts";
import { MISSED, OVERLAPS } from "../protocol/schedule-records.ts";
import { type ArgDef, inGroup } from "./command.ts";
import { idempotencyKey, pageFlags } from "./flags.ts";
import { spawnFlagsBut } from "./spawn-flags.ts";

/** A schedule names its workers, and a command that adds one waits for none of them. */
const SCHEDULE_SPAWN_FLAGS = spawnFlagsBut("name", "dry-run", "watch", "wait", "detach", "verbose").map(
  (flag) => (flag.name === "idempotency-key" ? idempotencyKey : flag),
);
const zone: FlagDef = {
  name: "zone",
  type: "string",
  value: "ZONE",
  help: "time zone of the IANA, such as Europe/Berlin",
  default: "the zone of the daemon",
};
const scheduleName: ArgDef = {
  name: "NAME",
  help: "name of the schedule",
  required: true,
  nameMaxBytes: SCHEDULE_NAME_MAX_BYTES,
};

export const SCHEDULE_COMMANDS = inGroup("Jobs", [
  {
    words: ["schedule", "add"],
    request: "schedule/add",
    danger: "mutating",
    exits: [5, 6, 7, 8, 10, 11],
    argv: true,
    summary: "Start a worker at the times of a cron line",
    details:
      "CRON has five fields as in crontab(5): minute, hour, day, month, weekday; or six with the second first; or is @hourly, @daily, @weekly, @monthly or @yearly. The arguments and flags of `agent spawn` follow. The name of each worker is NAME and the time of its run, and its label is schedule=NAME. Starts the daemon if none runs. Schedules may also stand in holdfast.yaml.",
    args: [
      { name: "NAME", help: "name of the schedule", required: true, nameMaxBytes: SCHEDULE_NAME_MAX_BYTES },
      { name: "CRON", help: "cron line, in quotes", required: true },
      { name: "KIND", help: "kind of agent", complete: "kind" },
      { name: "PROMPT", help: "the agent's task; - reads stdin" },
    ],
    flags: [
      zone,
      {
        name: "overlap",
        type: "enum",
        values: OVERLAPS,
        value: "WHAT",
        help: "if the previous run still goes on: skip this one, let both run, or end the previous one first",
        default: "forbid",
      },
      {
        name: "missed",
        type: "enum",
        values: MISSED,
        value: "WHAT",
        help: "for times that passed without a daemon: no run, one run for all of them, or one run each",
        default: "once",
      },
      {
        name: "missed-max",
        type: "int",
        value: "N",
        help: "--missed all makes up for this many missed runs, the newest ones",
        default: String(SCHEDULE_MISSED_DEFAULT),
        min: 1,
        max: SCHEDULE_MISSED_MAX,
      },
      {
        name: "starting-deadline",
        type: "duration",
        value: "1h",
        help: "do not start a run that is later than this",
        default: "no bound",
        min: SCHEDULE_DEADLINE_MIN_MS,
      },
      ...SCHEDULE_SPAWN_FLAGS,
    ],
    examples: [
      "agent schedule add nightly '0 3 * * *' --zone Europe/Berlin -- ./nightly.sh",
      "agent schedule add backup '*/15 * * * *' --overlap forbid -- ./backup.sh",
    ],
  },
  {
    words: ["schedule", "list"],
    request: "schedule/list",
    danger: "safe",
    summary: "List the schedules, with the next and the last run of each",
    flags: [...pageFlags(SCHEDULES_PAGE_MAX, SCHEDULES_PAGE_DEFAULT)],
    examples: ["agent schedule list", "agent list --all --label schedule=nightly"],
  },
  {
    words: ["schedule", "show"],
    request: "schedule/show",
    danger: "safe",
    exits: [5],
    summary: "Show one schedule: its next times, its last run, and what it starts",
    args: [scheduleName],
    examples: ["agent schedule show nightly"],
  },
  {
    words: ["schedule", "next"],
    request: "schedule/next",
    danger: "safe",
    summary: "Print the next times of a cron line, without a schedule",
    details:
      "If the clock goes forward over a time, the run comes later by the jump. A time that exists twice comes once, but a line for every hour runs in both hours.",
    args: [{ name: "CRON", help: "cron line, in quotes", required: true }],
    flags: [
      zone,
      { name: "from", type: "string", value: "TIME", help: "times after this one, RFC 3339", default: "now" },
      {
        name: "limit",
        short: "n",
        type: "int",
        value: "N",
        help: `print this many times, up to ${SCHEDULE_NEXT_MAX}`,
        default: String(SCHEDULE_NEXT_DEFAULT),
        min: 1,
        max: SCHEDULE_NEXT_MAX,
      },
    ],
    examples: ["agent schedule next '30 2 * * *' --zone Europe/Berlin --from 2026-03-28T00:00:00Z"],
  },
  {
    words: ["schedule", "pause"],
    request: "schedule/pause",
    danger: "mutating",
    exits: [5, 6, 7],
    summary: "Pause a schedule: its times pass without a run",
    details: "Running workers go on. Times that pass during the pause are not made up for.",
    args: [scheduleName],
    flags: [idempotencyKey],
    examples: ["agent schedule pause nightly"],
  },
  {
    words: ["schedule", "resume"],
    request: "schedule/resume",
    danger: "mutating",
    exits: [5, 6, 7],
    summary: "Resume a paused schedule with its next time",
    args: [scheduleName],
    flags: [idempotencyKey],
    examples: ["agent schedule resume nightly"],
  },
  {
    words: ["schedule", "run"],
    request: "schedule/run",
    danger: "mutating",
    exits: [2, 5, 6, 7, 8, 10, 11],
    summary: "Start a worker of a schedule now, and print its id",
    details: "Works while the schedule is paused, too. The schedule's --overlap applies.",
    args: [scheduleName],
    flags: [idempotencyKey],
    examples: ["agent schedule run nightly"],
  },
  {
    words: ["schedule", "remove"],
    request: "schedule/remove",
    danger: "destructive",
    exits: [5, 6, 7],
    summary: "Remove a schedule; its workers go on",
    args: [scheduleName],
    flags: [idempotencyKey],
    examples: ["agent schedule remove nightly"],
  },
]);
