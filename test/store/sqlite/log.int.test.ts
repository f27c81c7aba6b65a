import { statSync, truncateSync, writeFileSync } from "node:fs";
import SQLite, { type Database } from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { newId } from "../../../src/protocol/ids.ts";
import { workerStream } from "../../../src/protocol/records.ts";
import { openLog } from "../../../src/store/sqlite/log.ts";
import type { Store } from "../../../src/store/upkeep.ts";
import { codeOf, draft, newFile, newLog, requested, text, V, W } from "./support.ts";

/** A closed log of three records, changed by hand. */
const tampered = (change: (db: Database) => void): string => {
  const file = newFile();
  const log = openLog({ file });
  log.append([requested(), text("a"), text("b")]);
  log.close();
  const db = new SQLite(file);
  change(db);
  db.close();
  return file;
};

describe("an opened log", () => {
  it("is private to its user, and keeps its identity and its head", () => {
    const file = newFile();
    const first = openLog({ file });
    first.append([text("a"), text("b")]);
    first.close();
    const second = newLog({ file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(second).toMatchObject({ store_id: first.store_id, epoch: first.epoch });
    expect(second.head()).toBe(2);
    expect(second.append([text("c")])[0]).toMatchObject({ seq: 3, version: 3 });
    expect(newLog().store_id).not.toBe(first.store_id);
  });

  it("folds its projections again when another version made them", () => {
    const file = tampered((db) =>
      db.exec(
        "UPDATE meta SET value = 0 WHERE key = 'projection_version'; DROP TABLE p_turns; DELETE FROM p_workers",
      ),
    );
    const log = newLog({ file });
    expect(log.worker(W)).toMatchObject({ last_seq: 3 });
    expect(log.check()).toMatchObject({ ok: true });
  });

  it("may be closed twice, and fails with a typed error afterwards", () => {
    const log = newLog();
    log.close();
    log.close();
    expect(codeOf(() => log.append([text("a")]))).toBe("STORE_FAILED");
    expect(codeOf(() => log.worker(W))).toBe("STORE_FAILED");
  });

  it("names workers by id and by name, newest first", () => {
    const log = newLog();
    log.append([requested(W, { name: "web" }), requested(V, { name: "web", labels: { a: "b" } })]);
    expect(log.named("web").map(({ id }) => id)).toEqual([V, W]);
    expect(log.named("db")).toEqual([]);
    expect(log.workers().map(({ id }) => id)).toEqual([W, V]);
    expect(log.worker(V)).toMatchObject({
      name: "web",
      state: "pending",
      spec: { labels: { a: "b" } },
      error: null,
      tombstone: false,
    });
    expect(log.worker("nobody")).toBeUndefined();
  });
});

describe("a worker without some kind of record", () => {
  const finding = draft("worker_run_finding", { file: "pid", what: "forged", detail: "another file" });
  const turn = draft("turn_started", { turn: 1 });
  const child = requested(V, { parent: W });
  /** Asked twice: the second answer is from memory. */
  const looked = (log: Store) =>
    [1, 2].map(() => [
      log.stream(W, ["worker_run_finding"]).length,
      log.turns(W, 1).length,
      log.spawnedBy(W),
    ]);
  const none = [0, 0, []];

  it("is found as soon as there is some", () => {
    const log = newLog();
    log.append([requested()]);
    expect(looked(log)).toEqual([none, none]);
    log.append([finding]);
    expect(looked(log)).toEqual([1, 2].map(() => [1, 0, []]));
    log.append([child]);
    expect(looked(log)).toEqual([1, 2].map(() => [1, 0, [V]]));
    log.append([turn]);
    expect(looked(log)).toEqual([1, 2].map(() => [1, 1, [V]]));
  });

  it("is none again where a write of it failed, and found in what is written next", () => {
    const log = newLog();
    log.append([requested()]);
    const other = draft(
      "worker_run_finding",
      { file: "exit", what: "forged", detail: "it" },
      { id: newId() },
    );
    log.append([{ ...other, stream: workerStream(V), worker_id: V } as typeof other]);
    expect(looked(log)).toEqual([none, none]);
    // The id of the last one is taken, so nothing of the batch is written.
    expect(codeOf(() => log.append([finding, turn, child, other]))).toBe("VERSION_CONFLICT");
    expect(looked(log)).toEqual([none, none]);
    log.append([finding, turn, child]);
    expect(looked(log)).toEqual([1, 2].map(() => [1, 1, [V]]));
  });
});

describe("a log is refused, and left as it is,", () => {
  const refused = (file: string) => codeOf(() => openLog({ file }).close());

  it("when a newer version made its schema", () => {
    expect(refused(tampered((db) => void db.pragma("user_version = 1000")))).toBe("STORE_FAILED");
  });

  it("when it is another program's database", () => {
    const file = newFile();
    const db = new SQLite(file);
    db.exec("CREATE TABLE other (a)");
    db.close();
    expect(refused(file)).toBe("STORE_CORRUPT");
  });

  it("when it is no database", () => {
    const file = newFile();
    writeFileSync(file, "not a database, but long enough to be looked at\n".repeat(100));
    expect(refused(file)).toBe("STORE_CORRUPT");
  });

  it("when the file was cut", () => {
    const file = tampered(() => {});
    truncateSync(file, 3 * 4096);
    expect(refused(file)).toBe("STORE_CORRUPT");
  });

  it("when its newest record is damaged", () => {
    const file = tampered((db) =>
      db.exec("UPDATE records SET payload = replace(payload, 'b', 'c') WHERE seq = 3"),
    );
    expect(refused(file)).toBe("STORE_CORRUPT");
  });

  it("when its newest record is gone; to inspect it, it opens and says so", () => {
    const file = tampered((db) => db.exec("DELETE FROM records WHERE seq = 3"));
    expect(refused(file)).toBe("STORE_CORRUPT");
    const log = newLog({ file, inspect: true });
    expect(log.check().findings).toContain("The log ends at record 2, but it was written up to 3.");
  });

  it("when its directory is missing", () => {
    expect(refused(`${newFile()}/nowhere/holdfast.db`)).toBe("STORE_FAILED");
  });
});

describe("a read of a damaged record", () => {
  it("fails and names it, and the records before it are given", () => {
    const file = tampered((db) =>
      db.exec("UPDATE records SET payload = replace(payload, 'a', 'e') WHERE seq = 2"),
    );
    const log = newLog({ file });
    expect(log.readLines(0, 1).seqs).toEqual([1]);
    expect(() => log.readLines(1, 10)).toThrow(/Record 2 /);
    expect(codeOf(() => log.read(0, 10))).toBe("STORE_CORRUPT");
    expect(codeOf(() => log.stream(W))).toBe("STORE_CORRUPT");
    expect(codeOf(() => log.read(0, 10, { worker_ids: [W] }))).toBe("STORE_CORRUPT");
  });

  it("fails with the same code where the payload is no JSON any more", () => {
    const file = tampered((db) => db.exec("UPDATE records SET payload = '{' WHERE seq = 2"));
    expect(codeOf(() => newLog({ file }).read(0, 10, { kinds: ["TextOutput"] }))).toBe("STORE_CORRUPT");
  });

  it("fails too where the record is gone, instead of leaving it out", () => {
    const log = newLog({ file: tampered((db) => db.exec("DELETE FROM records WHERE seq = 2")) });
    expect(log.readLines(0, 1).seqs).toEqual([1]);
    expect(log.readLines(2, 9).seqs).toEqual([3]);
    expect(() => log.readLines(0, 2)).toThrow("Record 2 of the event log is missing.");
    expect(() => log.readLines(0, 3)).toThrow("Record 2 of the event log is missing.");
  });

  it("fails for a worker whose request is gone", () => {
    const log = newLog({ file: tampered((db) => db.exec("DELETE FROM records WHERE seq = 1")) });
    expect(() => log.worker(W)).toThrow("Record 1 of the event log is missing.");
  });
});
