/** Adds, changes and removes schedules: by a command, or all those of a tree's file together. */
import { Effect } from "effect";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import { readCron } from "../../base/cron.ts";
import { SCHEDULES_MAX } from "../../base/limits.ts";
import { neverDue, schedulesFull, scheduleTaken } from "../../control/schedule/refusals.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { TreeChange } from "../../protocol/replies/trees.ts";
import type { Schedule } from "../../protocol/schedule.ts";
import { type SchedulePlan, scheduleStream } from "../../protocol/schedule-records.ts";
import type { ScheduleSpec } from "../../protocol/schedule-spec.ts";
import { changedFields } from "../../supervisor/tree/diff.ts";
import type { Core } from "../core.ts";
import { makeSpecs, type Specs, type StartableSpec } from "../specs.ts";

/** The label by which `agent list` finds the workers of a schedule. */
const LABEL = "schedule";

interface CheckedSchedule {
  readonly name: string;
  readonly plan: SchedulePlan;
  readonly startable: StartableSpec;
}

/** The changes that a file requests, and the effect that makes them. */
export interface FileSchedules {
  readonly changes: readonly TreeChange[];
  readonly commit: Effect.Effect<void, HoldfastError>;
}

export class ScheduleSetting {
  private readonly core: Core;
  private readonly specs: Specs;

  constructor(core: Core) {
    this.core = core;
    this.specs = makeSpecs(core);
  }

  all(): readonly Schedule[] {
    return this.core.services.views.schedulesAfter("", SCHEDULES_MAX);
  }

  /** Records a new schedule. The caller allows one call at a time. */
  add(asked: ScheduleSpec, by: string): Effect.Effect<void, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const wanted = yield* this.checked(asked);
      yield* attempt(() => {
        const all = this.all();
        const taken = all.find(({ name }) => name === asked.name);
        if (taken !== undefined) throw scheduleTaken(taken.name, taken.tree);
        if (all.length >= SCHEDULES_MAX) throw schedulesFull();
      });
      const draft = yield* this.set(undefined, wanted, null, by);
      yield* this.core.commit([draft]);
    });
  }

  /** Their launch specs, which may hold secrets, go with them. */
  remove(
    schedules: readonly Schedule[],
    by: string,
    set: readonly RecordDraft[] = [],
  ): Effect.Effect<void, HoldfastError> {
    const { commit, services } = this.core;
    const removed = schedules.map((schedule) => this.removed(schedule, by));
    return Effect.andThen(
      commit([...removed, ...set]),
      Effect.forEach(
        schedules,
        ({ schedule_id }) => Effect.ignore(attemptAsync(() => services.files.remove(schedule_id))),
        {
          discard: true,
        },
      ),
    );
  }

  private removed({ name, schedule_id }: Schedule, by: string): RecordDraft {
    return {
      type: "schedule_removed",
      stream: scheduleStream(name),
      correlation_id: schedule_id,
      payload: { schedule_id, by, at: new Date(this.core.wallMs()).toISOString() },
    };
  }

  /** The difference between the schedules in a tree's file and the existing ones. Fails with every mistake at once. */
  ofFile(
    tree: string,
    asked: readonly ScheduleSpec[],
    by: string,
  ): Effect.Effect<FileSchedules, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const all = yield* attempt(() => this.all());
      const before = new Map(all.map((one) => [one.name, one]));
      const wanted = yield* this.checkedAll(asked, before, tree);
      const gone = all.filter((one) => one.tree === tree && !asked.some(({ name }) => name === one.name));
      if (all.length - gone.length + wanted.filter(({ name }) => !before.has(name)).length > SCHEDULES_MAX)
        return yield* Effect.fail(schedulesFull());
      const changes: TreeChange[] = [];
      const changed: CheckedSchedule[] = [];
      for (const one of wanted) {
        const fields = yield* this.fieldsOf(before.get(one.name), one);
        changes.push(changeOf(one.name, fields));
        if (fields === undefined || fields.length > 0) changed.push(one);
      }
      changes.push(...gone.map(({ name }) => GONE(name)));
      const commit = Effect.gen({ self: this }, function* () {
        const set: RecordDraft[] = [];
        for (const one of changed) set.push(yield* this.set(before.get(one.name), one, tree, by));
        if (gone.length + set.length > 0) yield* this.remove(gone, by, set);
      });
      return { changes, commit };
    });
  }

  private checkedAll(
    asked: readonly ScheduleSpec[],
    before: ReadonlyMap<string, Schedule>,
    tree: string,
  ): Effect.Effect<readonly CheckedSchedule[], HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const errors: HoldfastError[] = [];
      const problems: string[] = [];
      const wanted: CheckedSchedule[] = [];
      for (const one of asked) {
        const known = before.get(one.name);
        const isTaken = (known !== undefined && known.tree !== tree) || wanted.some(isNamed(one.name));
        const made = yield* Effect.result(
          isTaken ? Effect.fail(scheduleTaken(one.name, known?.tree ?? null)) : this.checked(one),
        );
        if (made._tag === "Success") wanted.push(made.success);
        else {
          errors.push(made.failure);
          problems.push(`${pathOf(one.name)}: ${made.failure.message}`);
        }
      }
      const [first] = errors;
      if (first === undefined) return wanted;
      return yield* Effect.fail(
        new HoldfastError(first.code, problems.join(" "), { ...first.info, problems }),
      );
    });
  }

  /** Checks a schedule. Fails with start errors that are already certain. */
  private checked(asked: ScheduleSpec): Effect.Effect<CheckedSchedule, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { name, spec, zone = this.core.services.zone, starting_deadline_ms = null, ...plan } = asked;
      const read = readCron(plan.cron, zone);
      if (!read.ok || read.value.next(this.core.wallMs()) === undefined)
        return yield* Effect.fail(neverDue(name, plan.cron));
      const labelled = { ...spec, labels: { ...spec.labels, [LABEL]: name }, parent: undefined };
      const checked = yield* this.specs.checked(labelled);
      const startable = yield* this.specs.startable(checked.spec, checked.adapter);
      return { name, plan: { ...plan, zone, starting_deadline_ms }, startable };
    });
  }

  /** The fields that differ; undefined for a new schedule. */
  private fieldsOf(
    before: Schedule | undefined,
    { plan, startable }: CheckedSchedule,
  ): Effect.Effect<readonly string[] | undefined, HoldfastError> {
    if (before === undefined) return Effect.succeed(undefined);
    const keys = Object.keys(plan) as (keyof SchedulePlan)[];
    const times = keys.filter((key) => canonicalJson(plan[key]) !== canonicalJson(before.plan[key]));
    return Effect.match(
      attemptAsync(() => this.core.services.files.load(before.schedule_id)),
      {
        onFailure: () => [...times, "spec"],
        onSuccess: (kept) => [...times, ...changedFields(kept, startable.kept)],
      },
    );
  }

  /** Saves the spec and drafts the record. The spec is saved first, so that every recorded schedule can start workers. */
  private set(
    before: Schedule | undefined,
    { name, plan, startable }: CheckedSchedule,
    tree: string | null,
    by: string,
  ): Effect.Effect<RecordDraft, HoldfastError> {
    const { services, wallMs } = this.core;
    const schedule_id = before?.schedule_id ?? newId(wallMs());
    const at = new Date(wallMs()).toISOString();
    return Effect.as(
      attemptAsync(() => services.files.save(schedule_id, startable.kept)),
      {
        type: "schedule_set",
        stream: scheduleStream(name),
        correlation_id: schedule_id,
        payload: { schedule_id, plan, spec: startable.masked, tree, by, at },
      },
    );
  }
}

const isNamed =
  (name: string) =>
  (one: CheckedSchedule): boolean =>
    one.name === name;

const pathOf = (name: string): string => `schedules/${name}`;

const changeOf = (name: string, fields: readonly string[] | undefined): TreeChange => {
  const path = pathOf(name);
  if (fields === undefined) return { path, action: "create", reason: "it is new in the file" };
  if (fields.length === 0) return { path, action: "unchanged", reason: "" };
  return { path, action: "update", reason: "it has changed", fields };
};

const GONE = (name: string): TreeChange => ({
  path: pathOf(name),
  action: "remove",
  reason: "it is in the file no more",
});
