/**
 * The engine is killed at each of its crash points (docs/explanation/engine.md): no call that may have had an effect is
 * repeated, no answer on record is asked for again, and the transcript comes to the same end.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { foldEntries } from "../../src/engine/conversation.ts";
import { ENGINE_CRASH_POINTS, type EngineCrashPoint } from "../../src/engine/crash.ts";
import type { JournalEntry } from "../../src/engine/entries.ts";
import type { EngineLine, EngineOpening } from "../../src/protocol/engine-lines.ts";
import { assertBuilt } from "../support/built.ts";
import { full } from "../support/figures.ts";
import { type Daemon, startDaemon, temporaryDirectory, until } from "./support.ts";

const ENGINE = resolve(import.meta.dirname, "../../dist/engine.js");
const RUNS = full ? 500 : 65;
/** Runs at one time. */
const TOGETHER = 4;

const PAYMENTS = ["pay-1", "pay-2", "pay-3"];
const SCRIPT = {
  requests: "requests",
  answers: [
    { text: "I look.", calls: [{ id: "look-1", name: "look" }], usage: { input_tokens: 1 } },
    {
      text: "I pay twice.",
      calls: [
        { id: "pay-1", name: "pay" },
        { id: "pay-2", name: "pay" },
      ],
      usage: { input_tokens: 10 },
    },
    { text: "And once more.", calls: [{ id: "pay-3", name: "pay" }], usage: { input_tokens: 100 } },
    {
      text: "I read three at once.",
      calls: ["read-1", "read-2", "read-3"].map((id) => ({ id, name: "read" })),
    },
    { text: "Paid.", usage: { input_tokens: 1_000 } },
  ],
  tools: [
    { name: "pay", ledger: "ledger" },
    { name: "look", is_idempotent: true, ledger: "looks" },
    { name: "read", is_idempotent: true, may_overlap: true, ledger: "looks" },
  ],
};
const WHOLE_USAGE = 1_111;

/** The passages of each point in one whole run of the script. */
const PASSAGES: Readonly<Record<EngineCrashPoint, number>> = {
  "given-before": 1,
  "given-after": 1,
  "asking-before": 5,
  "asking-after": 5,
  answering: 5,
  // This script is too short for a summary; the test of summaries has its own.
  "summarizing-before": 0,
  "summarizing-after": 0,
  "compacted-before": 0,
  "compacted-after": 0,
  "answered-before": 5,
  "answered-after": 5,
  "calling-before": 7,
  "calling-after": 7,
  called: 7,
  "returned-before": 7,
  "returned-after": 7,
  "ended-before": 1,
  "ended-after": 1,
  told: 1,
};
const crashes = ENGINE_CRASH_POINTS.flatMap((point) =>
  Array.from({ length: PASSAGES[point] }, (_, at) => ({ point, passage: at + 1 })),
);
const POINTS = ENGINE_CRASH_POINTS.filter((point) => PASSAGES[point] > 0);
/** Points of which the answer of the model may be lost with the process: it is not on record, and is asked for again. */
const LOSES_ANSWER = /^(?:asking-after|answering|answered-before)$/;

const makePlace = (dir: string, script: object = SCRIPT): string => {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "script.json"), JSON.stringify(script));
  return dir;
};
const linesIn = (path: string): readonly string[] =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];

interface EngineEnd {
  readonly lines: readonly EngineLine[];
  readonly signal: string | null;
}

/** One incarnation of the engine, as its adapter starts it. */
const incarnate = (dir: string, opening: Partial<EngineOpening>, crash?: string): Promise<EngineEnd> => {
  const child = spawn(process.execPath, [ENGINE], {
    cwd: dir,
    env: {
      HOLDFAST_ENGINE_HOME: join(dir, "journals"),
      ...(crash === undefined ? {} : { HOLDFAST_ENGINE_CRASH_AT: `${crash}:${join(dir, "died")}` }),
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const first = {
    type: "open",
    worker_id: "w1",
    model: "scripted/script.json",
    cwd: dir,
    interactive: false,
    settings: {},
    policy: { permission: "deny", rules: [] },
    ground: { providers: {}, mcp: {} },
    ...opening,
  };
  // A killed engine may not have read it.
  child.stdin.on("error", () => undefined);
  child.stdin.write(`${JSON.stringify(first)}\n`);
  child.stdin.write(`${JSON.stringify({ type: "message", id: `m-${crash ?? "again"}`, text: "Pay." })}\n`);
  let out = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("close", (_code, signal) => {
      const whole = out.split("\n").slice(0, -1);
      done({ lines: whole.map((line) => JSON.parse(line) as EngineLine), signal });
    });
  });
};

const journalIn = (dir: string): readonly JournalEntry[] => {
  const [file = ""] = readdirSync(join(dir, "journals"));
  return linesIn(join(dir, "journals", file)).map((line) => JSON.parse(line) as JournalEntry);
};

/** The transcript; a result that nobody knows stands for the known one. */
const transcriptIn = (dir: string) =>
  foldEntries(journalIn(dir)).messages.map((message) =>
    message.role === "tool" ? { role: "tool", call_id: message.call_id } : message,
  );

const unknownIn = (dir: string): readonly string[] =>
  journalIn(dir).flatMap((entry) =>
    entry.type === "returned" && entry.code === "OUTCOME_UNKNOWN" ? [entry.call_id] : [],
  );

/** The mistakes of one run that was killed once. */
const mistakesIn = (dir: string, point: EngineCrashPoint, asked_before: number): readonly string[] => {
  const mistakes: string[] = [];
  const ledger = linesIn(join(dir, "ledger"));
  for (const id of PAYMENTS) {
    const times = ledger.filter((line) => line === id).length;
    if (times > 1) mistakes.push(`${id} was repeated`);
    if (times === 0 && !unknownIn(dir).includes(id)) mistakes.push(`${id} was forgotten`);
  }
  if (unknownIn(dir).length > 1) mistakes.push("more than one outcome is unknown");
  const requests = linesIn(join(dir, "requests")).map(Number);
  const again = requests.slice(asked_before);
  const paid_twice = requests.length - new Set(requests).size;
  if (paid_twice > (LOSES_ANSWER.test(point) ? 1 : 0))
    mistakes.push("an answer on record was asked for again");
  if (again.some((step, at) => at > 0 && step <= again[at - 1]!)) mistakes.push("a step was gone back to");
  return mistakes;
};

test(`${RUNS} engines that are killed repeat no payment, pay for no step on record twice, and end alike`, {
  timeout: 1_200_000,
}, async () => {
  assertBuilt();
  const root = temporaryDirectory();
  const whole = makePlace(join(root, "whole"));
  await incarnate(whole, {});
  const expected = transcriptIn(whole);
  const mistakes: string[] = [];
  const one = async (run: number): Promise<void> => {
    const { point, passage } = crashes[run % crashes.length]!;
    const dir = makePlace(join(root, String(run)));
    const killed = await incarnate(dir, {}, `${point}:${passage}`);
    const asked_before = linesIn(join(dir, "requests")).length;
    const session = killed.lines.flatMap((line) => (line.type === "session" ? [line.id] : []))[0];
    const told = (type: EngineLine["type"]) => killed.lines.some((line) => line.type === type);
    const interrupted = told("turn") && !told("end");
    // Once the end is told, the runtime starts no other incarnation.
    const last = told("end")
      ? killed
      : await incarnate(dir, { ...(session === undefined ? {} : { session }), interrupted });
    const where = `${point}:${passage}`;
    if (killed.signal !== "SIGKILL") mistakes.push(`${where}: it was not killed`);
    for (const mistake of mistakesIn(dir, point, asked_before)) mistakes.push(`${where}: ${mistake}`);
    if (JSON.stringify(transcriptIn(dir)) !== JSON.stringify(expected))
      mistakes.push(`${where}: another transcript`);
    const end = last.lines.find((line) => line.type === "end");
    if (end?.text !== "Paid." || end.usage.input_tokens !== WHOLE_USAGE)
      mistakes.push(`${where}: another end, ${JSON.stringify(end)}`);
  };
  let next = 0;
  await Promise.all(
    Array.from({ length: TOGETHER }, async () => {
      while (next < RUNS) await one(next++);
    }),
  );
  expect(mistakes).toEqual([]);
});

const LOOKS = Array.from({ length: 7 }, (_, at) => ({
  calls: [{ id: `look-${at}`, name: "look" }],
  // The last one fills the context of the model.
  usage: { input_tokens: at === 6 ? 100 : 1 },
}));
const LONG_SCRIPT = {
  requests: "requests",
  answers: [...LOOKS, { text: "Looked.", usage: { input_tokens: 10 } }],
  summary: { text: "I looked six times.", usage: { input_tokens: 1_000 } },
  tools: [{ name: "look", is_idempotent: true }],
};

test.each([
  ["summarizing-before", 1],
  ["summarizing-after", 1],
  // The summary was made, and is lost with the process.
  ["compacted-before", 2],
  ["compacted-after", 1],
] as const)(
  "an engine that is killed at a summary, %s, pays for %i and goes on from there",
  async (point, paid) => {
    assertBuilt();
    const dir = makePlace(join(temporaryDirectory(), point), LONG_SCRIPT);
    const settings = { compaction: "summarize", context_tokens: 100 };
    const killed = await incarnate(dir, { settings }, `${point}:1`);
    expect(killed.signal).toBe("SIGKILL");
    const session = killed.lines.find((line) => line.type === "session")!.id;
    const { lines } = await incarnate(dir, { settings, session, interrupted: true });
    const asked = linesIn(join(dir, "requests"));
    expect(asked.filter((line) => line === "summary")).toHaveLength(paid);
    // No answer on record is asked for again.
    expect(asked.filter((line) => line !== "summary")).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
    expect(lines.find((line) => line.type === "end")).toMatchObject({
      error: null,
      text: "Looked.",
      usage: { input_tokens: 6 + 100 + 1_000 + 10 },
    });
  },
);

const spawnAt = async (daemon: Daemon, dir: string, point: EngineCrashPoint): Promise<string> => {
  const { id } = await daemon.request<{ id: string }>("agent/spawn", {
    spec: {
      kind: "llm",
      prompt: "Pay.",
      model: "scripted/script.json",
      cwd: dir,
      restart: "transient",
      backoff_min_ms: 0,
      backoff_max_ms: 0,
      env: {
        HOLDFAST_ENGINE_HOME: join(dir, "journals"),
        HOLDFAST_ENGINE_CRASH_AT: `${point}:1:${join(dir, "died")}`,
      },
    },
  });
  return id;
};

test("under a daemon, the usage of a turn is on record once, at whatever point its engine was killed", {
  timeout: 600_000,
}, async () => {
  const root = temporaryDirectory();
  const daemon = await startDaemon(join(root, "state"));
  const workers = await Promise.all(
    POINTS.map(async (point) => {
      const dir = makePlace(join(root, point));
      return { point, dir, id: await spawnAt(daemon, dir, point) };
    }),
  );
  for (const { id, point } of workers)
    await until(`the worker that dies at ${point} has ended`, async () =>
      /completed|failed/.test((await daemon.request<{ state: string }>("agent/info", { id })).state),
    );
  const records = await daemon.history(["turn_completed", "worker_completed"]);
  const ends = workers.map(({ point, id }) => ({
    point,
    turns: records.flatMap((record) =>
      record.worker_id === id && record.type === "turn_completed" ? [record.payload.usage.input_tokens] : [],
    ),
    states: records.flatMap((record) =>
      record.worker_id === id && record.type === "worker_completed" ? ["completed"] : [],
    ),
  }));
  expect(ends).toEqual(POINTS.map((point) => ({ point, turns: [WHOLE_USAGE], states: ["completed"] })));
  for (const { dir, point } of workers)
    for (const id of PAYMENTS)
      expect(
        linesIn(join(dir, "ledger")).filter((line) => line === id).length,
        `${id} at ${point}`,
      ).toBeLessThanOrEqual(1);
});
