/** Random damage of the file (promise R25): it is refused, told, or does not matter; nobody is given wrong data. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import SQLite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { openLog } from "../../../src/store/sqlite/log.ts";
import { checkFile } from "../../../src/store/sqlite/offline.ts";
import type { Store } from "../../../src/store/upkeep.ts";
import { randomOf } from "../../sim/random.ts";
import { figure, full } from "../../support/figures.ts";
import { clock, draft, newFile, requested, text, V, W } from "./support.ts";

const ROUNDS = full ? 200 : 30;

const sound = (): string => {
  const file = newFile(true);
  const log = openLog({ file });
  for (const worker of [W, V]) {
    log.append([
      requested(worker, { name: worker.toLowerCase() }),
      draft("worker_started", { clock }, { worker }),
    ]);
    for (let i = 0; i < 40; i++) log.append([text(`line ${i} ${"x".repeat(i * 7)}`, worker)]);
    log.append([draft("turn_started", { turn: 1 }, { worker })]);
  }
  log.close();
  return file;
};

/** Each answer of the log as text, or the code of its typed error. */
const answersOf = (log: Store): ReadonlyMap<string, string> => {
  const answers = new Map<string, string>();
  const ask = (name: string, read: () => unknown): void => {
    try {
      answers.set(name, JSON.stringify(read()));
    } catch (cause) {
      expect(cause).toBeInstanceOf(HoldfastError);
      expect(["STORE_CORRUPT", "STORE_FAILED"]).toContain((cause as HoldfastError).code);
      answers.set(name, "refused");
    }
  };
  for (let seq = 0; seq < 86; seq++) ask(`record ${seq + 1}`, () => log.readLines(seq, 1).lines);
  for (const worker of [W, V]) {
    ask(`stream ${worker}`, () => log.stream(worker));
    ask(`row ${worker}`, () => log.worker(worker));
    ask(`turns ${worker}`, () => log.turns(worker, 10));
  }
  ask("named", () => log.named(W.toLowerCase()).map(({ id }) => id));
  ask("all", () => log.workers());
  return answers;
};

type Outcome = "refused" | "told" | "harmless";

describe(`${ROUNDS} files with flipped bytes`, () => {
  it("are refused, or told by a check, or answer as before", () => {
    const original = sound();
    const bytes = readFileSync(original);
    const log = openLog({ file: original });
    const right = answersOf(log);
    log.close();
    const random = randomOf(25);
    const count: Record<Outcome, number> = { refused: 0, told: 0, harmless: 0 };

    const round = (): Outcome => {
      const file = newFile(true);
      const damaged = Buffer.from(bytes);
      for (let flips = random.below(3); flips >= 0; flips--)
        damaged[random.below(damaged.length)]! ^= 1 << random.below(8);
      writeFileSync(file, damaged);
      let opened: Store;
      try {
        opened = openLog({ file });
      } catch (cause) {
        expect(["STORE_CORRUPT", "STORE_FAILED"]).toContain((cause as HoldfastError).code);
        // Kept as it was, and the check that needs no daemon says what is wrong.
        expect(checkFile(file).findings).not.toEqual([]);
        return "refused";
      }
      try {
        const isSound = checkFile(file).ok;
        for (const [asked, answer] of answersOf(opened)) {
          if (answer === right.get(asked)) continue;
          expect(isSound, `${asked} is ${answer} and nobody tells`).toBe(false);
          // A record is never wrong, told or not: its checksum is read with it. Rows and lists are as good as their tables and indexes.
          if (asked.startsWith("record")) expect(answer, asked).toBe("refused");
        }
        return isSound ? "harmless" : "told";
      } finally {
        opened.close();
      }
    };
    for (let n = 0; n < ROUNDS; n++) count[round()]++;
    expect(count.told).toBeGreaterThan(0);
    figure("R25", {
      rounds: ROUNDS,
      failures: 0,
      note: `one to three flipped bits anywhere in the file: ${count.refused} refused at the open, ${count.told} told by the check, ${count.harmless} without effect; no wrong record`,
    });
    figure("R35", {
      rounds: ROUNDS,
      failures: 0,
      note: "files with one to three flipped bits, in records too",
    });
  });
});

it("a projection that is damaged is made anew from the log, and is then as it was", () => {
  const original = sound();
  const log = openLog({ file: original });
  const right = answersOf(log);
  log.close();
  const file = newFile();
  copyFileSync(original, file);
  const damaged = openLog({ file, inspect: true });
  damaged.rebuild();
  expect(answersOf(damaged)).toEqual(right);
  damaged.close();
});

describe("a name that is spoilt in the schema, where every row is as it was", () => {
  const spoil = (original: string, table: string, from: string, to: string) => {
    const file = newFile();
    copyFileSync(original, file);
    const db = new SQLite(file);
    db.unsafeMode(true);
    db.pragma("writable_schema = ON");
    db.prepare("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?").run(from, to, table);
    db.close();
    return file;
  };

  it("of a projection is told by a check, and mended when the log is opened", () => {
    const original = sound();
    const file = spoil(original, "p_workers", "spec_seq", "spec_qeq");
    expect(checkFile(file).findings[0]).toBe(
      "The table or index p_workers does not have its original definition.",
    );
    const [log, right] = [openLog({ file }), openLog({ file: original })];
    expect(log.workers()).toEqual(right.workers());
    expect(log.check()).toMatchObject({ ok: true });
    for (const one of [log, right]) one.close();
  });

  it("so is an index that is not there any more", () => {
    const file = sound();
    const db = new SQLite(file);
    db.exec("DROP INDEX p_workers_name");
    db.close();
    expect(checkFile(file).findings[0]).toBe(
      "The table or index p_workers_name does not have its original definition.",
    );
    const log = openLog({ file });
    expect(log.check()).toMatchObject({ ok: true });
    log.close();
  });

  it("of the log is refused, and told by a check", () => {
    const file = spoil(sound(), "records", "causation_id", "causation_ie");
    expect(() => openLog({ file })).toThrow(expect.objectContaining({ code: "STORE_FAILED" }));
    expect(checkFile(file).findings[0]).toBe(
      "The table or index records does not have its original definition.",
    );
  });
});
