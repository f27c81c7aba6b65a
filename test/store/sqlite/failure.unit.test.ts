import { expect, it } from "vitest";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { storeError } from "../../../src/store/sqlite/failure.ts";

it.each([
  ["SQLITE_FULL", "DISK_FULL"],
  ["SQLITE_READONLY", "STORE_FAILED"],
  ["SQLITE_READONLY_DBMOVED", "STORE_FAILED"],
  ["SQLITE_IOERR_WRITE", "STORE_FAILED"],
  ["SQLITE_CANTOPEN", "STORE_FAILED"],
  ["SQLITE_CORRUPT_INDEX", "STORE_CORRUPT"],
  ["SQLITE_NOTADB", "STORE_CORRUPT"],
  ["SQLITE_BUSY_SNAPSHOT", "LOCK_HELD"],
  ["SQLITE_CONSTRAINT_PRIMARYKEY", "VERSION_CONFLICT"],
  ["ENOSPC", "DISK_FULL"],
  ["EACCES", "PERMISSION_DENIED"],
  ["ENOENT", "STORE_FAILED"],
])("%s is told as %s, with its own words", (name, code) => {
  const error = storeError(Object.assign(new Error("what it said"), { code: name }));
  expect(error.code).toBe(code);
  expect(error.message).toContain("what it said");
  expect(error.suggestion).not.toBe("");
});

it("an error of the catalogue passes unchanged", () => {
  const error = new HoldfastError("QUEUE_FULL", "full");
  expect(storeError(error)).toBe(error);
});
