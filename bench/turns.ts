/**
 * The time that check, rebuild and gc of a long log take of the main thread in one turn of the event loop, in its processor time: that is
 * what the supervision of agents waits for, and other programs of the machine cannot lengthen it. In this process, with a
 * writer beside it as agents are; its own checkpoints of the write-ahead log are most of the longest turns, so it is the floor. A million records of five thousand workers; HOLDFAST_FULL takes ten million of twenty thousand.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLog } from "../src/store/sqlite/log.ts";
import { draftsOf, fill } from "./long-log.ts";
import { ascending, ms, percentile, type Result } from "./support.ts";

const [RECORDS, WORKERS] = process.env.HOLDFAST_FULL === "1" ? [10_000_000, 20_000] : [1_000_000, 5_000];
const TURN_MAX_MS = 20;
const WRITE_EVERY_MS = 20;
const BATCH = 20;

const WORKER = "01BENCHWRITER00000000000000";
const { requested, line } = draftsOf(WORKER);

/** The processor time of each turn while `work` goes on. */
const turnsOf = async (work: () => Promise<unknown>): Promise<readonly number[]> => {
  const turns: number[] = [];
  let isOver = false;
  let before = process.threadCpuUsage();
  const turn = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    turns.push((user + system) / 1_000);
    if (!isOver) setTimeout(turn);
  };
  setTimeout(turn);
  await work();
  isOver = true;
  return ascending(turns.slice(1));
};

export const turns = async (): Promise<readonly Result[]> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-bench-turns-"));
  fill(dir, RECORDS, WORKERS);
  const log = openLog({ file: join(dir, "holdfast.db") });
  log.append([requested]);
  const writing = setInterval(() => {
    log
      .commit(Array.from({ length: BATCH }, () => line))
      .catch((cause) => process.stderr.write(`${cause}\n`));
  }, WRITE_EVERY_MS);
  const idle = await turnsOf(() => new Promise((done) => setTimeout(done, 5_000)));
  const floor = `only the writer: p99 ${ms(percentile(idle, 99))}, max ${ms(idle.at(-1)!)}`;
  const results: Result[] = [];
  const measure = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const began = performance.now();
    const took = await turnsOf(work);
    const max = took.at(-1)!;
    results.push({
      name: `processor time of a turn during ${name}, ${RECORDS / 1e6} M records, ${WORKERS} workers`,
      measured: `p99 ${ms(percentile(took, 99))}, max ${ms(max)}, ${took.length} turns in ${((performance.now() - began) / 1_000).toFixed(0)} s`,
      floor,
      value: ms(max),
      threshold: `max ≤ ${TURN_MAX_MS} ms, or the floor's`,
      ok: max <= Math.max(TURN_MAX_MS, idle.at(-1)!),
    });
  };
  await measure("db check", () => log.checkAside());
  await measure("db rebuild", () => log.rebuildAside());
  await measure("db gc", () => log.gc({ before_ms: Date.now() }));
  clearInterval(writing);
  log.close();
  rmSync(dir, { recursive: true, force: true });
  return results;
};
