/** The parts that the whole runtime shares: its ports, its clock, the living workers, and the search for a worker. */

import { Clock, Effect, type Scope } from "effect";
import { attempt, attemptAsync } from "../actors/machine/attempt.ts";
import type { Services } from "../actors/ports.ts";
import { canPause } from "../actors/runtimes.ts";
import { Sessions } from "../actors/sessions.ts";
import { makeShared } from "../actors/shared.ts";
import type { AgentAdapter } from "../adapters/adapter.ts";
import type { ClockStamp } from "../protocol/clock-stamp.ts";
import { CONFIGURATION_CHANGED } from "../protocol/configuration-changed.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../protocol/records.ts";
import { DAEMON_STREAM } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { AppendOptions, EventLog } from "../store/event-log.ts";
import type { Upkeep } from "../store/upkeep.ts";
import type { Views, WorkerRow } from "../store/views.ts";
import { type Disk, diskSentence, makeDisk } from "../supervisor/admission/disk.ts";
import { type Ancestor, ancestorsOf, type Limits } from "../supervisor/admission/seats.ts";
import { evolve, LIFECYCLE, monotonicOf, newChild } from "../supervisor/child/evolve.ts";
import type { ChildState } from "../supervisor/child/inputs.ts";
import { type ClockGap, type Gaps, makeGaps } from "../supervisor/clocks/gaps.ts";
import type { Now } from "../supervisor/clocks/now.ts";
import { Authority } from "./authority/authority.ts";
import { Tail } from "./following/tail.ts";
import { Accounts } from "./limits/accounts.ts";
import { Admission } from "./limits/admission.ts";
import { resolveRef } from "./resolve.ts";
import { makeRoster, type Roster } from "./roster.ts";

export interface Kinds {
  readonly all: readonly AgentAdapter[];
  /** The nearest known kind, for a mistyped one. */
  readonly suggest: (kind: string) => string | undefined;
  /** True if their configuration has changed since they were loaded. */
  readonly isOutdated?: (() => boolean) | undefined;
  /** True if a part of their configuration could not be used. */
  readonly isPartial?: boolean;
}

/** The ports of the runtime: those of its actors, and the upkeep of the store. */
export interface RuntimeServices extends Services {
  readonly upkeep: Upkeep;
}

export interface Core {
  readonly services: RuntimeServices;
  readonly roster: Roster;
  readonly admission: Admission;
  readonly gaps: Gaps;
  /** The end of the log, where readers wait. */
  readonly tail: Tail;
  readonly disk: Disk;
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  /** Checks the rights of callers. */
  readonly authority: Authority;
  /** Takes the next place in the start order. */
  place(): number;
  wallMs(): number;
  monoMs(): number;
  now(): Now;
  commit(
    drafts: readonly RecordDraft[],
    options?: AppendOptions,
  ): Effect.Effect<readonly LogRecord[], HoldfastError>;
  /** Finds a worker by its id, a unique prefix of one, or a name. */
  find(ref: string): Effect.Effect<WorkerRow, HoldfastError>;
  /** Sets the test for supervisor paths, so that a supervisor named in place of a worker gets a clear error. */
  nameSupervisors(knows: (path: string) => boolean): void;
  /** The row of a worker that is known to exist. */
  rowOf(id: string): Effect.Effect<WorkerRow, HoldfastError>;
  adapterOf(kind: string): Effect.Effect<AgentAdapter, HoldfastError>;
  /** The worker whose agent makes a request, and its ancestors, nearest first. */
  ancestors(parent: string | undefined): Effect.Effect<readonly Ancestor[], HoldfastError>;
  /** The state of a worker by its records. */
  fold(row: WorkerRow, spec: WorkerSpec): Effect.Effect<ChildState, HoldfastError>;
}

const noWorker = (supervisor: string): HoldfastError =>
  new HoldfastError("WORKER_NOT_FOUND", `"${supervisor}" is a supervisor, not a worker.`, {
    suggestion:
      supervisor === "root"
        ? "See all that is below it: agent tree"
        : `See its state: agent why ${supervisor}; or name one of its workers: agent tree`,
  });

const LEFT_OUT = "A part of config.yaml is ignored: `agent doctor` says what and why.";

export const makeCore = (
  services: RuntimeServices,
  kinds: Kinds,
  limits: Limits,
): Effect.Effect<Core, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { log, views } = services;
    const { wallMs, monoMs, stamp, now } = timeOf(yield* Clock.Clock, services);
    let order = 0;
    const commit: Core["commit"] = (drafts, how) => attemptAsync(() => log.commit(drafts, how));

    const note = noteOf(services, stamp);
    const disk = makeDisk(services.diskFreeBytes ?? (() => undefined), limits.disk_min_bytes, (view) =>
      services.report(diskSentence(view)),
    );
    const admission = new Admission({
      limits,
      disk,
      memAvailableBytes: services.machine.memAvailableBytes,
      note,
    });
    const onGap = (gap: ClockGap): void => {
      for (const worker of roster.live.values()) worker.rebase(gap.at_ms);
      const { kind, gap_ms } = gap;
      const payload = { kind, gap_ms, counted_ms: gap.counted_ms, clock: stamp() };
      note({ type: "daemon_resumed", stream: DAEMON_STREAM, payload });
    };
    const reading = () => ({ mono_ms: monoMs(), uptime_ms: services.machine.uptimeMs() });
    const gaps = makeGaps(reading, onGap);
    const accounts = new Accounts({
      log,
      views,
      live: () => roster.live,
      canPause: ({ spec }) => canPause(services, spec),
      gaps,
      monoMs,
      wallMs,
      stamp,
      report: services.report,
      budgets: services.budgets,
    });
    const sessions = new Sessions(views);
    const left = (id: string): void => {
      sessions.left(id);
      admission.left(id);
      accounts.left(id);
    };
    const shared = yield* makeShared(services, { log, trace: services.trace, now });
    const { rested } = admission;
    const roster: Roster = yield* makeRoster(services, { ...shared, gaps, accounts, sessions, rested }, left);

    const ancestors = (parent: string | undefined) =>
      attempt(() => ancestorsOf(parent, (id) => roster.live.get(id)?.spec ?? views.worker(id)?.spec));
    let supervises = (ref: string): boolean => ref === "root";
    const adapterOf = adaptersOf(services, kinds);
    return {
      services,
      roster,
      admission,
      gaps,
      tail: new Tail(log, monoMs),
      disk,
      accounts,
      sessions,
      authority: new Authority({ services, roster, adapterOf }),
      ancestors,
      place: () => order++,
      wallMs,
      monoMs,
      now,
      commit,
      find: (ref) => found(views, ref, (name) => supervises(name)),
      nameSupervisors: (knows) => {
        supervises = (ref) => ref === "root" || knows(ref);
      },
      rowOf: (id) => attempt(() => views.worker(id) as WorkerRow),
      adapterOf,
      fold: (row, spec) => {
        const instant = { boot_id: services.boot_id, mono_ms: monoMs(), wall_ms: wallMs() };
        return attempt(() => folded(log, row, spec, instant));
      },
    };
  });

/** Records an event of the daemon itself. Nothing waits for the record. */
const noteOf = ({ log, report, defects }: Services, stamp: () => ClockStamp) => {
  const note = (draft: RecordDraft): void =>
    void log.commit([draft]).catch((cause) => report("an event could not be recorded", cause));
  defects.recordTo(({ where, error }) => {
    const payload = { where, error, clock: stamp() };
    note({ type: "daemon_defect", stream: DAEMON_STREAM, payload });
  });
  return note;
};

const timeOf = (clock: Clock.Clock, { boot_id, random, zone }: Services) => {
  const wallMs = () => clock.currentTimeMillisUnsafe();
  const monoMs = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n);
  const stamp = () => ({ boot_id, mono_ns: String(clock.monotonicTimeNanosUnsafe()) });
  const now = (): Now => ({
    mono_ms: monoMs(),
    clock: stamp(),
    random: random(),
    wall: { ms: wallMs(), zone },
  });
  return { wallMs, monoMs, stamp, now };
};

const found = (
  views: Views,
  ref: string,
  supervises: (ref: string) => boolean,
): Effect.Effect<WorkerRow, HoldfastError> =>
  Effect.flatMap(
    attempt(() => resolveRef(views, ref)),
    (row) => {
      if (!(row instanceof HoldfastError)) return Effect.succeed(row);
      return Effect.fail(row.code === "WORKER_NOT_FOUND" && supervises(ref) ? noWorker(ref) : row);
    },
  );

const folded = (
  log: EventLog,
  row: WorkerRow,
  spec: WorkerSpec,
  instant: Parameters<typeof monotonicOf>[1],
): ChildState =>
  log
    .stream(row.id, LIFECYCLE)
    .reduce(
      (child, record) => evolve(child, record, monotonicOf(record, instant, spec.restart_period_ms)),
      newChild(row.id, spec),
    );

const adaptersOf =
  (services: Services, kinds: Kinds): Core["adapterOf"] =>
  (kind) =>
    Effect.suspend(() => {
      const adapter = services.adapterFor(kind);
      return adapter === undefined ? Effect.fail(noKind(kinds, kind)) : Effect.succeed(adapter);
    });

const noKind = (kinds: Kinds, kind: string): HoldfastError => {
  const near = kinds.suggest(kind);
  const names = kinds.all.map((one) => one.kind).join(", ");
  const known = near === undefined ? `Use one of: ${names}.` : `Did you mean "${near}"?`;
  const why =
    kinds.isOutdated?.() === true
      ? CONFIGURATION_CHANGED
      : near === undefined && kinds.isPartial === true
        ? LEFT_OUT
        : "";
  return new HoldfastError("INVALID_AGENT_KIND", `There is no agent kind "${kind}".`, {
    phase: "validation",
    suggestion: `${why} ${known}`.trim(),
  });
};
