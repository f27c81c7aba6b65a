import { expect, it, onTestFinished } from "vitest";
import type { LogRecord } from "../../../src/protocol/records.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { openLogReader } from "../../../src/store/sqlite/log-reader.ts";
import { codeOf, newFile, newLog, requested, text, V } from "./support.ts";

const FILTER = { types: ["worker_spawn_requested"], kinds: ["ToolCall"] } as const;

it("reads what the writer has committed, also after it was opened, and only what the filter takes", () => {
  const file = newFile();
  const log = newLog({ file });
  log.append([requested(), text("1")]);
  const reader = openLogReader(file);
  onTestFinished(() => reader.close());
  const all = log.readLines(0, 10, FILTER).lines.map((line): LogRecord => JSON.parse(line));
  expect(reader.readBare(0, 10, FILTER)).toEqual({
    records: all.map(({ seq, type, worker_id, incarnation, recorded_at, payload }) => ({
      seq,
      type,
      worker_id,
      incarnation,
      recorded_ms: Date.parse(recorded_at),
      payload: JSON.stringify(payload),
    })),
    scanned: 2,
  });
  expect(all.map(({ type }) => type)).toEqual(["worker_spawn_requested"]);
  expect(reader.readBare(2, 10, FILTER)).toEqual({ records: [], scanned: 2 });
  log.append([text("2"), text("3", V, "ToolCall"), text("4", V, "ToolCall")]);
  expect(reader.head()).toBe(5);
  expect(reader.readBare(2, 10, FILTER)).toMatchObject({ records: [{ seq: 4 }, { seq: 5 }], scanned: 5 });
  expect(reader.readBare(2, 1, FILTER)).toMatchObject({ records: [{ seq: 4 }], scanned: 4 });
});

it("says that the writer has the log alone", () => {
  const file = newFile();
  newLog({ file }).close();
  const alone = openDatabase(file);
  onTestFinished(() => void alone.close());
  alone.pragma("locking_mode = EXCLUSIVE");
  alone.exec("BEGIN EXCLUSIVE; COMMIT");
  expect(codeOf(() => openLogReader(file))).toBe("LOCK_HELD");
});
