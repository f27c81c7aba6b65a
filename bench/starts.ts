/**
 * The price of one start: a program of no work is started and waited for by the real spawner, through the fork server and by the daemon itself
 * (docs/decisions/0036), beside a bare `spawn` of the same program, in turns, in a process with the memory of a busy daemon. A start stops the
 * event loop while the process is forked: every other worker waits for that.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { theReaper } from "../src/adapters/process/reaper.ts";
import { makeProcessSpawner } from "../src/adapters/process/spawner.ts";
import { ascending, environment, ms, percentile, type Result } from "./support.ts";

const ROUNDS = 10;
const STARTS = 40;
/** As much as a daemon with many workers has. */
const BALLAST_BYTES = 128 * 1024 ** 2;
const BLOCKS_AT_MOST_MS = 0.5;
const BLOCK_LOOK_MS = 0.05;

interface Side {
  readonly name: string;
  start(): Promise<void>;
  close(): Promise<void>;
}

const bySpawner = (dir: string, name: string, hasForkServer: boolean): Side => {
  const spawner = makeProcessSpawner({ runsDir: join(dir, name), storeId: name, hasForkServer });
  let incarnation = 0;
  return {
    name,
    start: async () => {
      const asked = { worker_id: name, incarnation: ++incarnation, argv: ["true"], cwd: "/" };
      const run = await spawner.launch({ ...asked, env: environment(), stdin: { kind: "empty" } });
      await run.exited;
      run.dispose();
    },
    close: () => spawner.close(),
  };
};

const bare: Side = {
  name: "bare",
  start: () =>
    new Promise((resolve) => {
      spawn("true", { stdio: "ignore", detached: true }).on("exit", () => resolve());
    }),
  close: async () => undefined,
};

/** The longest that the loop stood still in each start: a chain of immediates sees every gap. */
const longestBlock = async (work: () => Promise<void>): Promise<number> => {
  let longest = 0;
  let isOver = false;
  let before = performance.now();
  const look = (): void => {
    const now = performance.now();
    if (now - before > BLOCK_LOOK_MS) longest = Math.max(longest, now - before);
    before = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  return longest;
};

export const starts = async (): Promise<Result> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-starts-"));
  const ballast = Buffer.alloc(BALLAST_BYTES, 1);
  const sides = [bare, bySpawner(dir, "alone", false), bySpawner(dir, "server", true)];
  const figures = new Map(sides.map(({ name }) => [name, { times: [] as number[], blocks: [] as number[] }]));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { name, start } of round % 2 ? sides : sides.toReversed())
      for (let n = 0; n < STARTS; n += 1) {
        const { times, blocks } = figures.get(name)!;
        // Times and blocks apart: a loop that looks all the time is slower.
        if (n % 2) blocks.push(await longestBlock(start));
        else {
          const asked = performance.now();
          await start();
          times.push(performance.now() - asked);
        }
      }
  for (const { close } of sides) await close();
  rmSync(dir, { recursive: true, force: true });
  const median = (name: string, what: "times" | "blocks"): number =>
    percentile(ascending(figures.get(name)![what]), 50);
  const told = (name: string): string =>
    `p50 ${ms(median(name, "times"))}, blocks the loop ${ms(median(name, "blocks"))}`;
  const [block, ratio] = [median("server", "blocks"), median("server", "times") / median("bare", "times")];
  return {
    name: `start of \`true\` to its exit, beside ${ballast.length / 1024 ** 2} MiB${theReaper() === undefined ? " (no fork server here)" : ""}`,
    measured: told("server"),
    floor: `bare spawn: ${told("bare")}; launcher without fork server: ${told("alone")}`,
    value: `${ratio.toFixed(2)} times a bare spawn; the loop is blocked ${ms(block)}`,
    threshold: `blocks the loop ≤ ${BLOCKS_AT_MOST_MS} ms`,
    ok: block <= BLOCKS_AT_MOST_MS,
  };
};
