/** Usage, over a real store: by day, kind, model, worker and label, the same after a rebuild and after retention. */
import { describe, expect, it } from "vitest";
import { READ_PAGE_RECORDS, USAGE_ROWS_MAX, USAGE_UNPRICED_NAMED_MAX } from "../../../src/base/limits.ts";
import type { ModelUsage, RecordPayloads } from "../../../src/protocol/records.ts";
import type { Store } from "../../../src/store/upkeep.ts";
import type { UsageBy, UsageQuery, UsageScope } from "../../../src/store/usage-report.ts";
import { clock, draft, newLog, requested, spec, text, V, W } from "./support.ts";

const X = "01JZ000000000000000000000X";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ALL: readonly UsageBy[] = ["day", "kind", "model", "worker", { label: "team" }];

const of = (model: string | null, input_tokens: number, over: Partial<ModelUsage> = {}): ModelUsage => ({
  model,
  input_tokens,
  cached_tokens: 1,
  cache_write_tokens: 2,
  output_tokens: 3,
  reasoning_tokens: 1,
  cost_usd: null,
  ...over,
});
const turn = (
  n: number,
  models: readonly ModelUsage[],
  over: Partial<RecordPayloads["turn_completed"]> = {},
): RecordPayloads["turn_completed"] => ({
  turn: n,
  usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost_usd: null },
  duration_ms: 1_000,
  models,
  tool_calls: 2,
  ...over,
});

/** Two workers of two kinds over two days in UTC, and one that has done nothing. */
const lived = () => {
  let now = Date.parse("2026-03-01T23:30:00Z");
  const log = newLog({ now: () => now });
  log.append([
    requested(W, { kind: "claude_code", name: "fixer", labels: { team: "a" } }),
    requested(V, { kind: "codex", labels: { team: "b" } }),
    requested(X, { kind: "command" }),
  ]);
  log.append([
    draft("turn_completed", turn(1, [of("opus", 10, { cost_usd: 0.5 }), of("haiku", 1, { cost_usd: 0.1 })])),
  ]);
  now += HOUR;
  log.append([
    text("said", V),
    draft("turn_completed", turn(1, [of("gpt-5", 100, { estimated_usd: 0.2 })]), { worker: V }),
    draft("turn_started", { turn: 2 }, { worker: V }),
  ]);
  now += HOUR;
  log.append([draft("turn_completed", turn(2, [of(null, 7)], { duration_ms: null }), { worker: V })]);
  return { log, at: () => now };
};

const only = (workers: readonly string[]) => ({ workers, descendants: false, supervisors: [] });
const rowsOf = async (log: Store, by: UsageBy, query: Partial<UsageQuery> = {}) =>
  (await log.usageAside({ by, ...query })).rows;

describe("usage", () => {
  it("is told by day in UTC, in order", async () => {
    expect(await rowsOf(lived().log, "day")).toMatchObject([
      {
        key: "2026-03-01",
        workers: 1,
        turns: 1,
        tool_calls: 2,
        input_tokens: 11,
        cost_usd: 0.6,
        estimated_usd: null,
      },
      {
        key: "2026-03-02",
        workers: 1,
        turns: 2,
        tool_calls: 4,
        input_tokens: 107,
        cost_usd: null,
        estimated_usd: 0.2,
      },
    ]);
  });

  it("is told by kind, the dearest first, and how long turns took also where no agent tells it", async () => {
    expect(await rowsOf(lived().log, "kind")).toMatchObject([
      { key: "claude_code", duration_ms: 1_000, unpriced: 0, cache_write_tokens: 4, cached_tokens: 2 },
      { key: "codex", duration_ms: 1_000 + HOUR, unpriced: 1, output_tokens: 6, reasoning_tokens: 2 },
    ]);
  });

  it("is told by model; a turn, its calls and its time are those of the first, so that rows add up to the total", async () => {
    const { rows, total, unpriced_models } = await lived().log.usageAside({ by: "model" });
    expect(rows).toMatchObject([
      { key: "opus", turns: 1, tool_calls: 2, cost_usd: 0.5 },
      { key: "gpt-5", turns: 1, cost_usd: null, estimated_usd: 0.2, unpriced: 0 },
      { key: "haiku", turns: 0, tool_calls: 0, input_tokens: 1, cost_usd: 0.1 },
      { key: null, turns: 1, cost_usd: null, estimated_usd: null, unpriced: 1 },
    ]);
    expect(total).toMatchObject({
      workers: 2,
      turns: 3,
      tool_calls: 6,
      cost_usd: 0.6,
      estimated_usd: 0.2,
      unpriced: 1,
    });
    expect(unpriced_models).toEqual([null]);
  });

  it("is told by worker with its name, and by the value of a label, as it is now", async () => {
    const { log } = lived();
    expect(await rowsOf(log, "worker")).toMatchObject([{ key: W, name: "fixer" }, { key: V }]);
    expect((await rowsOf(log, { label: "team" })).map(({ key }) => key)).toEqual(["a", "b"]);
    log.append([
      draft(
        "worker_spec_changed",
        { spec: spec({ kind: "codex", labels: { crew: "c" } }), fields: ["labels"] },
        { worker: V },
      ),
    ]);
    expect((await rowsOf(log, { label: "team" })).map(({ key }) => key)).toEqual(["a", null]);
    expect((await rowsOf(log, { label: "crew" })).map(({ key }) => key)).toEqual([null, "c"]);
  });

  it("is told of some workers, and since a time", async () => {
    const { log, at } = lived();
    expect(await rowsOf(log, "kind", { among: only([V, X]) })).toMatchObject([{ key: "codex", turns: 2 }]);
    expect(await rowsOf(log, "kind", { among: only([]) })).toEqual([]);
    const since = new Date(at() - HOUR).toISOString();
    expect(await rowsOf(log, "kind", { since })).toMatchObject([{ key: "codex", turns: 2 }]);
    const { rows, total } = await log.usageAside({ by: "day", since: new Date(at() + 1).toISOString() });
    expect([rows, total.turns, total.cost_usd]).toEqual([[], 0, null]);
  });

  it("of a record of an early version counts each token once, by what its kind counts where", async () => {
    const { log } = lived();
    const usage = {
      input_tokens: 50,
      cached_tokens: 40,
      output_tokens: 5,
      reasoning_tokens: 1,
      cost_usd: null,
    };
    log.append([draft("turn_completed", { turn: 3, usage, duration_ms: 1 }, { worker: V })]);
    const [, unnamed] = await rowsOf(log, "model", { among: only([V]) });
    expect(unnamed).toMatchObject({ key: null, turns: 2, input_tokens: 17, cached_tokens: 41, unpriced: 2 });
  });
});

describe("past usage stays as it was", () => {
  const told = (log: Store) => Promise.all(ALL.map((by) => log.usageAside({ by })));

  it("when the projections are folded again, here and beside the writer", async () => {
    const { log } = lived();
    const before = await told(log);
    log.rebuild();
    expect(await told(log)).toEqual(before);
    await log.rebuildAside();
    expect(await told(log)).toEqual(before);
    expect(log.check().ok).toBe(true);
  });

  it("when retention has removed the output, and the log is folded again after that", async () => {
    const { log, at } = lived();
    log.append([
      draft(
        "worker_exited",
        {
          exit_code: 0,
          signal: null,
          signal_inferred: false,
          raw_status: 0,
          reason: "exited",
          duration_ms: 1,
          clock,
        },
        { worker: V },
      ),
      draft("worker_ended", { state: "completed", reason: "over" }, { worker: V }),
    ]);
    const before = await told(log);
    const { records } = await log.gc({ before_ms: at() + DAY, archive: false });
    expect(records).toBe(1);
    expect(await told(log)).toEqual(before);
    log.rebuild();
    expect(await told(log)).toEqual(before);
  });
});

describe("the bounds", () => {
  it("of rows hold: the dearest are shown, the rest is counted, and the total has all", async () => {
    const log = newLog();
    log.append([requested()]);
    for (let n = 0; n < USAGE_ROWS_MAX + 5; n += READ_PAGE_RECORDS)
      log.append(
        Array.from({ length: Math.min(READ_PAGE_RECORDS, USAGE_ROWS_MAX + 5 - n) }, (_, at) =>
          draft("turn_completed", turn(n + at, [of(`m${n + at}`, 1, { cost_usd: n + at })])),
        ),
      );
    const { rows, omitted, total } = await log.usageAside({ by: "model" });
    expect([rows.length, omitted, total.turns]).toEqual([USAGE_ROWS_MAX, 5, USAGE_ROWS_MAX + 5]);
    expect(rows[0]?.key).toBe(`m${USAGE_ROWS_MAX + 4}`);
    expect(rows.at(-1)?.key).toBe("m5");
  });

  it("of the models without a price that are named hold", async () => {
    const log = newLog();
    log.append([
      requested(),
      ...Array.from({ length: 40 }, (_, n) => draft("turn_completed", turn(n, [of(`m${n}`, 1)]))),
    ]);
    const { total, unpriced_models } = await log.usageAside({ by: "day" });
    expect([total.unpriced, unpriced_models.length]).toEqual([40, USAGE_UNPRICED_NAMED_MAX]);
  });

  it("of an integer are not met: an agent may tell any count", async () => {
    const log = newLog();
    log.append([requested()]);
    const huge = Number.MAX_SAFE_INTEGER;
    for (let n = 0; n < 3; n++)
      log.append(
        Array.from({ length: 500 }, (_, at) => draft("turn_completed", turn(n * 500 + at, [of("m", huge)]))),
      );
    const { total } = await log.usageAside({ by: "day" });
    expect(total.input_tokens).toBeGreaterThan(9.3e18);
  });
});

describe("those below a worker or a supervisor", () => {
  const ids = (letters: string) => [...letters].map((letter) => `01JZ00000000000000000000${letter}${letter}`);
  const [A, B, C, D, E] = ids("ABCDE") as [string, string, string, string, string];
  const priced = (worker: string, usd: number) =>
    draft("turn_completed", turn(1, [of("m", 1, { cost_usd: usd })], { usage: reported(usd) }), { worker });
  const reported = (cost_usd: number) => ({
    input_tokens: 1,
    output_tokens: 0,
    cached_tokens: 0,
    reasoning_tokens: 0,
    cost_usd,
  });

  /** A has asked for B, and B for C; D stands in a tree and has asked for E. */
  const family = () => {
    let now = 1_000;
    const log = newLog({ now: () => now });
    log.append([requested(A), requested(B, { parent: A }), requested(C, { parent: B })]);
    now = 2_000;
    log.append([requested(D, { supervisor: "crew" }), requested(E, { parent: D })]);
    log.append([A, B, C, D, E].map((worker, at) => priced(worker, 2 ** at)));
    return log;
  };
  const costOf = async (log: Store, among: Partial<UsageScope>) =>
    (
      await log.usageAside({
        by: "day",
        among: { workers: [], supervisors: [], descendants: false, ...among },
      })
    ).total.cost_usd;

  it("are all that were asked for, at any depth, each once, and nobody else", async () => {
    const log = family();
    expect(await costOf(log, { workers: [A] })).toBe(1);
    expect(await costOf(log, { workers: [B], descendants: true })).toBe(2 + 4);
    expect(await costOf(log, { workers: [A, B, C], descendants: true })).toBe(1 + 2 + 4);
    const crew = (since_ms: number) => [{ path: "crew", since: new Date(since_ms).toISOString() }];
    expect(await costOf(log, { supervisors: crew(2_000) })).toBe(8 + 16);
    // They are not those of a tree of the same name that was taken down before it.
    expect(await costOf(log, { supervisors: crew(2_001) })).toBeNull();
    expect(await costOf(log, { workers: [A], supervisors: crew(0) })).toBe(1 + 8 + 16);
  });

  it("are added up for one of them, if they are not too many", () => {
    const log = family();
    expect(log.subtree(A, 3)).toMatchObject({ workers: 3, turns: 3, tool_calls: 6, usage: { cost_usd: 7 } });
    expect(log.subtree(A, 2)).toBeUndefined();
    expect(log.subtree(C, 1)).toMatchObject({ workers: 1, turn_ms: 1_000, usage: { cost_usd: 4 } });
  });
});
