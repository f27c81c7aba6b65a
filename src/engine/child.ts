/**
 * The program of kind `llm`: lines of JSON in, lines of JSON out (protocol/engine-lines.ts). It keeps its journals below
 * $HOLDFAST_ENGINE_HOME, or ~/.holdfast-engine.
 */
import { existsSync, writeFileSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { LINE_MAX_BYTES } from "../base/limits.ts";
import { makeLineSplitter } from "../base/line-splitter.ts";
import type { EngineGround, EngineInput, EngineLine, EngineOpening } from "../protocol/engine-lines.ts";
import { type AtCrashPoint, ENGINE_CRASH_POINTS } from "./crash.ts";
import { fileJournals } from "./journals.ts";
import { nativeEngine } from "./native.ts";
import { partsOf } from "./parts.ts";

/** POINT:N:FILE ends the program at the N-th passage, unless FILE exists; it makes FILE before. Only a test sets it. */
const CRASH_VARIABLE = "HOLDFAST_ENGINE_CRASH_AT";

const crashing = (wanted: string | undefined): AtCrashPoint | undefined => {
  if (wanted === undefined) return undefined;
  const [point, passage, file = ""] = wanted.split(":");
  if (!ENGINE_CRASH_POINTS.some((one) => one === point) || !/^[1-9]\d*$/.test(passage ?? ""))
    throw new Error(
      `${CRASH_VARIABLE} is POINT:N:FILE, a crash point, its passage and a file, not "${wanted}".`,
    );
  let left = Number(passage);
  return (at) => {
    if (at !== point) return;
    left -= 1;
    if (left > 0 || existsSync(file)) return;
    writeFileSync(file, "");
    process.kill(process.pid, "SIGKILL");
  };
};

/** The spool of the run is a file, so a line is there for the runtime once this returns. */
const tell = (line: EngineLine): void => {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
};

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(ms, undefined, { signal }).catch(() => undefined);

/** Ends at 0x0A alone: the line separators of Unicode may stand in a text. */
async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const splitter = makeLineSplitter(LINE_MAX_BYTES);
  for await (const chunk of input)
    for (const line of splitter.push(chunk)) {
      if ("tooLong" in line) throw new Error(`A line of the input has more than ${LINE_MAX_BYTES} bytes.`);
      yield line.text.toString("utf8");
    }
}

async function* inputsOf(lines: AsyncIterator<string>): AsyncGenerator<EngineInput> {
  for (let next = await lines.next(); next.done !== true; next = await lines.next())
    yield JSON.parse(next.value) as EngineInput;
}

/** With `--check`, the only line of the input is a ground, and the only one of the output what is found. */
const check = async (lines: AsyncIterator<string>): Promise<void> => {
  const { value } = await lines.next();
  const [{ checkGround }, { secretsOf }] = await Promise.all([import("./check.ts"), import("./secrets.ts")]);
  const ground = JSON.parse(String(value)) as EngineGround;
  const found = await checkGround(ground, secretsOf(process.env), process.cwd());
  process.stdout.write(`${JSON.stringify(found)}\n`);
};

const main = async (): Promise<void> => {
  const stopped = new AbortController();
  process.once("SIGTERM", () => stopped.abort());
  const lines = linesOf(process.stdin);
  if (process.argv[2] === "--check") return check(lines);
  const first = await lines.next();
  if (first.done === true) return;
  const engine = nativeEngine({
    journals: fileJournals(process.env.HOLDFAST_ENGINE_HOME ?? join(homedir(), ".holdfast-engine")),
    parts: partsOf,
    sleep,
    at: crashing(process.env[CRASH_VARIABLE]),
  });
  const opening = JSON.parse(first.value) as EngineOpening;
  await engine.run({ opening, inputs: inputsOf(lines), tell, signal: stopped.signal });
};

main().then(
  () => process.exit(0),
  (cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`);
    process.exit(1);
  },
);
