/** Schedules as text for people: as `systemctl list-timers` and `kubectl get cronjob` tell theirs. */
import { commandLine } from "../../base/shell.ts";
import type {
  NextTimes,
  ScheduleChange,
  ScheduleInfo,
  ScheduleLine,
  ScheduleRunReply,
  ScheduleRunView,
  SchedulesReply,
  ScheduleView,
} from "../../protocol/replies/schedules.ts";
import { age, pairs } from "./pairs.ts";
import { oneLine, type Paint, type Tone, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { count, duration } from "./units.ts";

/** In the zone of the schedule: 2026-11-24 03:00:00. */
const timeIn = (zone: string, at: string): string => {
  try {
    return new Intl.DateTimeFormat("sv-SE", {
      timeZone: zone,
      dateStyle: "short",
      timeStyle: "medium",
    }).format(new Date(at));
  } catch {
    return at;
  }
};

const left = (at: string, now: number): string => duration(Math.max(0, Date.parse(at) - now));

const nextOf = ({ paused, next_at, zone }: ScheduleView, now: number): string =>
  paused ? "paused" : next_at === null ? "never" : `${timeIn(zone, next_at)} (in ${left(next_at, now)})`;

const TONES: Readonly<Record<string, Tone>> = { completed: "good", failed: "bad", running: "good" };

const lastOf = (last: ScheduleRunView | null, now: number, paint: Paint): string => {
  if (last === null) return "–";
  const { due_at, worker, worker_id, status, error } = last;
  const how = error === null ? (status ?? "removed") : "could not start";
  const tone = error === null ? (TONES[how] ?? "plain") : "bad";
  return `${age(due_at, now)} ago, ${paint(tone, how)}${worker_id === null ? "" : ` ${oneLine(worker ?? worker_id, 64)}`}`;
};

const listText: TextOf<SchedulesReply> = ({ schedules }, { paint, now, columns }) => {
  if (schedules.length === 0) return "";
  const head = ["NAME", "CRON", "ZONE", "NEXT", "LAST"].map((cell) => paint("dim", cell));
  const rows = schedules.map((schedule) => [
    paint("bold", schedule.name),
    oneLine(schedule.cron, 60),
    schedule.zone,
    paint(schedule.paused ? "warn" : "plain", nextOf(schedule, now)),
    lastOf(schedule.last, now, paint),
  ]);
  return table([head, ...rows], { fit: columns });
};

const MISSED = {
  skip: "skipped",
  once: "one run for all of them",
  all: "a run each",
} as const;

const showText: TextOf<ScheduleInfo> = (schedule, { paint, now }) => {
  const { name, cron, zone, overlap, missed, missed_max, starting_deadline_ms, last, running, next } =
    schedule;
  return pairs(paint, [
    ["name", paint("bold", name)],
    ["cron", `${oneLine(cron, 256)}  ${zone}`],
    ["next", nextOf(schedule, now)],
    [
      "then",
      schedule.paused
        ? null
        : next
            .slice(1)
            .map((at) => timeIn(zone, at))
            .join(", "),
    ],
    ["last", lastOf(last, now, paint)],
    ["error", last?.error ? paint("bad", oneLine(last.error.message, 300)) : null],
    ["running", running.join(", ")],
    ["waiting", schedule.waiting === 0 ? null : count(schedule.waiting, "run")],
    ["overlap", overlap],
    ["missed", `${MISSED[missed]}${missed === "all" ? `, at most ${missed_max}` : ""}`],
    ["deadline", starting_deadline_ms === null ? null : duration(starting_deadline_ms)],
    [
      "runs",
      `${count(schedule.runs, "run")}${schedule.failures === 0 ? "" : `, ${schedule.failures} could not start`}`,
    ],
    [
      "starts",
      `${schedule.kind}${schedule.spec.argv.length > 0 ? ` ${oneLine(commandLine(schedule.spec.argv), 200)}` : ""}`,
    ],
    ["prompt", schedule.spec.prompt === undefined ? null : oneLine(schedule.spec.prompt, 200)],
    [
      "from",
      schedule.tree === null ? `agent schedule add, by ${schedule.by}` : `the file of ${schedule.tree}`,
    ],
  ]);
};

const changeText =
  (done: string): TextOf<ScheduleChange> =>
  ({ name, effect, next_at, zone }, { paint, now }) => {
    const next = next_at === null ? "" : `  next ${timeIn(zone, next_at)} ${zone} (in ${left(next_at, now)})`;
    return `${paint("bold", name)}  ${effect === "noop" ? `${done} before` : done}${paint("dim", next)}`;
  };

/** The id alone: what a script goes on with. */
const runText: TextOf<ScheduleRunReply> = ({ worker_id }) => worker_id;

const nextText: TextOf<NextTimes> = ({ times, zone }, { paint, now }) =>
  times
    .map((at) => {
      const wait = Date.parse(at) > now ? `  in ${left(at, now)}` : "";
      return `${timeIn(zone, at)} ${zone}  ${paint("dim", `${at}${wait}`)}`;
    })
    .join("\n");

/** A line of `agent tree`. */
export const scheduleLine = (
  { name, cron, zone, paused, next_at, running }: ScheduleLine,
  paint: Paint,
  now: number,
): string => {
  const next = paused ? "paused" : next_at === null ? "no time comes" : `next in ${left(next_at, now)}`;
  const busy = running === 0 ? "" : `  ${count(running, "worker")}`;
  return `${paint("bold", name)}  ${paint("dim", "schedule")}  ${oneLine(cron, 60)} ${zone}  ${paint(paused ? "warn" : "dim", next)}${busy}`;
};

/** By command. */
export const SCHEDULE_TEXTS = {
  "schedule/add": changeText("added"),
  "schedule/list": listText,
  "schedule/show": showText,
  "schedule/remove": changeText("removed"),
  "schedule/pause": changeText("paused"),
  "schedule/resume": changeText("resumed"),
  "schedule/run": runText,
  "schedule/next": nextText,
};
