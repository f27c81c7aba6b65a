/**
 * Schedules over the log. A due time is on record before its worker is spawned, and the worker's key is made from the
 * schedule and that time, so a daemon that dies at any point starts only one worker. One alarm on the monotonic clock
 * checks the wall clock for all schedules. The row is the state, and a boot handles it in the same way as an alarm.
 */
import { Effect, FiberSet, type Scope, Semaphore } from "effect";
import { type Alarm, type Alarms, makeAlarms } from "../../actors/machine/alarms.ts";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { type CronLine, readCron } from "../../base/cron.ts";
import { SCHEDULE_LOOK_MAX_MS, SCHEDULE_REWIND_MIN_MS, SCHEDULE_WAIT_LOOK_MS } from "../../base/limits.ts";
import { decideAsked, decideDue, nextStart, runKey } from "../../control/schedule/decide.ts";
import { heldByFile, noSchedule, stillRunning } from "../../control/schedule/refusals.ts";
import { DAEMON } from "../../protocol/caller.ts";
import { asHoldfastError, type ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { ScheduleChange } from "../../protocol/replies/schedules.ts";
import type { Schedule, WaitingRun } from "../../protocol/schedule.ts";
import { scheduleStream } from "../../protocol/schedule-records.ts";
import type { ScheduleSpec } from "../../protocol/schedule-spec.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { KillOptions, RuntimeApi } from "../api.ts";
import { askerOfAll } from "../authority/asker.ts";
import type { Core } from "../core.ts";
import type { TreeSupervisor } from "../replies.ts";
import type { ScheduleAsker, SchedulesApi } from "../schedules-api.ts";
import { type FileSchedules, ScheduleSetting } from "./schedule-setting.ts";
import { infoOf, lineOf, nextTimesOf, viewOfSchedule, workerNameOf } from "./schedule-views.ts";

type ScheduleWork<A> = Effect.Effect<A, HoldfastError>;

interface RunPorts {
  readonly spawn: RuntimeApi["spawn"];
  readonly kill: (how: KillOptions) => Effect.Effect<unknown, HoldfastError>;
}

/** The part of a schedule that the alarm needs. */
interface TimedSchedule {
  readonly key: string;
  readonly cron: CronLine;
  readonly next_ms: number | undefined;
  readonly decided_ms: number;
  /** True if a run waits for the end of another one or for the store. */
  readonly waits: boolean;
}

/** Errors that pass: the runtime or its store refuses now, and the run is tried again, here or by the next daemon. */
const PASSING: readonly ErrorCode[] = ["UNAVAILABLE", "STORE_FAILED", "DISK_FULL"];

export const makeSchedules = (
  core: Core,
  ports: RunPorts,
): Effect.Effect<Schedules, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { tell } = core.services.defects;
    const alarms = yield* makeAlarms((cause) => tell("the alarm of schedules", cause));
    const fork = yield* FiberSet.makeRuntime<never, void, never>();
    const schedules = new Schedules(core, ports, alarms, (work) => void fork(work));
    yield* schedules.recover;
    return schedules;
  });

export class Schedules implements SchedulesApi {
  private readonly core: Core;
  private readonly ports: RunPorts;
  private readonly alarms: Alarms;
  private readonly fork: (work: Effect.Effect<void>) => void;
  private readonly setting: ScheduleSetting;
  private readonly known = new Map<string, TimedSchedule>();
  /** Schedules that are being checked. A check may take long, because a run may wait for the end of a worker. */
  private readonly looking = new Set<string>();
  private readonly turns = new Map<string, { readonly lock: Semaphore.Semaphore; waiting: number }>();
  /** Allows one schedule at a time to be added. */
  private readonly making = Semaphore.makeUnsafe(1);
  private alarm: Alarm | undefined;

  constructor(core: Core, ports: RunPorts, alarms: Alarms, fork: (work: Effect.Effect<void>) => void) {
    this.core = core;
    this.ports = ports;
    this.alarms = alarms;
    this.fork = fork;
    this.setting = new ScheduleSetting(core);
  }

  /** Checks all schedules at a boot, including times that came while no daemon ran. */
  readonly recover: ScheduleWork<void> = attempt(() => {
    for (const schedule of this.setting.all()) this.know(schedule);
    for (const name of this.known.keys()) this.lookSoon(name);
  });

  readonly add = (schedule: ScheduleSpec, options: ScheduleAsker = {}): ScheduleWork<ScheduleChange> =>
    Effect.gen({ self: this }, function* () {
      const by = yield* this.asked(options, "add a schedule");
      yield* this.making.withPermits(1)(Effect.uninterruptible(this.setting.add(schedule, by)));
      return this.changed(yield* this.one(schedule.name), "created");
    });

  readonly list: SchedulesApi["list"] = ({ limit, cursor = "" }) =>
    attempt(() => {
      const found = this.core.services.views.schedulesAfter(cursor, limit + 1);
      const page = found.slice(0, limit);
      const schedules = page.map((schedule) => this.viewOf(schedule));
      return found.length > limit ? { schedules, cursor: page.at(-1)!.name } : { schedules };
    });

  readonly show: SchedulesApi["show"] = (name) =>
    Effect.map(this.one(name), (schedule) =>
      infoOf(this.viewOf(schedule), schedule, this.cronOf(schedule), this.core.wallMs()),
    );

  readonly remove = (name: string, options: ScheduleAsker = {}): ScheduleWork<ScheduleChange> =>
    Effect.gen({ self: this }, function* () {
      const by = yield* this.asked(options, "remove a schedule");
      const schedule = yield* this.one(name);
      if (schedule.tree !== null) return yield* Effect.fail(heldByFile(name, schedule.tree));
      yield* this.alone(name, Effect.uninterruptible(this.setting.remove([schedule], by)));
      this.forget(name);
      return { ...this.changed(schedule, "deleted"), next_at: null };
    });

  readonly pause: SchedulesApi["pause"] = (name, options = {}) => this.standing(name, true, options);
  readonly resume: SchedulesApi["resume"] = (name, options = {}) => this.standing(name, false, options);

  readonly run: SchedulesApi["run"] = (name, options = {}) =>
    Effect.gen({ self: this }, function* () {
      const by = yield* this.asked(options, "run a schedule");
      const run_id = newId(this.core.wallMs());
      const noted = Effect.ignore(attempt(() => this.knowNow(name)));
      yield* this.alone(name, Effect.ensuring(this.runNow(name, { run_id, by }), noted));
      const { last } = yield* this.one(name);
      if (last?.run_id !== run_id || last.worker_id === null)
        return yield* Effect.fail(
          new HoldfastError(
            (last?.error?.code ?? "UNAVAILABLE") as ErrorCode,
            last?.error?.message ?? `The run of schedule "${name}" could not begin.`,
          ),
        );
      const row = yield* this.core.rowOf(last.worker_id);
      return { name, worker_id: row.id, worker: row.name, effect: "created" as const };
    });

  readonly next: SchedulesApi["next"] = ({ cron, zone = this.core.services.zone, from, limit }) =>
    attempt(() => ({
      cron,
      zone,
      times: nextTimesOf(cron, zone, from === undefined ? this.core.wallMs() : Date.parse(from), limit),
    }));

  /** Checks the schedules of a tree's file. `commit` of the result sets them. */
  ofFile(tree: string, asked: readonly ScheduleSpec[], by: string): ScheduleWork<FileSchedules> {
    return Effect.map(this.setting.ofFile(tree, asked, by), ({ changes, commit }) => {
      const done = Effect.sync(() => {
        for (const name of [...this.known.keys()]) this.knowNow(name);
        for (const { name } of asked) this.knowNow(name);
      });
      return {
        changes,
        commit: this.making.withPermits(1)(Effect.uninterruptible(Effect.andThen(commit, done))),
      };
    });
  }

  /** Adds the schedules to a tree: each tree gets those of its file, and the root those that commands added. */
  readonly inTree = (root: TreeSupervisor): TreeSupervisor => {
    const all = this.setting.all().map((schedule) => this.viewOf(schedule));
    const withThose = (node: TreeSupervisor, tree: string | null): TreeSupervisor => {
      const schedules = all.filter((schedule) => schedule.tree === tree);
      return schedules.length === 0 ? node : { ...node, schedules: schedules.map(lineOf) };
    };
    const children = root.children.map((node) =>
      node.type === "supervisor" ? withThose(node, node.name ?? node.id) : node,
    );
    return withThose({ ...root, children }, null);
  };

  private asked(options: ScheduleAsker, what: string): ScheduleWork<string> {
    return askerOfAll(this.core.authority, options, what);
  }

  private one(name: string): ScheduleWork<Schedule> {
    return attempt(() => {
      const found = this.core.services.views.schedule(name);
      if (found === undefined) throw noSchedule(name, [...this.known.keys()]);
      return found;
    });
  }

  private standing(name: string, paused: boolean, options: ScheduleAsker): ScheduleWork<ScheduleChange> {
    const change = (by: string) =>
      Effect.gen({ self: this }, function* () {
        const schedule = yield* this.one(name);
        if (schedule.paused === paused) return this.changed(schedule, "noop");
        const { schedule_id } = schedule;
        const payload = { schedule_id, by, at: this.iso() };
        const type = paused ? ("schedule_paused" as const) : ("schedule_resumed" as const);
        yield* this.core.commit([
          { type, stream: scheduleStream(name), correlation_id: schedule_id, payload },
        ]);
        return this.changed(yield* this.one(name), "updated");
      });
    return Effect.flatMap(this.asked(options, `${paused ? "pause" : "resume"} a schedule`), (by) =>
      this.alone(name, Effect.uninterruptible(change(by))),
    );
  }

  private runNow(name: string, asked: { readonly run_id: string; readonly by: string }): ScheduleWork<void> {
    return Effect.gen({ self: this }, function* () {
      const schedule = yield* this.one(name);
      const now = this.nowFor(schedule);
      const draft = decideAsked(schedule, asked, now);
      if (draft === undefined) return yield* Effect.fail(stillRunning(name, now.running));
      yield* this.core.commit([draft]);
      yield* this.startAll(name);
    });
  }

  private iso(): string {
    return new Date(this.core.wallMs()).toISOString();
  }

  private nowFor(schedule: Schedule) {
    return { wall_ms: this.core.wallMs(), running: this.runningOf(schedule) };
  }

  private runningOf({ workers }: Schedule): readonly string[] {
    const { views } = this.core.services;
    return workers.filter((id) => {
      const row = views.worker(id);
      return row !== undefined && !isEnded(row.state);
    });
  }

  private viewOf(schedule: Schedule) {
    const { views } = this.core.services;
    const cron = this.cronOf(schedule);
    return viewOfSchedule(schedule, {
      next_ms: this.nextOf(schedule, cron),
      running: this.runningOf(schedule),
      last: schedule.last?.worker_id == null ? undefined : views.worker(schedule.last.worker_id),
    });
  }

  private changed(schedule: Schedule, effect: ScheduleChange["effect"]): ScheduleChange {
    const { name, schedule_id, plan } = schedule;
    const next_at = this.viewOf(schedule).next_at;
    this.know(schedule);
    return { name, schedule_id, zone: plan.zone, next_at, effect };
  }

  // --- times

  private cronOf({ name, plan: { cron, zone } }: Schedule): CronLine {
    const known = this.known.get(name);
    if (known?.key === `${zone} ${cron}`) return known.cron;
    const read = readCron(cron, zone);
    // The line was valid when it was recorded, but a later table of time zones may not know its zone.
    return read.ok ? read.value : { next: () => undefined };
  }

  private nextOf({ name, paused, decided_to }: Schedule, cron: CronLine): number | undefined {
    if (paused) return undefined;
    const decided_ms = Date.parse(decided_to);
    const known = this.known.get(name);
    return known?.cron === cron && known.decided_ms === decided_ms ? known.next_ms : cron.next(decided_ms);
  }

  private know(schedule: Schedule): void {
    const { name, plan, decided_to, waiting } = schedule;
    const cron = this.cronOf(schedule);
    this.known.set(name, {
      key: `${plan.zone} ${plan.cron}`,
      cron,
      next_ms: this.nextOf(schedule, cron),
      decided_ms: schedule.paused ? 0 : Date.parse(decided_to),
      waits: waiting.length > 0,
    });
    this.arm();
  }

  private knowNow(name: string): void {
    const schedule = this.core.services.views.schedule(name);
    if (schedule === undefined) this.forget(name);
    else this.know(schedule);
  }

  private forget(name: string): void {
    this.known.delete(name);
    this.arm();
  }

  private arm(): void {
    this.alarm?.disarm();
    this.alarm = undefined;
    if (this.known.size === 0) return;
    const now = this.core.wallMs();
    let wait = SCHEDULE_LOOK_MAX_MS;
    for (const [name, { next_ms, waits }] of this.known) {
      if (this.looking.has(name)) continue;
      if (waits) wait = Math.min(wait, SCHEDULE_WAIT_LOOK_MS);
      if (next_ms !== undefined) wait = Math.min(wait, Math.max(1, next_ms - now));
    }
    this.alarm = this.alarms.after(wait, () => this.ring());
  }

  private ring(): void {
    const now = this.core.wallMs();
    for (const [name, { next_ms, decided_ms, waits }] of this.known) {
      const isDue = next_ms !== undefined && next_ms <= now;
      if (waits || isDue || decided_ms - now > SCHEDULE_REWIND_MIN_MS) this.lookSoon(name);
    }
    this.arm();
  }

  private lookSoon(name: string): void {
    if (this.looking.has(name)) return;
    this.looking.add(name);
    this.fork(
      Effect.ensuring(
        this.look(name),
        Effect.sync(() => {
          this.looking.delete(name);
          this.arm();
        }),
      ),
    );
  }

  /** Checks one schedule. If it fails, as when the store refuses, it is tried again. */
  private look(name: string): Effect.Effect<void> {
    const looked = Effect.andThen(
      this.alone(name, this.goOn(name)),
      attempt(() => this.knowNow(name)),
    );
    return Effect.catch(looked, (error) =>
      Effect.sync(() => {
        const known = this.known.get(name);
        if (known === undefined) return;
        if (!known.waits) this.core.services.report(`schedule ${name} has to wait`, error);
        this.known.set(name, { ...known, waits: true });
      }),
    );
  }

  /** One at a time for each schedule. Work that waits for the end of a worker may be interrupted: its run is on record. */
  private alone<A>(name: string, work: ScheduleWork<A>): ScheduleWork<A> {
    return Effect.suspend(() => {
      const turn = this.turns.get(name) ?? { lock: Semaphore.makeUnsafe(1), waiting: 0 };
      this.turns.set(name, turn);
      turn.waiting += 1;
      const left = Effect.sync(() => {
        turn.waiting -= 1;
        if (turn.waiting === 0) this.turns.delete(name);
      });
      return Effect.ensuring(turn.lock.withPermits(1)(work), left);
    });
  }

  // --- runs

  /** Decides about due times, and starts the runs that may begin. */
  private goOn(name: string): ScheduleWork<void> {
    return Effect.gen({ self: this }, function* () {
      const drafts = yield* attempt(() => {
        const schedule = this.core.services.views.schedule(name);
        return schedule === undefined
          ? []
          : decideDue(schedule, this.cronOf(schedule), this.nowFor(schedule));
      });
      if (drafts.length > 0) yield* this.core.commit(drafts);
      yield* this.startAll(name);
    });
  }

  private startAll(name: string): ScheduleWork<void> {
    const { views } = this.core.services;
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        const schedule = yield* attempt(() => views.schedule(name));
        const start = schedule && nextStart(schedule, this.nowFor(schedule));
        if (schedule === undefined || start === undefined) return;
        const { run, replaces } = start;
        if (replaces.length > 0) {
          const reason = `the next run of schedule ${name} replaces it`;
          yield* this.ports.kill({ ids: replaces, by: "daemon", reason });
        }
        yield* Effect.uninterruptible(this.begin(schedule, run));
      }
    });
  }

  /** Starts a run. The key of the run allows only one worker, whoever spawns it. */
  private begin(schedule: Schedule, run: WaitingRun): ScheduleWork<void> {
    const { schedule_id, name } = schedule;
    const about = { stream: scheduleStream(name), correlation_id: schedule_id };
    const { run_id } = run;
    return Effect.gen({ self: this }, function* () {
      crashPoint("schedule-due");
      const spawned = yield* Effect.result(this.workerOf(schedule, run));
      if (spawned._tag === "Failure" && PASSING.includes(spawned.failure.code))
        return yield* Effect.fail(spawned.failure);
      crashPoint("schedule-spawned");
      const payload = { schedule_id, run_id, at: this.iso() };
      const draft: RecordDraft =
        spawned._tag === "Success"
          ? {
              ...about,
              type: "schedule_started",
              payload: { ...payload, worker_id: spawned.success, running: this.runningOf(schedule) },
            }
          : { ...about, type: "schedule_failed", payload: { ...payload, error: toldOf(spawned.failure) } };
      yield* this.core.commit([draft]);
    });
  }

  private workerOf(schedule: Schedule, run: WaitingRun): ScheduleWork<string> {
    const { services } = this.core;
    const key = runKey(schedule.schedule_id, run.run_id);
    return Effect.gen({ self: this }, function* () {
      const earlier = yield* attempt(() => services.log.byId(`spawn:${key}`));
      if (earlier?.worker_id !== undefined) return earlier.worker_id;
      const spec = yield* attemptAsync(() => services.files.load(schedule.schedule_id));
      const name = workerNameOf(schedule.name, run);
      const { id } = yield* this.ports.spawn({ ...spec, name }, { idempotency_key: key, by: DAEMON });
      return id;
    });
  }
}

const toldOf = (failure: HoldfastError) => {
  const { code, message } = asHoldfastError(failure);
  return { code, message };
};
