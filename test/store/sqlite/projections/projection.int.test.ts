import SQLite from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RecordDraft, workerStream } from "../../../../src/protocol/records.ts";
import { openLog } from "../../../../src/store/sqlite/log.ts";
import { dumpProjections } from "../../../../src/store/sqlite/projections/projection.ts";
import { clock, draft, newFile, newLog, requested, spec, text, V, W } from "../support.ts";

const usage = (n: number, cost_usd: number | null = null) => ({
  input_tokens: n,
  output_tokens: 2 * n,
  cached_tokens: 0,
  reasoning_tokens: 1,
  cost_usd,
});
const modelsOf = (n: number, cost_usd: number | null) => [
  { model: "large", ...usage(n, cost_usd), cache_write_tokens: 1 },
  { model: null, ...usage(n), cache_write_tokens: 0, estimated_usd: n / 1_000 },
];
const error = { code: "AGENT_FAILED", message: "it failed" } as const;
const completion = { status: { code: 0, signal: null }, final_text: "42" };
const identity = { pid: 7, start_time: "1", boot_id: "b", pid_ns: "n" };

/** Every record that a projection folds, and some that none does. */
const drafts = (worker: string, incarnation: number): fc.Arbitrary<RecordDraft> => {
  const at = { worker, incarnation };
  return fc.oneof(
    { weight: 6, arbitrary: fc.string().map((words) => text(words, worker)) },
    fc
      .constantFrom("starting" as const, "running" as const, "failed" as const)
      .map((to) => draft("worker_state_changed", { from: "pending", to, reason: "why", clock }, at)),
    fc
      .nat(9)
      .map((pid) =>
        draft(
          "worker_spawned",
          { pid, pgid: pid + 1, agent: identity, launcher: identity, argv: [], clock },
          at,
        ),
      ),
    fc.constant(draft("worker_started", { clock }, at)),
    fc.option(fc.nat(255)).map((exit_code) =>
      draft(
        "worker_exited",
        {
          exit_code,
          signal: exit_code === null ? "SIGKILL" : null,
          signal_inferred: false,
          raw_status: null,
          reason: "exited",
          duration_ms: 1,
          clock,
        },
        at,
      ),
    ),
    fc.constantFrom(
      draft("worker_completed", { completion }, at),
      draft("worker_failed", { error, completion }, at),
      draft("worker_cancelled", { error }, at),
    ),
    fc
      .constantFrom("crashed", "user")
      .map((reason) =>
        draft(
          "worker_restart_scheduled",
          { delay_ms: 0, restarts_in_window: 1, max_restarts: 3, period_ms: 1, reason, clock },
          at,
        ),
      ),
    fc
      .constantFrom("completed" as const, "parked" as const)
      .map((state) => draft("worker_ended", { state, reason: "over" }, at)),
    fc
      .boolean()
      .map((tombstone) =>
        draft(
          "worker_cancel_requested",
          { by: "user", reason: "r", tombstone, grace_ms: 1, signal: "SIGTERM" },
          at,
        ),
      ),
    fc.string().map((session_id) => draft("session_started", { session_id }, at)),
    fc.nat(3).map((turn) => draft("turn_started", { turn }, at)),
    fc
      .tuple(fc.nat(3), fc.nat(1_000), fc.option(fc.double({ min: 0, max: 9, noNaN: true })), fc.nat(2))
      .map(([turn, n, cost, models]) =>
        draft(
          "turn_completed",
          {
            turn,
            usage: usage(n, cost),
            duration_ms: n % 3 === 0 ? null : 1,
            ...(n % 2 && { error }),
            ...(models > 0 && { models: modelsOf(n, cost).slice(0, models), tool_calls: n }),
          },
          at,
        ),
      ),
    fc.dictionary(fc.constantFrom("team", "crew"), fc.string()).map((labels) =>
      draft(
        "worker_spec_changed",
        {
          spec: spec({ kind: labels.team === undefined ? "codex" : "command", labels }),
          fields: ["labels"],
        },
        at,
      ),
    ),
    fc.constant(draft("worker_adopted", { agent: null, clock }, at)),
    fc.constant(requested(worker, { name: "again" })),
  );
};

const history = fc.array(
  fc.array(
    fc
      .tuple(fc.constantFrom(W, V, "never-requested"), fc.integer({ min: 1, max: 3 }))
      .chain(([worker, incarnation]) => drafts(worker, incarnation)),
    { minLength: 1, maxLength: 12 },
  ),
  { maxLength: 12 },
);

const dumpOf = (file: string): string[] => {
  const db = new SQLite(file, { readonly: true });
  try {
    return [...dumpProjections(db)];
  } finally {
    db.close();
  }
};

describe("the projections", () => {
  it("are the same folded record by record, in batches, and from the whole log", () => {
    fc.assert(
      fc.property(history, (batches) => {
        const [batched, single] = [newFile(), newFile()];
        const start = [requested(), requested(V, { name: "v", parent: W })];
        const now = () => 1_000;
        const one = openLog({ file: batched, now });
        // Rows that are asked for one by one are kept; those of a list are read.
        const areFresh = () => {
          expect([W, V].map((id) => one.worker(id))).toEqual(
            one.workers().filter(({ id }) => id !== "never-requested"),
          );
          const turns = dumpOf(batched).filter((row) => row.startsWith("p_turns"));
          for (const id of [W, V])
            expect(one.turns(id, 1_000)).toHaveLength(turns.filter((row) => row.includes(`"${id}"`)).length);
        };
        for (const batch of [start, ...batches]) {
          one.append(batch);
          areFresh();
        }
        expect(one.check().findings).toEqual([]);
        const other = openLog({ file: single, now });
        for (const record of [start, ...batches].flat()) other.append([record]);
        const incremental = dumpOf(batched);
        expect(dumpOf(single)).toEqual(incremental);
        one.rebuild();
        areFresh();
        expect(dumpOf(batched)).toEqual(incremental);
        expect(incremental.filter((row) => row.startsWith("p_workers"))).toHaveLength(
          batches
            .flat()
            .some(
              ({ worker_id, type }) => worker_id === "never-requested" && type === "worker_spawn_requested",
            )
            ? 3
            : 2,
        );
        one.close();
        other.close();
      }),
      { numRuns: 60 },
    );
  });
});

describe("a worker's row", () => {
  let seconds = 0;
  const log = () => newLog({ now: () => Date.UTC(2026, 0, 1, 0, 0, seconds++) });
  const changed = (to: "starting" | "running", incarnation: number) =>
    draft("worker_state_changed", { from: "pending", to, reason: "r", clock }, { incarnation });
  const spawned = draft("worker_spawned", {
    pid: 41,
    pgid: 40,
    agent: identity,
    launcher: identity,
    argv: [],
    clock,
  });
  const exited = draft("worker_exited", {
    exit_code: 3,
    signal: null,
    signal_inferred: false,
    raw_status: 3,
    reason: "exited",
    duration_ms: 1,
    clock,
  });
  const scheduled = (reason: string) =>
    draft("worker_restart_scheduled", {
      delay_ms: 0,
      restarts_in_window: reason === "user" ? 0 : 1,
      max_restarts: 3,
      period_ms: 1,
      reason,
      clock,
    });
  const ended = draft("worker_ended", { state: "failed", reason: "gave_up" });

  it("follows an incarnation from the request to its end", () => {
    const l = log();
    const [request] = l.append([requested(W, { name: "web", supervisor: "crew", parent: V })]);
    expect(l.worker(W)).toEqual({
      id: W,
      name: "web",
      kind: "command",
      state: "pending",
      reason: "spawn_requested",
      spec: spec({ name: "web", supervisor: "crew", parent: V }),
      incarnation: 0,
      restarts: 0,
      pid: null,
      pgid: null,
      backend_kind: "subprocess",
      parent: V,
      supervisor: "crew",
      session_id: null,
      tombstone: false,
      archived: false,
      pruned: false,
      exit_code: null,
      signal: null,
      error: null,
      end_cause: null,
      completion: null,
      turns: 0,
      tool_calls: 0,
      denied: [],
      turn_ms: 0,
      unpriced_turns: 0,
      usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost_usd: null },
      created_at: request!.recorded_at,
      started_at: null,
      ended_at: null,
      last_seq: 1,
      last_event_at: null,
      version: 1,
    });
    l.append([changed("starting", 1), spawned]);
    const [started] = l.append([draft("worker_started", { clock })]);
    const [event] = l.append([text("hello")]);
    l.append([changed("running", 1), draft("session_started", { session_id: "s-1" })]);
    expect(l.worker(W)).toMatchObject({
      state: "running",
      incarnation: 1,
      pid: 41,
      pgid: 40,
      started_at: started!.recorded_at,
      last_event_at: event!.recorded_at,
      session_id: "s-1",
      last_seq: 7,
      version: 7,
    });
    l.append([exited, draft("worker_failed", { error, completion })]);
    expect(l.worker(W)).toMatchObject({ pid: null, exit_code: 3, error, completion, ended_at: null });
    const [end] = l.append([ended]);
    expect(l.worker(W)).toMatchObject({ state: "failed", reason: "gave_up", ended_at: end!.recorded_at });
  });

  it("begins an incarnation clean, and keeps its restarts, session and usage", () => {
    const l = log();
    const turn = draft("turn_completed", { turn: 1, usage: usage(5, 0.25), duration_ms: 1 });
    l.append([
      requested(),
      changed("starting", 1),
      spawned,
      draft("worker_started", { clock }),
      draft("session_started", { session_id: "s-1" }),
      turn,
    ]);
    l.append([exited, draft("worker_failed", { error, completion }), scheduled("crashed"), ended]);
    l.append([changed("starting", 2)]);
    expect(l.worker(W)).toMatchObject({
      state: "starting",
      incarnation: 2,
      restarts: 1,
      session_id: "s-1",
      turns: 1,
      usage: usage(5, 0.25),
      pid: null,
      pgid: null,
      exit_code: null,
      signal: null,
      error: null,
      completion: null,
      started_at: null,
      ended_at: null,
    });
  });

  it("counts the supervisor's restarts and not a person's", () => {
    const l = log();
    l.append([requested(), scheduled("crashed"), scheduled("user"), scheduled("crashed")]);
    expect(l.worker(W)).toMatchObject({ restarts: 2, state: "backing_off", reason: "crashed" });
  });

  it("is tombstoned by a final cancel until a new incarnation begins", () => {
    const l = log();
    const cancel = (tombstone: boolean) =>
      draft("worker_cancel_requested", {
        by: "user",
        reason: "r",
        tombstone,
        grace_ms: 1,
        signal: "SIGTERM",
      });
    l.append([requested(), cancel(false)]);
    expect(l.worker(W)!.tombstone).toBe(false);
    l.append([cancel(true)]);
    expect(l.worker(W)!.tombstone).toBe(true);
    l.append([changed("starting", 2)]);
    expect(l.worker(W)!.tombstone).toBe(false);
  });

  it("sums usage exactly, and knows a cost only where one was told", () => {
    const l = log();
    const turn = (n: number, cost: number | null) =>
      draft("turn_completed", { turn: n, usage: usage(n, cost), duration_ms: null });
    l.append([requested(), turn(1, null)]);
    expect(l.worker(W)!.usage.cost_usd).toBeNull();
    l.append([turn(2, 0.5), turn(3, null), turn(4, 0.25)]);
    expect(l.worker(W)).toMatchObject({ turns: 4, usage: { ...usage(10, 0.75), reasoning_tokens: 4 } });
  });

  it("is changed by an adoption in its last seq and version alone", () => {
    const l = log();
    l.append([requested(), text("a")]);
    const { last_seq, version, ...before } = l.worker(W)!;
    l.append([draft("worker_adopted", { agent: null, clock })]);
    expect(l.worker(W)).toEqual({ ...before, last_seq: last_seq + 1, version: version + 1 });
  });

  it("folds what its own stream says, not what another stream says of it", () => {
    const l = log();
    l.append([requested()]);
    l.append([
      { type: "worker_started", stream: "daemon", worker_id: W, payload: { clock } },
      { ...text("a", V), worker_id: W, stream: workerStream(V) },
    ]);
    expect(l.worker(W)).toMatchObject({ last_seq: 1, started_at: null, last_event_at: null });
  });
});

describe("the turns of a worker", () => {
  it("have their usage and their error, in order", () => {
    const l = newLog({ now: () => 0 });
    const at = new Date(0).toISOString();
    l.append([
      draft("turn_started", { turn: 1 }),
      draft("turn_completed", { turn: 1, usage: usage(1), duration_ms: 5 }),
      draft("turn_started", { turn: 2 }),
    ]);
    l.append([
      draft("turn_completed", { turn: 1, usage: usage(2), duration_ms: 5, error }, { incarnation: 2 }),
    ]);
    const row = { worker_id: W, started_at: at, models: null, tool_calls: null };
    expect(l.turns(W, 10)).toEqual([
      { ...row, incarnation: 1, turn: 1, ended_at: at, duration_ms: 5, usage: usage(1), error: null },
      { ...row, incarnation: 1, turn: 2, ended_at: null, duration_ms: null, usage: null, error: null },
      { ...row, incarnation: 2, turn: 1, ended_at: at, duration_ms: 5, usage: usage(2), error },
    ]);
    expect(l.turns(V, 10)).toEqual([]);
  });
});
