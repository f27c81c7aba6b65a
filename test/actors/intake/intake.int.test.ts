/** How a flood is read: beside others with rests, alone and once it is cut without. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Clock, Duration, Effect } from "effect";
import { afterAll, expect, test, vi } from "vitest";
import type { Journal } from "../../../src/actors/deciding/journal.ts";
import { Intake } from "../../../src/actors/intake/intake.ts";
import { OutputActivity } from "../../../src/actors/output-activity.ts";
import { command } from "../../../src/adapters/kinds/command/index.ts";
import type { Run } from "../../../src/adapters/spawner.ts";
import {
  BATCH_BESIDE_OTHERS_MAX_LINES,
  DELIVERY_RECORD_MAX_MS,
  FLOOD_REST_TIMES,
  LONG_LINE_BYTES,
} from "../../../src/base/limits.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import { makeRedactor } from "../../../src/protocol/redact.ts";
import { openingOf } from "../../adapters/conformance/support.ts";
import { fileSource } from "../../support/file-source.ts";

const dir = mkdtempSync(join(tmpdir(), "holdfast-intake-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const BATCHES = 5;
const LINES = BATCHES * BATCH_BESIDE_OTHERS_MAX_LINES;
const BATCH_MS = 2;

/** An agent that wrote LINES lines; each batch takes BATCH_MS of a clock that stands still otherwise. */
const makeFlood = () => {
  writeFileSync(join(dir, "stdout"), "line\n".repeat(LINES));
  writeFileSync(join(dir, "stderr"), "");
  let now = 0;
  const rests: number[] = [];
  const journal = {
    now: () => now,
    ask: () => Effect.succeed([]),
    hasNoRoom: () => false,
    note: () =>
      Effect.sync(() => {
        now += BATCH_MS;
      }),
  } as unknown as Journal;
  const run = { worker_id: "flood", incarnation: 1, source: (name: string) => fileSource(join(dir, name)) };
  const read: RecordDraft[] = [];
  const outputActivity = new OutputActivity();
  const reader = { onRecords: (drafts: readonly RecordDraft[]) => read.push(...drafts) };
  const intake = new Intake({
    journal,
    adapter: command,
    run: run as unknown as Run,
    opening: openingOf("command"),
    redact: makeRedactor(),
    reader,
    outputActivity,
    account: { model: null, estimate: (usage) => usage },
  });
  /** Reads all on a clock that a rest moves. */
  const drain = () => {
    const clock: Clock.Clock = {
      ...Clock.Clock.defaultValue(),
      sleep: (duration) =>
        Effect.sync(() => {
          const ms = Duration.toMillis(duration);
          rests.push(ms);
          now += ms;
        }),
    };
    return Effect.runPromise(Effect.provideService(intake.drain(), Clock.Clock, clock));
  };
  return { intake, drain, outputActivity, rests, read };
};

test("beside another that writes, a flood rests after each batch but its last", async () => {
  const { drain, outputActivity, rests, read } = makeFlood();
  outputActivity.heard("another", 0);
  await drain();
  expect(read).toHaveLength(LINES);
  expect(rests).toEqual(Array(BATCHES - 1).fill(BATCH_MS * FLOOD_REST_TIMES));
});

test("alone it does not rest", async () => {
  const { drain, rests, read } = makeFlood();
  await drain();
  expect(read).toHaveLength(LINES);
  expect(rests).toEqual([]);
});

test("stopped, it is read to its end without a rest", async () => {
  const { intake, drain, outputActivity, rests, read } = makeFlood();
  outputActivity.heard("another", 0);
  intake.cut();
  await drain();
  expect(read).toHaveLength(LINES);
  expect(rests).toEqual([]);
});

/** Agents that have each written one long line, and a store that takes no records until it is told to. */
const makeLongLines = (names: readonly string[], end = "\n") => {
  const outputActivity = new OutputActivity();
  const asked: string[] = [];
  const takers = new Map<string, () => void>();
  const intakes = names.map((name) => {
    const home = mkdtempSync(join(dir, `${name}-`));
    writeFileSync(join(home, "stdout"), `${"x".repeat(2 * LONG_LINE_BYTES)}${end}`);
    const journal = {
      now: () => 0,
      ask: () => Effect.succeed([]),
      hasNoRoom: () => false,
      note: () =>
        Effect.promise(() => {
          asked.push(name);
          return new Promise<void>((resolve) => takers.set(name, resolve));
        }),
    } as unknown as Journal;
    return new Intake({
      journal,
      adapter: { ...command, streams: ["stdout"] },
      run: {
        worker_id: name,
        incarnation: 1,
        source: (stream: string) => fileSource(join(home, stream)),
      } as unknown as Run,
      opening: openingOf("command"),
      redact: makeRedactor(),
      reader: { onRecords: () => undefined },
      outputActivity,
      account: { model: null, estimate: (usage) => usage },
    });
  });
  return { intakes, asked, take: (name: string) => takers.get(name)?.() };
};

test("long lines are read one at a time: the next one once the records of that before are taken", async () => {
  const { intakes, asked, take } = makeLongLines(["a", "b", "c"]);
  const drains = intakes.map((intake) => Effect.runPromise(intake.drain()));
  for (const name of ["a", "b", "c"]) {
    await vi.waitFor(() => expect(asked.at(-1)).toBe(name));
    expect(asked).toHaveLength("abc".indexOf(name) + 1);
    take(name);
  }
  await Promise.all(drains);
});

test("a worker that is stopped meanwhile waits for nobody, and its turn goes to the next", async () => {
  const { intakes, asked, take } = makeLongLines(["a", "b", "c"]);
  const drains = intakes.map((intake) => Effect.runPromise(intake.drain()));
  await vi.waitFor(() => expect(asked).toEqual(["a"]));
  intakes[1]!.cut();
  await vi.waitFor(() => expect(asked).toEqual(["a", "b"]));
  take("b");
  await drains[1];
  take("a");
  await vi.waitFor(() => expect(asked).toEqual(["a", "b", "c"]));
  take("c");
  await Promise.all(drains);
});

test("last lines that nothing ended are read one at a time, too", async () => {
  const { intakes, asked, take } = makeLongLines(["a", "b", "c"], "");
  for (const intake of intakes) await Effect.runPromise(intake.drain());
  expect(asked).toEqual([]);
  const exit = { status: { code: 0, signal: null }, signals_sent: [], stderr_tail: "" };
  const ends = intakes.map((intake) => Effect.runPromise(intake.finish(exit)));
  for (const name of ["a", "b", "c"]) {
    await vi.waitFor(() => expect(asked.at(-1)).toBe(name));
    expect(asked).toHaveLength("abc".indexOf(name) + 1);
    take(name);
  }
  for (const [place, { drafts, outcome }] of (await Promise.all(ends)).entries()) {
    expect(outcome.status).toBe("completed");
    expect(drafts).toEqual([]);
    expect(intakes[place]!.read()).toBe(2 * LONG_LINE_BYTES);
  }
});

test("an agent's answer to a message is on record after its delivery, and no delivery holds it up for long", async () => {
  const { intakes, asked, take } = makeLongLines(["a", "b"]);
  const record = Promise.withResolvers<void>();
  const [answers, hangs] = intakes as [Intake, Intake];
  void Effect.runPromise(answers.before(Effect.promise(() => record.promise)));
  const read = Effect.runPromise(answers.drain());
  await setImmediate();
  expect(asked).toEqual([]);
  record.resolve();
  await vi.waitFor(() => expect(asked).toEqual(["a"]));
  take("a");
  await read;
  Effect.runFork(hangs.before(Effect.never));
  const late = Effect.runPromise(hangs.drain());
  await vi.waitFor(() => expect(asked).toEqual(["a", "b"]), { timeout: 2 * DELIVERY_RECORD_MAX_MS });
  take("b");
  await late;
});
