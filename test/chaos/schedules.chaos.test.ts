/** A schedule of every second, and a daemon that is killed around its times: each time one worker, whatever the daemon died at. */
import { expect, test } from "vitest";
import { CRASH_VARIABLE } from "../../src/base/crash-point.ts";
import { full } from "../support/figures.ts";
import { launchedDaemon, sleep, startDaemon, until } from "./support.ts";

const ROUNDS = full ? 24 : 6;
/** A daemon that dies at no point is killed within this time. */
const LIFE_MAX_MS = 1_500;
const NAME = "seconds";
/** At a point of the code, and where it happens to be. */
const DEATHS = ["schedule-due:1", "schedule-spawned:1", undefined] as const;

test(`${ROUNDS} kills of the daemon around the times of a schedule: each time has exactly one worker`, {
  timeout: 600_000,
}, async () => {
  const first = await startDaemon();
  const { stateDir } = first;
  await first.request("schedule/add", {
    schedule: {
      name: NAME,
      cron: "* * * * * *",
      zone: "UTC",
      overlap: "allow",
      missed: "all",
      missed_max: 100,
      spec: { kind: "command", argv: ["true"], cwd: "/", restart: "temporary" },
    },
  });
  await first.kill9();
  for (let round = 0; round < ROUNDS; round += 1) {
    const point = DEATHS[round % DEATHS.length];
    const daemon = launchedDaemon(stateDir, point === undefined ? {} : { env: { [CRASH_VARIABLE]: point } });
    if (point === undefined) {
      await daemon.answers();
      await sleep(Math.random() * LIFE_MAX_MS);
      await daemon.kill9();
    } else {
      await until(`it dies at ${point}`, () => daemon.ended());
      expect(daemon.process.signalCode, `${point} was reached: ${daemon.said()}`).toBe("SIGKILL");
    }
  }
  const last = await startDaemon(stateDir);
  const shown = () => last.request<{ runs: number; waiting: number }>("schedule/show", { name: NAME });
  const { runs: before } = await shown();
  await until("two more times have come", async () => (await shown()).runs >= before + 2);
  await last.request("schedule/pause", { name: NAME });

  const due = await last.history(["schedule_due", "schedule_skipped", "schedule_failed"]);
  expect(due.filter(({ type }) => type !== "schedule_due").map(({ payload }) => payload)).toEqual([]);
  const times = due.flatMap((record) =>
    record.type === "schedule_due" ? [Date.parse(record.payload.due_at)] : [],
  );
  expect(times, "every second once, in their order").toEqual(times.map((_, n) => times[0]! + n * 1_000));
  const started = await last.history(["schedule_started"]);
  const workerOf = new Map(started.map(({ payload }) => [payload.run_id, payload.worker_id]));
  expect(started.map(({ payload }) => Date.parse(payload.run_id))).toEqual(times);
  const spawned = await last.history(["worker_spawn_requested"]);
  expect(spawned.map(({ worker_id }) => worker_id).sort()).toEqual([...workerOf.values()].sort());
  expect(new Set(workerOf.values()).size).toBe(times.length);
  expect(times.length).toBeGreaterThan(2);
});
