/** Commands of schedules. */
import type { FlagDef } from "../base/flag.ts";
import {
  SCHEDULE_DEADLINE_MIN_MS,
  SCHEDULE_MISSED_DEFAULT,
  SCHEDULE_MISSED_MAX,
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
const scheduleName: ArgDef = { name: "NAME", help: "name of the schedule", required: true };

export const SCHEDULE_COMMANDS = inGroup("Jobs", [
  {
    words: ["schedule", "add"],
    request: "schedule/add",
    danger: "mutating",
    exits: [5, 6, 7, 8, 10, 11],
    argv: true,
    summary: "Start a worker at each time of a cron line",
    details:
      "CRON has five fields as in crontab(5): minute, hour, day, month, weekday; or six with the second first; or is @hourly, @daily, @weekly, @monthly or @yearly. After it comes what `agent spawn` takes. Each worker is called by NAME and the time of its run, and has the label schedule=NAME. Starts the daemon if none runs. Schedules may also stand in holdfast.yaml.",
    args: [
      { name: "NAME", help: "name of the schedule", required: true },
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
        help: "when the run before goes on: skip this one, let both run, or end that one first",
        default: "forbid",
      },
      {
        name: "missed",
        type: "enum",
        values: MISSED,
        value: "WHAT",
        help: "for times that passed while no daemon ran: no run, one for all of them, or one each",
        default: "once",
      },
      {
        name: "missed-max",
        type: "int",
        value: "N",
        help: "how many missed runs --missed all makes up for, the newest ones",
        default: String(SCHEDULE_MISSED_DEFAULT),
        min: 1,
        max: SCHEDULE_MISSED_MAX,
      },
      {
        name: "starting-deadline",
        type: "duration",
        value: "1h",
        help: "a run that is later than this is not started",
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
    summary: "Print the next times of a cron line, of no schedule",
    details:
      "A time that does not exist, because the clock goes forward, comes as much later as the clock jumps. A time that exists twice comes once, but a line of every hour runs in both hours.",
    args: [{ name: "CRON", help: "cron line, in quotes", required: true }],
    flags: [
      zone,
      { name: "from", type: "string", value: "TIME", help: "times after this one, RFC 3339", default: "now" },
      {
        name: "limit",
        short: "n",
        type: "int",
        value: "N",
        help: `print so many, up to ${SCHEDULE_NEXT_MAX}`,
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
    summary: "Let the times of a schedule pass without a run",
    details: "Workers that run go on. Times that pass until it is resumed are not made up for.",
    args: [scheduleName],
    flags: [idempotencyKey],
    examples: ["agent schedule pause nightly"],
  },
  {
    words: ["schedule", "resume"],
    request: "schedule/resume",
    danger: "mutating",
    exits: [5, 6, 7],
    summary: "Go on with the next time of a paused schedule",
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
    details: "Also while the schedule is paused. Its policy for overlaps holds.",
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
