/**
 * The engine: the price of a model's step beside the writes that make it durable, with a model that answers at once; the memory
 * of a worker that waits for its model inside a program; and that of one that is a child at rest.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as z from "zod";
import { MAX_STEPS } from "../src/adapters/kinds/llm/settings.ts";
import type { Model } from "../src/engine/model.ts";
import { scriptedModel } from "../src/engine/scripted.ts";
import { functionTool, Runtime } from "../src/library/index.ts";
import { pssKb } from "./inspect.ts";
import { ascending, ms, percentile, type Result, startDaemon } from "./support.ts";

const STEPS = 200;
const ROUNDS = 5;
/** A step with a call writes the request, the answer, the intent of the call, its result. */
const SYNCS_PER_STEP = 4;
const ENTRY_BYTES = 250;
const WAITING = [50, 250] as const;
/** Until a child that has answered does nothing more. */
const REST_MS = 3_000;

const directory = (): string => mkdtempSync(join(tmpdir(), "holdfast-bench-engine-"));

/** The writes of a journal, in a bare loop. */
const floorMs = (): number => {
  const dir = directory();
  const fd = openSync(join(dir, "journal"), "a");
  const entry = "x".repeat(ENTRY_BYTES);
  const began = performance.now();
  for (let n = 0; n < STEPS * SYNCS_PER_STEP; n += 1) {
    writeSync(fd, entry);
    fdatasyncSync(fd);
  }
  const took = performance.now() - began;
  closeSync(fd);
  rmSync(dir, { recursive: true });
  return took / STEPS;
};

const task = { kind: "llm", model: "scripted/bench", prompt: "go on", restart: "temporary" } as const;

const stepMs = async (): Promise<number> => {
  const dir = directory();
  const answers = Array.from({ length: STEPS }, (_, n) => ({
    calls: [{ id: `c${n}`, name: "add", input: { a: n } }],
  }));
  const add = functionTool({
    description: "Adds one.",
    input: z.object({ a: z.number() }),
    output: z.number(),
    run: ({ a }) => a + 1,
  });
  const runtime = await Runtime.open({
    stateDir: dir,
    engine: { model: scriptedModel([...answers, { text: "done" }]), tools: { add } },
  });
  const began = performance.now();
  const worker = await runtime.run({ ...task, ext: { [MAX_STEPS]: STEPS + 10 } });
  const { status } = await worker.result;
  const took = performance.now() - began;
  await runtime.close();
  rmSync(dir, { recursive: true });
  if (status !== "completed") throw new Error(`The run ended as ${status}.`);
  return took / STEPS;
};

const step = async (): Promise<Result> => {
  const [floor, ours]: [number[], number[]] = [[], []];
  await stepMs();
  for (let round = 0; round < ROUNDS; round += 1) {
    floor.push(floorMs());
    ours.push(await stepMs());
  }
  const [bare, held] = [percentile(ascending(floor), 50), percentile(ascending(ours), 50)];
  return {
    name: `one step of a model with a call of a tool, of ${STEPS} in a turn, in process`,
    floor: `${SYNCS_PER_STEP} durable writes: ${ms(bare)}`,
    measured: ms(held),
    value: `${ms(held)}, ${ms(held - bare)} over the floor`,
    threshold: "≤ 5 ms",
    ok: held <= 5,
  };
};

/** Never answers. */
const silent: Model = {
  async *stream(_request, signal) {
    await new Promise((_, failed) => signal.addEventListener("abort", () => failed(signal.reason)));
  },
};

const inProcess = async (): Promise<Result> => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const dir = directory();
  const runtime = await Runtime.open({ stateDir: dir, engine: { model: silent } });
  const heapAt = async (count: number): Promise<number> => {
    const have = (await runtime.list()).length;
    for (let n = have; n < count; n += 1) await runtime.spawn(task);
    await sleep(REST_MS);
    collect();
    collect();
    return process.memoryUsage().heapUsed;
  };
  const [few, many] = [await heapAt(WAITING[0]), await heapAt(WAITING[1])];
  const each = (many - few) / (WAITING[1] - WAITING[0]) / 1_024;
  await runtime.close({ agents: "kill" });
  rmSync(dir, { recursive: true, force: true });
  return {
    name: "heap of a worker that waits for its model, in process",
    floor: "–",
    measured: `${each.toFixed(1)} KB, from ${WAITING[0]} to ${WAITING[1]} workers`,
    value: `${each.toFixed(1)} KB`,
    threshold: "≤ 100 KB",
    ok: each <= 100,
  };
};

const child = async (): Promise<Result> => {
  const dir = directory();
  writeFileSync(join(dir, "script.json"), JSON.stringify({ answers: [{ text: "Hello." }], tools: [] }));
  const daemon = await startDaemon();
  const { id } = await daemon.request<{ id: string }>("agent/spawn", {
    spec: {
      ...task,
      model: "scripted/script.json",
      cwd: dir,
      interactive: true,
      env: { HOLDFAST_ENGINE_HOME: dir },
    },
  });
  const look = () => daemon.request<{ pid: number | null; turns: number }>("agent/info", { id });
  while ((await look()).turns === 0) await sleep(100);
  await sleep(REST_MS);
  const { pid } = await look();
  const mb = pssKb(pid as number) / 1_024;
  await daemon.stop();
  rmSync(dir, { recursive: true, force: true });
  return {
    name: "memory of a conversation at rest, as a child, PSS",
    floor: "–",
    measured: `${mb.toFixed(1)} MB`,
    value: `${mb.toFixed(1)} MB`,
    threshold: "≤ 60 MB",
    ok: mb <= 60,
  };
};

export const engine = async (): Promise<readonly Result[]> => [
  await step(),
  await inProcess(),
  await child(),
];
