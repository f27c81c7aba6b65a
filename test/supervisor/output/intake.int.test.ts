/** How a flood is read: beside others with rests, alone and once it is cut without. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { command } from "../../../src/adapters/command/index.ts";
import type { Run } from "../../../src/adapters/spawner.ts";
import { BATCH_BESIDE_OTHERS_MAX_LINES, FLOOD_REST_TIMES } from "../../../src/protocol/limits.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import { makeRedactor } from "../../../src/protocol/redact.ts";
import { Company } from "../../../src/supervisor/output/company.ts";
import { Intake } from "../../../src/supervisor/output/intake.ts";
import type { Journal } from "../../../src/supervisor/worker/journal.ts";
import { openingOf } from "../../adapters/conformance/support.ts";

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
    ask: () => [],
    note: async () => {
      now += BATCH_MS;
    },
    rest: async (ms: number) => {
      rests.push(ms);
      now += ms;
    },
  } as unknown as Journal;
  const run = { worker_id: "flood", incarnation: 1, spool: (name: string) => join(dir, name) };
  const read: RecordDraft[] = [];
  const company = new Company();
  const reader = { onRecords: (drafts: readonly RecordDraft[]) => read.push(...drafts) };
  const intake = new Intake({
    journal,
    adapter: command,
    run: run as unknown as Run,
    opening: openingOf("command"),
    redact: makeRedactor(),
    reader,
    company,
    account: { model: null, estimate: (usage) => usage },
  });
  return { intake, company, rests, read };
};

test("beside another that writes, a flood rests after each batch but its last", async () => {
  const { intake, company, rests, read } = makeFlood();
  company.heard("another", 0);
  await intake.drain();
  expect(read).toHaveLength(LINES);
  expect(rests).toEqual(Array(BATCHES - 1).fill(BATCH_MS * FLOOD_REST_TIMES));
});

test("alone it does not rest", async () => {
  const { intake, rests, read } = makeFlood();
  await intake.drain();
  expect(read).toHaveLength(LINES);
  expect(rests).toEqual([]);
});

test("stopped, it is read to its end without a rest", async () => {
  const { intake, company, rests, read } = makeFlood();
  company.heard("another", 0);
  intake.cut();
  await intake.drain();
  expect(read).toHaveLength(LINES);
  expect(rests).toEqual([]);
});
