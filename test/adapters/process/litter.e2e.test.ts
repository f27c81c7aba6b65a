/** Empty directories that an agent's CLI leaves behind when it is killed. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ProcessRun } from "../../../src/adapters/process/run.ts";
import { makeProcessSpawner } from "../../../src/adapters/process/spawner.ts";
import { makeBench, ready } from "./support.ts";

const NAMES = [".agents", ".aws", ".codex", ".git"];
const LITTERING = ["sh", "-c", `mkdir -p ${NAMES.join(" ")}; echo ready; exec sleep 1000`];

const makePlace = () => {
  const bench = makeBench();
  const litter = NAMES.map((name) => join(bench.dir, name));
  const start = async (argv: readonly string[] = LITTERING): Promise<ProcessRun> => {
    const run = await bench.launch(argv, { litter });
    await ready(run);
    return run;
  };
  const there = () => NAMES.filter((name) => existsSync(join(bench.dir, name)));
  return { ...bench, start, there };
};

const killed = async (run: ProcessRun): Promise<void> => {
  await run.kill();
  await run.exited;
  await run.sweep();
};

test("go with it, but for what was there before and what has something in it", async () => {
  const { dir, start, there } = makePlace();
  mkdirSync(join(dir, ".aws"));
  const run = await start();
  writeFileSync(join(dir, ".codex", "config.toml"), "");
  expect(there()).toEqual(NAMES);
  await killed(run);
  expect(there()).toEqual([".aws", ".codex"]);
});

test("stay while another one works there, and go with the last", async () => {
  const { start, there } = makePlace();
  const [first, second] = [await start(), await start()];
  await killed(first);
  expect(there()).toEqual(NAMES);
  await killed(second);
  expect(there()).toEqual([]);
});

test("go with it under the next daemon too, that it supervises or only ends", async () => {
  const { start, there, runsDir, storeId, keep } = makePlace();
  const [adopted, unknown] = [await start(), await start()];
  for (const run of [adopted, unknown]) run.dispose();
  const next = makeProcessSpawner({ runsDir, storeId });
  const seen = await next.observe(adopted);
  if (seen.kind !== "running") throw new Error(seen.kind);
  await killed(keep(seen.run));
  expect(there()).toEqual(NAMES);
  await next.end(unknown);
  expect(there()).toEqual([]);
  await next.close();
});
