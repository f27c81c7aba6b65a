import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type PolledRun, Poller, snapshotPeriod } from "../../../src/adapters/process/poll.ts";
import {
  LAUNCHER_LOOK_MS,
  RUN_POLL_LATE_MS,
  RUN_POLL_MS,
  RUN_POLL_QUIET_MS,
  RUN_POLL_QUIET_RUNS,
  RUN_POLL_SLICE_RUNS,
  SNAPSHOT_PERIOD_MAX_MS,
  SNAPSHOT_PERIOD_MS,
  TICK_WAIT_MS,
} from "../../../src/base/limits.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";

const neverThrows = (cause: unknown): never => {
  throw cause;
};

const RUNS = 200;
/** Quiet runs that one poll looks at while nothing happens. */
const QUIET = RUN_POLL_QUIET_RUNS * (RUN_POLL_QUIET_MS / RUN_POLL_MS);

let worked = 0;
const pollerWith = (snapshot: () => Promise<number>, onDefect: (cause: unknown) => unknown = neverThrows) =>
  new Poller(snapshot, onDefect, () => worked);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const makeRuns = (poller: Poller) => {
  let looks: number[] = [];
  const urgent = new Set<number>();
  let launchersLookedFor = 0;
  const runs = Array.from({ length: RUNS }, (_, n): PolledRun => {
    const run: PolledRun = {
      isUrgent: () => urgent.has(n),
      isPolled: () => false,
      lookForLauncher: () => {
        launchersLookedFor += 1;
      },
      look: () => {
        looks.push(n);
      },
      record: () => undefined,
      dispose: () => poller.remove(run),
    };
    poller.add(run);
    return run;
  });
  return {
    urgent,
    launchersLookedFor: () => launchersLookedFor,
    looks: () => {
      const seen = looks;
      looks = [];
      return seen;
    },
    dispose: () => {
      for (const run of runs) run.dispose();
    },
  };
};

test("quiet runs are looked at in turn, all of them within so many seconds", () => {
  const poller = pollerWith(async () => 0);
  const runs = makeRuns(poller);
  const everybody = Array.from({ length: RUNS }, (_, n) => n);
  vi.advanceTimersByTime(RUN_POLL_MS);
  const seen: number[] = runs.looks();
  expect(seen).toHaveLength(RUN_POLL_QUIET_RUNS);
  while (seen.length < RUNS) {
    vi.advanceTimersByTime(RUN_POLL_QUIET_MS);
    const looks = runs.looks();
    expect(looks).toHaveLength(QUIET);
    seen.push(...looks);
  }
  expect(seen.slice(0, RUNS)).toEqual(everybody);
  runs.dispose();
  expect(vi.getTimerCount()).toBe(0);
});

test("an urgent run is looked at soon, and then on every quick tick until none is urgent", () => {
  const poller = pollerWith(async () => 0);
  const runs = makeRuns(poller);
  vi.advanceTimersByTime(RUN_POLL_MS);
  runs.looks();
  runs.urgent.add(7);
  poller.hurry();
  vi.advanceTimersByTime(RUN_POLL_MS);
  expect(runs.looks()).toContain(7);
  vi.advanceTimersByTime(RUN_POLL_MS);
  expect(runs.looks()).toContain(7);
  runs.urgent.clear();
  vi.advanceTimersByTime(RUN_POLL_MS);
  runs.looks();
  vi.advanceTimersByTime(RUN_POLL_MS);
  expect(runs.looks()).toEqual([]);
  runs.dispose();
});

test("an urgent run that nobody tells of is found by the next quiet tick", () => {
  const poller = pollerWith(async () => 0);
  const runs = makeRuns(poller);
  vi.advanceTimersByTime(RUN_POLL_MS);
  runs.looks();
  runs.urgent.add(150);
  vi.advanceTimersByTime(RUN_POLL_QUIET_MS);
  expect(runs.looks()).toContain(150);
  runs.dispose();
});

test("after a tick that came late all of them are looked at faster, once: events may have been lost", () => {
  const poller = pollerWith(async () => 0);
  const runs = makeRuns(poller);
  vi.advanceTimersByTime(RUN_POLL_MS);
  runs.looks();
  const now = performance.now();
  const late = vi.spyOn(performance, "now").mockReturnValue(now + 10 * RUN_POLL_QUIET_MS);
  vi.advanceTimersByTime(RUN_POLL_QUIET_MS);
  late.mockRestore();
  expect(runs.looks()).toHaveLength(RUN_POLL_SLICE_RUNS);
  vi.advanceTimersByTime(3 * RUN_POLL_MS);
  expect(runs.looks()).toHaveLength(3 * RUN_POLL_SLICE_RUNS);
  vi.advanceTimersByTime(RUN_POLL_QUIET_MS);
  expect(runs.looks()).toHaveLength(QUIET);
  runs.dispose();
});

test("a loop that worked within a quiet wait may have been late there; while it works on, the ticks are quick", () => {
  const poller = pollerWith(async () => 0);
  const runs = makeRuns(poller);
  vi.advanceTimersByTime(RUN_POLL_MS);
  runs.looks();
  worked += RUN_POLL_LATE_MS + 1;
  vi.advanceTimersByTime(RUN_POLL_QUIET_MS);
  expect(runs.looks()).toHaveLength(RUN_POLL_SLICE_RUNS);
  vi.advanceTimersByTime(3 * RUN_POLL_MS);
  expect(runs.looks()).toHaveLength(3 * RUN_POLL_SLICE_RUNS);
  // Quick from now on, as long as the loop works: a late tick would tell by itself.
  worked += RUN_POLL_LATE_MS + 1;
  vi.advanceTimersByTime(RUN_POLL_QUIET_MS + 3 * RUN_POLL_MS);
  runs.looks();
  for (let n = 0; n < 3; n += 1) {
    worked += RUN_POLL_LATE_MS + 1;
    vi.advanceTimersByTime(n === 0 ? RUN_POLL_QUIET_MS : RUN_POLL_MS);
    expect(runs.looks()).toHaveLength(RUN_POLL_SLICE_RUNS);
  }
  runs.dispose();
});

test("with the runtime's tick quiet polls come with it, and no timer of theirs; without it they come by themselves, and are not late", () => {
  const poller = pollerWith(async () => 0);
  const runs = makeRuns(poller);
  vi.advanceTimersByTime(RUN_POLL_MS);
  runs.looks();
  // Soon after a poll the tick only takes the next one along.
  poller.join();
  expect(runs.looks()).toEqual([]);
  for (let tick = 0; tick < 3; tick += 1) {
    vi.advanceTimersByTime(RUN_POLL_QUIET_MS + 1);
    expect(runs.looks()).toEqual([]);
    poller.join();
    expect(runs.looks()).toHaveLength(QUIET);
  }
  vi.advanceTimersByTime(RUN_POLL_QUIET_MS + TICK_WAIT_MS);
  expect(runs.looks()).toHaveLength(QUIET);
  vi.advanceTimersByTime(RUN_POLL_QUIET_MS);
  expect(runs.looks()).toHaveLength(QUIET);
  runs.dispose();
  poller.join();
  expect(vi.getTimerCount()).toBe(0);
});

test("launchers are looked for once in their period, whatever the turn", () => {
  const poller = pollerWith(async () => 0);
  const runs = makeRuns(poller);
  vi.advanceTimersByTime(RUN_POLL_MS + LAUNCHER_LOOK_MS);
  expect(runs.launchersLookedFor()).toBe(RUNS);
  runs.dispose();
});

test("a snapshot is taken on its period, never a second one meanwhile, and the rarer the more processes there are", async () => {
  const taken: ((processes: number) => void)[] = [];
  const poller = pollerWith(() => new Promise((done) => taken.push(done)));
  const runs = makeRuns(poller);
  vi.advanceTimersByTime(3 * SNAPSHOT_PERIOD_MS);
  expect(taken).toHaveLength(1);
  taken[0]?.(100);
  await vi.advanceTimersByTimeAsync(SNAPSHOT_PERIOD_MS + RUN_POLL_MS);
  expect(taken).toHaveLength(2);
  runs.dispose();
  expect(snapshotPeriod(100)).toBe(SNAPSHOT_PERIOD_MS);
  expect(snapshotPeriod(2_500)).toBe(10_000);
  expect(snapshotPeriod(1_000_000)).toBe(SNAPSHOT_PERIOD_MAX_MS);
});

test("a run whose look throws keeps no other from it: a call that the kernel refused passes, all else is told as a defect", () => {
  const ofKernel = Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE", errno: -24 });
  const ofOurs = new HoldfastError("STORE_FAILED", "It was not to be thrown here.");
  const ofNode = Object.assign(new TypeError("not a string"), { code: "ERR_INVALID_ARG_TYPE" });
  const told: unknown[] = [];
  const poller = pollerWith(
    async () => 0,
    (cause) => told.push(cause),
  );
  const runs = makeRuns(poller);
  const thrown = [ofKernel, ofOurs, ofNode, "a word"];
  const throwing = [...poller.runs].slice(0, thrown.length).map((run, n) =>
    vi.spyOn(run, "look").mockImplementation(() => {
      throw thrown[n];
    }),
  );
  vi.advanceTimersByTime(RUN_POLL_MS + RUN_POLL_QUIET_MS);
  expect(throwing.map(({ mock }) => mock.calls.length)).toEqual(thrown.map(() => 1));
  expect(runs.looks()).toHaveLength(RUN_POLL_QUIET_RUNS + QUIET - thrown.length);
  expect(told).toEqual([ofOurs, ofNode, "a word"]);
  runs.dispose();
});
