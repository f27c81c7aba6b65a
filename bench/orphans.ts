/**
 * The price of a launcher that keeps the orphans of its run (docs/decisions/0032): `true` is started and waited for by the real spawner,
 * with and without it, in turns. Processor time is that of all processes that were waited for.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { theReaper } from "../src/adapters/process/reaper.ts";
import { makeProcessSpawner } from "../src/adapters/process/spawner.ts";
import { ascending, childrenMs, environment, ms, percentile, type Result } from "./support.ts";

const ROUNDS = 10;
const STARTS = 60;
const COSTS_AT_MOST_MS = 5;

const makeSide = (dir: string, name: string, keepsOrphans: boolean) => {
  const spawner = makeProcessSpawner({ runsDir: join(dir, name), storeId: name, keepsOrphans });
  const times: number[] = [];
  let processor = 0;
  const round = async (): Promise<void> => {
    const before = childrenMs();
    for (let n = 0; n < STARTS; n += 1) {
      const asked = performance.now();
      const run = await spawner.launch({
        worker_id: name,
        incarnation: times.length + 1,
        argv: ["true"],
        cwd: "/",
        env: environment(),
        stdin: { kind: "empty" },
      });
      await run.exited;
      times.push(performance.now() - asked);
      run.dispose();
    }
    processor += childrenMs() - before;
  };
  const figures = () => ({ p50: percentile(ascending(times), 50), processor: processor / times.length });
  return { round, figures, close: () => spawner.close() };
};

export const orphans = async (): Promise<Result> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-orphans-"));
  const sides = [makeSide(dir, "floor", false), makeSide(dir, "ours", true)] as const;
  // The first starts read the programs from the disk.
  for (const { round } of sides) await round();
  for (let n = 1; n < ROUNDS; n += 1)
    for (const { round } of n % 2 ? sides : sides.toReversed()) await round();
  const [floor, ours] = [sides[0].figures(), sides[1].figures()];
  for (const { close } of sides) await close();
  rmSync(dir, { recursive: true, force: true });
  const told = ({ p50, processor }: typeof floor) => `p50 ${ms(p50)}, processor ${ms(processor)}`;
  const more = ours.processor - floor.processor;
  return {
    name: `start of \`true\` to its exit, ${ROUNDS * STARTS} times, by a launcher that keeps orphans${theReaper() === undefined ? " (not possible here)" : ""}`,
    measured: told(ours),
    floor: `without it: ${told(floor)}`,
    value: `${(ours.p50 / floor.p50).toFixed(2)} times, ${ms(more)} of processor more`,
    threshold: `≤ ${COSTS_AT_MOST_MS} ms of processor more`,
    ok: more <= COSTS_AT_MOST_MS,
  };
};
