/** Which times of a schedule run, by its policies. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SCHEDULE_MISSED_MAX, SCHEDULE_RUNNING_MAX } from "../../../src/base/limits.ts";
import { decideAsked, decideDue, nextStart, runKey } from "../../../src/control/schedule/decide.ts";
import { foldSchedule } from "../../../src/protocol/schedule.ts";
import type { SchedulePlan } from "../../../src/protocol/schedule-records.ts";
import { at, folded, ID, line, plan, recorded, schedule, set, told } from "./support.ts";

const look = (
  over: Partial<SchedulePlan>,
  now: string,
  { running = [], since }: { readonly running?: readonly string[]; readonly since?: string } = {},
): readonly string[] => {
  const { cron, zone } = plan(over);
  return told(decideDue(schedule(over, since), line(cron, zone), { wall_ms: at(now), running }));
};

describe("a time that comes", () => {
  it("runs, once", () => {
    expect(look({}, "2026-01-01T02:59:59Z")).toEqual([]);
    expect(look({}, "2026-01-01T03:00:00Z")).toEqual(["due 01-01T03:00"]);
    const drafts = decideDue(schedule(), line("0 3 * * *"), {
      wall_ms: at("2026-01-01T03:00:01Z"),
      running: [],
    });
    const later = folded(schedule(), drafts);
    expect(decideDue(later, line("0 3 * * *"), { wall_ms: at("2026-01-01T03:00:02Z"), running: [] })).toEqual(
      [],
    );
  });

  it("is on time for a minute, and missed after it", () => {
    expect(look({ missed: "skip" }, "2026-01-01T03:01:00Z")).toEqual(["due 01-01T03:00"]);
    expect(look({ missed: "skip" }, "2026-01-01T03:01:01Z")).toEqual([
      "skipped 1 missed 01-01T03:00..01-01T03:00",
    ]);
  });

  it("is missed when the next one has come", () => {
    const every = { cron: "*/10 * * * * *", missed: "skip" } as const;
    expect(look(every, "2026-01-01T00:00:25Z")).toEqual([
      "skipped 1 missed 01-01T00:00..01-01T00:00",
      "due 01-01T00:00",
    ]);
  });

  it("has no run while the schedule is paused", () => {
    const paused = { ...schedule(), paused: true };
    expect(
      decideDue(paused, line("0 3 * * *"), { wall_ms: at("2026-01-05T03:00:00Z"), running: [] }),
    ).toEqual([]);
  });
});

describe("while the run before goes on", () => {
  const now = "2026-01-01T03:00:00Z";
  const running = ["w"];
  it.each([
    ["forbid", ["skipped 1 overlap 01-01T03:00..01-01T03:00"]],
    ["allow", ["due 01-01T03:00"]],
    ["replace", ["due 01-01T03:00"]],
  ] as const)("%s", (overlap, expected) => {
    expect(look({ overlap }, now, { running })).toEqual(expected);
  });

  it("allow has a bound", () => {
    const many = Array.from({ length: SCHEDULE_RUNNING_MAX }, (_, n) => `w${n}`);
    expect(look({ overlap: "allow" }, now, { running: many })).toEqual([
      "skipped 1 overlap 01-01T03:00..01-01T03:00",
    ]);
  });
});

describe("after five days without a daemon", () => {
  const now = "2026-01-05T12:00:00Z";
  it.each([
    [{ missed: "skip" }, ["skipped 5 missed 01-01T03:00..01-05T03:00"]],
    [{ missed: "once" }, ["skipped 4 missed 01-01T03:00..01-04T03:00", "missed 01-05T03:00"]],
    [
      { missed: "all" },
      [
        "missed 01-01T03:00",
        "missed 01-02T03:00",
        "missed 01-03T03:00",
        "missed 01-04T03:00",
        "missed 01-05T03:00",
      ],
    ],
    [
      { missed: "all", missed_max: 2 },
      ["skipped 3 missed 01-01T03:00..01-03T03:00", "missed 01-04T03:00", "missed 01-05T03:00"],
    ],
    [{ missed: "once", starting_deadline_ms: 3_600_000 }, ["skipped 5 late 01-01T03:00..01-05T03:00"]],
    [
      { missed: "all", starting_deadline_ms: 2 * 86_400_000 },
      ["skipped 3 late 01-01T03:00..01-03T03:00", "missed 01-04T03:00", "missed 01-05T03:00"],
    ],
    [
      { missed: "skip", starting_deadline_ms: 86_400_000 },
      ["skipped 4 late 01-01T03:00..01-04T03:00", "skipped 1 missed 01-05T03:00..01-05T03:00"],
    ],
  ] satisfies [Partial<SchedulePlan>, string[]][])("%j", (over, expected) => {
    expect(look(over, now)).toEqual(expected);
  });

  it("one that is on time stands for those that were missed", () => {
    expect(look({ missed: "once" }, "2026-01-05T03:00:30Z")).toEqual([
      "skipped 4 missed 01-01T03:00..01-04T03:00",
      "due 01-05T03:00",
    ]);
  });
});

it("looks up few times of a line of every second, however long nobody looked", () => {
  const told = look({ cron: "* * * * * *", missed: "all", missed_max: 3 }, "2036-01-01T00:00:00.500Z");
  expect(told).toHaveLength(5);
  expect(told[0]).toBe("skipped null missed 01-01T00:00..12-31T23:59");
  expect(told.at(-1)).toBe("due 01-01T00:00");
});

describe("the wall clock", () => {
  const decided = {
    ...folded(
      schedule(),
      decideDue(schedule(), line("0 3 * * *"), { wall_ms: at("2026-01-05T03:00:00Z"), running: [] }),
    ),
    waiting: [],
  };
  const later = (now: string) => decideDue(decided, line("0 3 * * *"), { wall_ms: at(now), running: [] });

  it("set back a little: no time comes a second time", () => {
    expect(later("2026-01-05T01:00:00Z")).toEqual([]);
    expect(later("2026-01-05T03:00:30Z")).toEqual([]);
    expect(told(later("2026-01-06T03:00:00Z"))).toEqual(["due 01-06T03:00"]);
  });

  it("set back far: it counts from the new time", () => {
    const drafts = later("2026-01-03T12:00:00Z");
    expect(told(drafts)).toEqual(["schedule_rewound"]);
    const rewound = folded(decided, drafts);
    const next = decideDue(rewound, line("0 3 * * *"), { wall_ms: at("2026-01-04T03:00:00Z"), running: [] });
    expect(told(next)).toEqual(["due 01-04T03:00"]);
  });
});

it("every time is decided about exactly once, however often and whenever somebody looks", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("skip", "once", "all"),
      fc.constantFrom("forbid", "allow"),
      fc.array(fc.integer({ min: 1, max: 40 * 60_000 }), { minLength: 1, maxLength: 30 }),
      fc.boolean(),
      (missed, overlap, steps, busy) => {
        const over = { cron: "*/7 * * * *", missed, overlap } as const;
        const every = line(over.cron);
        let state = schedule(over);
        let now = at("2026-01-01T00:00:00Z");
        let decided = 0;
        for (const step of steps) {
          now += step;
          const running = busy && step % 2 === 0 ? ["w"] : [];
          const drafts = decideDue(state, every, { wall_ms: now, running });
          for (const draft of drafts) {
            if (draft.type === "schedule_due") decided += 1;
            if (draft.type === "schedule_skipped") decided += draft.payload.count ?? Number.NaN;
          }
          state = { ...folded(state, drafts), waiting: [] };
        }
        let all = 0;
        for (
          let next = every.next(at("2026-01-01T00:00:00Z"));
          next !== undefined && next <= now;
          next = every.next(next)
        )
          all += 1;
        expect(decided).toBe(all);
      },
    ),
    { numRuns: 60 },
  );
});

describe("a run that is asked for", () => {
  const asked = { run_id: "r", by: "user" };
  const now = { wall_ms: at("2026-01-01T12:00:00Z"), running: [] };
  it("begins now, also while the schedule is paused, and takes no time away", () => {
    const paused = { ...schedule(), paused: true };
    const draft = decideAsked(paused, asked, now);
    expect(draft).toMatchObject({
      payload: { cause: "asked", run_id: "r", due_at: "2026-01-01T12:00:00.000Z" },
    });
    expect(folded(paused, [draft!]).decided_to).toBe(paused.decided_to);
  });

  it("is refused while another one runs, where they may not overlap", () => {
    expect(decideAsked(schedule(), asked, { ...now, running: ["w"] })).toBeUndefined();
    expect(decideAsked(schedule({ overlap: "allow" }), asked, { ...now, running: ["w"] })).toBeDefined();
  });
});

describe("the next start", () => {
  const two = folded(
    schedule({ missed: "all" }),
    decideDue(schedule({ missed: "all" }), line("0 3 * * *"), {
      wall_ms: at("2026-01-02T12:00:00Z"),
      running: [],
    }),
  );

  it("is the oldest run that waits, when nothing runs", () => {
    expect(nextStart(two, { running: [] })?.run.due_at).toBe("2026-01-01T03:00:00.000Z");
    expect(nextStart(two, { running: ["w"] })).toBeUndefined();
    expect(nextStart(schedule(), { running: [] })).toBeUndefined();
  });

  it("ends what it replaces", () => {
    const replacing = { ...two, plan: plan({ overlap: "replace" }) };
    expect(nextStart(replacing, { running: ["w"] })).toMatchObject({ replaces: ["w"] });
  });

  it("is over once its worker is there, or could not be", () => {
    const [run] = two.waiting;
    const payload = { schedule_id: ID, run_id: run!.run_id, at: "" };
    const stream = "schedule:nightly";
    const started = foldSchedule(
      two,
      recorded({
        type: "schedule_started",
        stream,
        payload: { ...payload, worker_id: "w1", running: ["w0"] },
      }),
    );
    expect(started).toMatchObject({ workers: ["w0", "w1"], runs: 1, last: { worker_id: "w1" } });
    expect(started?.waiting).toHaveLength(1);
    const error = { code: "CWD_NOT_FOUND", message: "gone" };
    const failed = foldSchedule(
      two,
      recorded({ type: "schedule_failed", stream, payload: { ...payload, error } }),
    );
    expect(failed).toMatchObject({ failures: 1, runs: 0, last: { worker_id: null, error } });
  });

  it("has a key of its schedule and its time", () => {
    expect(runKey(ID, "2026-01-01T03:00:00.000Z")).toBe(`schedule:${ID}:2026-01-01T03:00:00.000Z`);
  });

  it("waits in a queue that has a bound", () => {
    const full = {
      ...schedule({ missed: "all", missed_max: 100 }),
      waiting: Array.from({ length: SCHEDULE_MISSED_MAX - 1 }, (_, n) => ({
        run_id: `${n}`,
        due_at: "",
        cause: "missed" as const,
      })),
    };
    const drafts = decideDue(full, line("0 3 * * *"), { wall_ms: at("2026-01-03T12:00:00Z"), running: [] });
    expect(told(drafts)).toEqual(["skipped 2 missed 01-01T03:00..01-02T03:00", "missed 01-03T03:00"]);
  });
});

describe("a schedule that is set again", () => {
  const before = folded(
    schedule(),
    decideDue(schedule(), line("0 3 * * *"), { wall_ms: at("2026-01-02T03:00:00Z"), running: [] }),
  );
  it("counts from its change if its times are others, and from its last time if not", () => {
    expect(foldSchedule(before, set("2026-01-09T00:00:00Z", { overlap: "allow" }))?.decided_to).toBe(
      before.decided_to,
    );
    expect(foldSchedule(before, set("2026-01-09T00:00:00Z", { cron: "0 4 * * *" }))?.decided_to).toBe(
      "2026-01-09T00:00:00.000Z",
    );
  });

  it("is another one under another id", () => {
    const other = foldSchedule(before, set("2026-01-09T00:00:00Z", {}, "other"));
    expect(other).toMatchObject({ schedule_id: "other", waiting: [], runs: 0 });
    const old = recorded({
      type: "schedule_removed",
      stream: "schedule:nightly",
      payload: { schedule_id: ID, by: "user", at: "" },
    });
    expect(foldSchedule(other, old)).toBe(other);
    expect(foldSchedule(before, old)).toBeUndefined();
  });
});
