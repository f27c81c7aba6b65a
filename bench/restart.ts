/**
 * SIGKILL of a child → next incarnation running, backoff 0, a thousand times. The floor is the same launcher in a bare
 * Node loop: kill, wait for its exit file's process, one FULL commit, launch again.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { makeProcessSpawner } from "../src/adapters/process/spawner.ts";
import { figure } from "../test/support/figures.ts";
import { ascending, command, environment, ms, percentile, type Result, startDaemon } from "./support.ts";

const KILLS = 1_000;
const sleeper = ["sleep", "1000000"];

const bare = async (): Promise<number[]> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-restart-"));
  const db = new Database(join(dir, "floor.db"));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE exits (n INTEGER PRIMARY KEY, code INTEGER)");
  const insert = db.prepare("INSERT INTO exits (code) VALUES (?)");
  const spawner = makeProcessSpawner({ runsDir: join(dir, "runs"), storeId: "floor" });
  const launch = (incarnation: number) =>
    spawner.launch({
      worker_id: "floor",
      incarnation,
      argv: sleeper,
      cwd: "/",
      env: environment(),
      stdin: { kind: "empty" },
    });
  const times: number[] = [];
  let run = await launch(1);
  for (let n = 0; n < KILLS; n += 1) {
    const before = performance.now();
    process.kill(run.agent.pid, "SIGKILL");
    const exit = await run.exited;
    insert.run(exit.exit_code);
    run.dispose();
    run = await launch(n + 2);
    times.push(performance.now() - before);
  }
  process.kill(run.agent.pid, "SIGKILL");
  await run.exited;
  await spawner.close();
  db.close();
  rmSync(dir, { recursive: true, force: true });
  return times;
};

const supervised = async (): Promise<number[]> => {
  const daemon = await startDaemon();
  const { id } = await daemon.request<{ id: string }>(
    "agent/spawn",
    command(sleeper, { restart: "permanent", max_restarts: KILLS * 2, backoff_min_ms: 0, backoff_max_ms: 0 }),
  );
  const times: number[] = [];
  let killedAt = 0;
  await new Promise<void>((done, fail) => {
    void daemon
      .watch({ ids: [id], from: 0, follow: true, types: ["worker_spawned"] }, (line) => {
        const pid = Number(/"pid":(\d+)/.exec(line)?.[1]);
        if (killedAt > 0) times.push(performance.now() - killedAt);
        if (times.length >= KILLS) return done();
        killedAt = performance.now();
        process.kill(pid, "SIGKILL");
      })
      .catch(fail);
  });
  await daemon.stop();
  return times;
};

export const restart = async (): Promise<Result> => {
  const floor = ascending(await bare());
  const ours = ascending(await supervised());
  const ratio = percentile(ours, 50) / percentile(floor, 50);
  figure("R3", {
    rounds: ours.length,
    failures: Number(percentile(ours, 99) > 100),
    p50_ms: percentile(ours, 50),
    p99_ms: percentile(ours, 99),
    note: `SIGKILL to the next incarnation; ${ratio.toFixed(2)} times a bare launcher at p50`,
  });
  return {
    name: `SIGKILL → next incarnation running, ${KILLS} times`,
    measured: `p50 ${ms(percentile(ours, 50))}, p99 ${ms(percentile(ours, 99))}, max ${ms(ours.at(-1) as number)}`,
    floor: `bare launcher: p50 ${ms(percentile(floor, 50))}, p99 ${ms(percentile(floor, 99))}`,
    value: `p50 ${ratio.toFixed(2)} times, p99 ${ms(percentile(ours, 99))}`,
    threshold: "p50 ≤ 3 times, p99 ≤ 100 ms",
    ok: ratio <= 3 && percentile(ours, 99) <= 100,
  };
};
