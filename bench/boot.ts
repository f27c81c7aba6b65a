/**
 * A boot on a long log: `dist/daemon.js` from its exec to its first answer, on so many records of thousands of workers that
 * have ended (ten million under HOLDFAST_FULL, else one). The floor is the same boot on an empty log, in the same run: what is
 * over it is what the log's length costs. Alternating, so that both see the same machine.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SQLite from "better-sqlite3";
import { fill } from "./long-log.ts";
import { ascending, ms, percentile, type Result, startDaemon } from "./support.ts";

const RECORDS = process.env.HOLDFAST_FULL === "1" ? 10_000_000 : 1_000_000;
const WORKERS = 5_000;
const ROUNDS = 5;
const BOOT_MAX_MS = 2_000;
const TICK_MAX_MS = 20;
const IDLE_MS = 10_000;

const bootMs = async (dir: string): Promise<number> => {
  const before = performance.now();
  const daemon = await startDaemon({}, [], dir);
  await daemon.request("daemon/status", {});
  const took = performance.now() - before;
  await daemon.stop();
  return took;
};

/** SQLite's own share: open the file, read the newest record. */
const openMs = (dir: string): number => {
  const before = performance.now();
  const db = new SQLite(join(dir, "holdfast.db"), { readonly: true });
  db.prepare("SELECT * FROM records ORDER BY seq DESC LIMIT 1").get();
  db.close();
  return performance.now() - before;
};

/** The worst window of the daemon's own tick while its whole log is checked, folded anew and moved to archives. */
const tickMeanwhile = async (dir: string): Promise<Result> => {
  const daemon = await startDaemon({}, [], dir);
  const lags: { p99: number; max: number }[] = [];
  const sampled = async (command: string, data: object): Promise<void> => {
    let done = false;
    const work = daemon.request(command, data).finally(() => {
      done = true;
    });
    while (!done) {
      await new Promise((next) => setTimeout(next, 500));
      lags.push(
        (await daemon.request<{ loop_lag_ms: { p99: number; max: number } }>("daemon/status", {}))
          .loop_lag_ms,
      );
    }
    await work;
  };
  // The floor: the same daemon with nothing to do, for as long as its status has a window to speak of.
  await new Promise((next) => setTimeout(next, IDLE_MS));
  const idle = (await daemon.request<{ loop_lag_ms: { p99: number; max: number } }>("daemon/status", {}))
    .loop_lag_ms;
  await sampled("db/check", {});
  await sampled("db/rebuild", {});
  await sampled("db/gc", { older_than_ms: 0 });
  await daemon.stop();
  const p99 = Math.max(...lags.map((lag) => lag.p99));
  return {
    name: `daemon's tick while its ${RECORDS / 1e6} M records are checked, folded anew and archived`,
    measured: `p99 ${ms(p99)}, max ${ms(Math.max(...lags.map((lag) => lag.max)))}`,
    floor: `idle: p99 ${ms(idle.p99)}, max ${ms(idle.max)}`,
    value: `${p99.toFixed(1)} ms`,
    threshold: `≤ ${TICK_MAX_MS} ms`,
    ok: p99 <= TICK_MAX_MS,
  };
};

export const boot = async (): Promise<readonly Result[]> => {
  const [long, empty] = [0, 1].map(() => mkdtempSync(join(tmpdir(), "holdfast-bench-boot-"))) as [
    string,
    string,
  ];
  fill(long, RECORDS, WORKERS);
  const gib = statSync(join(long, "holdfast.db")).size / 2 ** 30;
  const [ours, floor, opens]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(await bootMs(empty));
    ours.push(await bootMs(long));
    opens.push(openMs(long));
  }
  const tick = await tickMeanwhile(long);
  for (const dir of [long, empty]) rmSync(dir, { recursive: true, force: true });
  const p50 = (values: readonly number[]): number => percentile(ascending(values), 50);
  const start: Result = {
    name: `boot with ${RECORDS / 1e6} M records (${gib.toFixed(1)} GiB), ${WORKERS} ended workers: exec to first answer`,
    measured: `p50 ${ms(p50(ours))}, max ${ms(Math.max(...ours))}`,
    floor: `an empty log: p50 ${ms(p50(floor))}; open and one indexed read: p50 ${ms(p50(opens))}`,
    value: `${(p50(ours) - p50(floor)).toFixed(0)} ms over the floor`,
    threshold: `≤ ${BOOT_MAX_MS} ms in all`,
    ok: p50(ours) <= BOOT_MAX_MS,
  };
  return [start, tick];
};
