/** `schedules:` of a holdfast.yaml: each is a worker with the times at which it starts. */
import { SCHEDULES_MAX } from "../base/limits.ts";
import { cronProblem, NEVER_ENDS, REPLACES_ALL, ScheduleSpec } from "../protocol/schedule-spec.ts";
import {
  describe,
  type FilePlace,
  type LocatedMap,
  type LocatedValue,
  placeOfKey,
  valueAt,
} from "./located.ts";
import { ScheduleKeys, TEXT_KEYS } from "./schema.ts";
import type { Sources } from "./sources.ts";
import { PROGRAM_WORDS, workerSpec } from "./workers.ts";
import { checkKeys, plainKeys, type Subject } from "./zod-problems.ts";

const SCHEDULE: Subject = {
  what: "a schedule",
  keys: Object.keys(ScheduleKeys.shape),
  elsewhere: {
    children: "that is for a supervisor",
    depends_on: "that is for a worker of the tree",
    placement: "a schedule starts its workers on the machine of its daemon",
  },
  instead: PROGRAM_WORDS,
};

/** Their values stay as written. */
const TEXTS = [...TEXT_KEYS, "cron", "zone"];

export interface FileSchedule {
  /** As changes and mistakes name it. */
  readonly path: string;
  readonly place: FilePlace;
  readonly spec: ScheduleSpec;
}

export const readSchedules = (list: LocatedValue, sources: Sources): readonly FileSchedule[] => {
  const { problems } = sources;
  if (list.type !== "list") {
    problems.add(list.place, `schedules needs a list, not ${describe(list)}`);
    return [];
  }
  if (list.items.length > SCHEDULES_MAX)
    problems.add(list.place, `there are over ${SCHEDULES_MAX} schedules`);
  const seen = new Map<string, number>();
  return list.items.slice(0, SCHEDULES_MAX).flatMap((node) => {
    if (node.type !== "map") {
      problems.add(
        node.place,
        `a schedule needs keys, as in { name: nightly, cron: "0 3 * * *", argv: [backup] }`,
      );
      return [];
    }
    const read = readSchedule(node, sources);
    if (read === undefined) return [];
    const first = seen.get(read.spec.name);
    if (first === undefined) seen.set(read.spec.name, node.place.line);
    else
      problems.add(
        placeOfKey(node, "name", node.place),
        `a schedule in line ${first} is called ${read.spec.name} already`,
      );
    return [read];
  });
};

const readSchedule = (node: LocatedMap, sources: Sources): FileSchedule | undefined => {
  const { problems } = sources;
  const written = valueAt(node, ["name"]);
  const name = written?.type === "scalar" ? written.source : "";
  const path = name === "" ? "" : `schedules/${name}`;
  const { keys, isWhole } = checkKeys(ScheduleKeys, node, plainKeys(node, TEXTS), SCHEDULE, problems, path);
  const report = (key: string, message: string): void =>
    problems.add(valueAt(node, [key])?.place ?? node.place, `${key} ${message}`, path);
  const { cron, zone, overlap, missed, missed_max, starting_deadline: starting_deadline_ms } = keys;
  const wrong = cron === undefined ? undefined : cronProblem({ cron, zone });
  if (wrong !== undefined) report("cron", wrong);
  if (overlap === "replace" && missed === "all") report("missed", REPLACES_ALL);
  const spec = workerSpec(keys, node, path === "" ? "this schedule" : path, sources);
  if (spec?.restart === "permanent") report("restart", NEVER_ENDS);
  if (!isWhole || spec === undefined) return undefined;
  const times = { cron, zone, overlap, missed, missed_max, starting_deadline_ms };
  const read = ScheduleSpec.safeParse({ name, ...times, spec });
  return read.success ? { path, place: node.place, spec: read.data } : undefined;
};
