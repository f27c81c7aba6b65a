import { expect, it, onTestFinished } from "vitest";
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
  expect(reader.readLines(0, 10, FILTER)).toEqual(log.readLines(0, 10, FILTER));
  expect(reader.readLines(2, 10, FILTER)).toMatchObject({ lines: [], scanned: 2 });
  log.append([text("2"), text("3", V, "ToolCall")]);
  expect(reader.head()).toBe(4);
  expect(reader.readLines(2, 10, FILTER)).toMatchObject({ seqs: [4], scanned: 4 });
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
