/**
 * `agent search` over a log of 10⁶ records, asked over the socket: words that many records have, words that few have, phrases,
 * beginnings, one worker, one type, nothing at all. The floor is a LIKE over the same records, which has no index to make. And the
 * price for those who do not search: the daemon's processor time for lines of output, in turns with and without an index there.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { cpuMs, pssKb } from "./inspect.ts";
import { fill, workerId } from "./long-log.ts";
import { ascending, type BenchDaemon, command, ms, percentile, type Result, startDaemon } from "./support.ts";

const QUICK = process.env.HOLDFAST_QUICK === "1";
const RECORDS = QUICK ? 50_000 : 1_000_000;
const WORKERS = QUICK ? 50 : 1_000;
const ASKED = QUICK ? 50 : 600;
const FLOORS = QUICK ? 3 : 8;
const REST_MS = 10_000;
const P99_MAX_MS = 100;
const LINES = QUICK ? 5_000 : 40_000;
const ROUNDS = QUICK ? 2 : 5;
const COST_MAX_PERCENT = 5;

const VOCABULARY = 50_000;
const WORDS_A_LINE = 14;

/** A number from 0 to 1 that follows from another one. */
const chance = (n: number): number => {
  let x = (n + 1) * 2_654_435_761;
  x = ((x ^ (x >>> 16)) * 2_246_822_519) >>> 0;
  x = ((x ^ (x >>> 13)) * 3_266_489_917) >>> 0;
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
};

/** Words by their rank: the first one is in nearly every line, the last ones in a few (Zipf's law). */
const wordAt = (rank: number): string => `w${rank.toString(36)}`;
const lineOf = (n: number): string =>
  `${Array.from({ length: WORDS_A_LINE }, (_, at) =>
    wordAt(Math.floor(VOCABULARY ** chance(n * WORDS_A_LINE + at)) - 1),
  ).join(" ")}\n`;

interface Question {
  readonly text: string;
  readonly workers?: readonly string[];
  readonly types?: readonly string[];
}

/** The n-th of the questions: each kind of them in turn. */
const questionOf = (n: number): Question => {
  const common = wordAt(Math.floor(20 * chance(n)));
  const rare = wordAt(1_000 + Math.floor(40_000 * chance(n + 7)));
  const workers = [workerId(Math.floor(WORKERS * chance(n + 3)))];
  const kinds: readonly Question[] = [
    { text: common },
    { text: rare },
    { text: `${common} ${wordAt(5)}` },
    { text: `${rare} ${wordAt(2_000 + (n % 500))}` },
    { text: `"${wordAt(0)} ${rare}"` },
    { text: `${wordAt(100 + (n % 900)).slice(0, 3)}*` },
    { text: common, workers },
    { text: rare, workers },
    { text: common, types: ["worker_ended"] },
    { text: `nothing${n}` },
  ];
  return kinds[n % kinds.length]!;
};

const timed = async (work: () => unknown): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

const likes = (dir: string): readonly number[] => {
  const db = new Database(join(dir, "holdfast.db"), { readonly: true });
  const like = db.prepare("SELECT seq FROM records WHERE payload LIKE ? ORDER BY seq DESC LIMIT 50");
  const times = Array.from({ length: FLOORS }, (_, n) => {
    const began = performance.now();
    like.all(`%${wordAt(1_000 + Math.floor(40_000 * chance(n + 7)))}%`);
    return performance.now() - began;
  });
  db.close();
  return ascending(times);
};

/** The memory of a daemon that has come to rest, and given back what it does not use, in KB. */
const atRest = async ({ pid }: BenchDaemon): Promise<number> => {
  await new Promise((done) => setTimeout(done, REST_MS));
  return pssKb(pid);
};

const searches = async (): Promise<readonly Result[]> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-search-"));
  try {
    fill(dir, RECORDS, WORKERS, lineOf);
    const daemon = await startDaemon({}, [], dir);
    // The code of the daemon is compiled then, as it is in one that has worked for a while.
    for (let n = 0; n < ASKED; n += 1) await daemon.request("agent/info", { id: workerId(0) });
    const memory = await atRest(daemon);
    const cpu = cpuMs(daemon.pid);
    const first = await timed(() => daemon.request("agent/search", { text: "first" }));
    const indexing_us = ((cpuMs(daemon.pid) - cpu) * 1_000) / RECORDS;
    const times: number[] = [];
    for (let n = 0; n < ASKED; n += 1)
      times.push(await timed(() => daemon.request("agent/search", questionOf(n))));
    const bytes = statSync(join(dir, "holdfast.db.words")).size;
    const share = (bytes / statSync(join(dir, "holdfast.db")).size) * 100;
    const grown = (await atRest(daemon)) - memory;
    await daemon.stop();
    const [floor, ours] = [likes(dir), ascending(times)];
    const [p50, p99] = [percentile(ours, 50), percentile(ours, 99)];
    return [
      {
        name: `a search of ${RECORDS.toLocaleString("en")} records, over the socket`,
        floor: `LIKE over the same log: p50 ${ms(percentile(floor, 50))}`,
        measured: `p50 ${ms(p50)}, p99 ${ms(p99)}`,
        value: `p99 ${ms(p99)}`,
        threshold: `p99 ≤ ${P99_MAX_MS} ms`,
        ok: p99 <= P99_MAX_MS,
      },
      {
        name: "the first search of that log, which makes the index",
        floor: "–",
        measured: `${(first / 1_000).toFixed(1)} s, ${indexing_us.toFixed(0)} µs of processor a record, ${share.toFixed(0)} % of the log's size; at rest after ${ASKED} more searches the daemon is ${(grown / 1_024).toFixed(0)} MB larger`,
        value: `${(first / 1_000).toFixed(1)} s`,
        threshold: "–",
        ok: true,
      },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

const SAYS = `for (let n = 0; n < ${LINES}; n += 1) console.log("line " + n + " of what an agent prints, a few words long");`;

/** The daemon's processor time for the lines of one agent. */
const costOf = async (daemon: BenchDaemon): Promise<number> => {
  const before = cpuMs(daemon.pid);
  const { id } = await daemon.request<{ id: string }>("agent/spawn", command([process.execPath, "-e", SAYS]));
  await daemon.request("agent/wait", { ids: [id] });
  return cpuMs(daemon.pid) - before;
};

const ingest = async (): Promise<Result> => {
  const [without, beside] = [await startDaemon(), await startDaemon()];
  await beside.request("agent/search", { text: "first" });
  const [floor, ours]: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round += 1) {
    const [bare, searched] = [await costOf(without), await costOf(beside)];
    // The first round warms the compiler up.
    if (round < 0) continue;
    floor.push(bare);
    ours.push(searched);
  }
  await without.stop();
  await beside.stop();
  const [bare, searched] = [percentile(ascending(floor), 50), percentile(ascending(ours), 50)];
  const cost = (searched / bare - 1) * 100;
  return {
    name: `processor of the daemon for ${LINES.toLocaleString("en")} lines of output, once somebody has searched`,
    floor: `nobody has: ${bare.toFixed(0)} ms`,
    measured: `${searched.toFixed(0)} ms`,
    value: `${cost.toFixed(1)} % more`,
    threshold: `≤ ${COST_MAX_PERCENT} %`,
    ok: cost <= COST_MAX_PERCENT,
  };
};

export const search = async (): Promise<readonly Result[]> => [...(await searches()), await ingest()];
