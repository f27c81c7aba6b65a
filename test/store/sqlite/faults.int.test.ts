/** Faults of the store (promise R24): refused with a typed error, and after the fault nothing is lost and nothing doubled. */
import { copyFileSync, existsSync, renameSync, rmSync, statSync } from "node:fs";
import SQLite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { HoldfastError } from "../../../src/protocol/errors.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import type { AppendOptions } from "../../../src/store/event-log.ts";
import { openLog } from "../../../src/store/sqlite/log.ts";
import type { Store } from "../../../src/store/upkeep.ts";
import { figure, full } from "../../support/figures.ts";
import { makeFaults } from "./failing-database.ts";
import { clock, codeOf, draft, newFile, newLog, requested, text, V, W } from "./support.ts";

const FAULTS = [
  ["SQLITE_FULL", "DISK_FULL"],
  ["SQLITE_IOERR_WRITE", "STORE_FAILED"],
  ["SQLITE_READONLY", "STORE_FAILED"],
] as const;

/** The work of a daemon on its log, one step after the other; each step is tried until the store takes it. */
const course = async (log: Store, refused: (cause: unknown) => void): Promise<void> => {
  const insist = async <A>(step: () => A | Promise<A>): Promise<A> => {
    for (;;) {
      try {
        return await step();
      } catch (cause) {
        refused(cause);
      }
    }
  };
  const commit = (drafts: RecordDraft[], options?: AppendOptions) =>
    insist(() => log.commit(drafts, options));
  const checkpoint = (offset: number): AppendOptions => ({
    checkpoint: {
      worker_id: W,
      incarnation: 1,
      stream: "stdout",
      offset,
      skipped_bytes: 0,
      decoder_version: 1,
      decoder_state: "{}",
    },
  });
  await insist(() => log.append([requested(W, {}), draft("worker_started", { clock })]));
  await Promise.all([
    commit([text("one"), text("two")], checkpoint(8)),
    commit([requested(V), text("other", V)]),
  ]);
  await insist(() => log.append([draft("turn_started", { turn: 1 }, { id: "key" })]));
  await insist(() => log.append([draft("turn_started", { turn: 1 }, { id: "key" })]));
  await insist(() => log.look());
  await insist(() => log.worker(W));
  await insist(() => log.readLines(0, 100));
  await insist(() => log.rebuild());
  await commit([text("three")], checkpoint(14));
  await commit([draft("worker_ended", { state: "completed", reason: "over" })], {
    drop_checkpoints: { worker_id: W, incarnation: 1 },
  });
};

const storyOf = (log: Store, worker: string): unknown[] =>
  log
    .stream(worker)
    .map(({ type, version, payload }) => [type, version, "text" in payload ? payload.text : null]);

/** The head of a file that another process would open now. */
const soundness = (file: string) => {
  const log = openLog({ file });
  try {
    return {
      ...log.check(),
      stories: [W, V].map((worker) => storyOf(log, worker)),
      checkpoints: log.checkpoints(W, 1),
    };
  } finally {
    log.close();
  }
};

describe("a fault at the n-th call", () => {
  it("is typed, whichever call it is, and what is offered again is recorded once", async () => {
    const wanted = newFile();
    const ideal = openLog({ file: wanted });
    await course(ideal, (cause) => expect.fail(String(cause)));
    ideal.close();
    const whole = soundness(wanted);
    expect(whole).toMatchObject({ ok: true, records: 9 });
    let rounds = 0;
    /** Answers whether the course has an n-th call. */
    const round = async (n: number, [fault, code]: (typeof FAULTS)[number]): Promise<boolean> => {
      const file = newFile(true);
      const faults = makeFaults();
      const log = openLog({ file, database: faults.database });
      faults.failAt(n, fault);
      const codes: unknown[] = [];
      await course(log, (cause) => codes.push((cause as HoldfastError).code));
      const reached = faults.calls() >= n;
      log.close();
      // If a group failed, each of its callers was tried again by itself, and nobody was told.
      for (const told of codes) expect(told).toBe(code);
      expect(codes.length).toBeLessThanOrEqual(1);
      expect(soundness(file)).toEqual(whole);
      rounds++;
      return reached;
    };
    for (let n = 1, reached = true; reached; n++)
      for (const fault of full ? FAULTS : [FAULTS[n % FAULTS.length]!]) reached = await round(n, fault);
    expect(rounds).toBeGreaterThan(60);
    figure("R24", {
      rounds,
      failures: 0,
      note: "the n-th call of the database fails, n = 1, 2, … (full, EIO, read-only): typed, nothing lost, nothing doubled",
    });
  });

  it("of an open is typed, and the next open finds a whole log", () => {
    const file = newFile();
    openLog({ file }).close();
    let opened = false;
    for (let n = 1; !opened; n++) {
      const faults = makeFaults();
      faults.failAt(n, "SQLITE_IOERR_READ");
      try {
        openLog({ file, database: faults.database }).close();
        opened = true;
      } catch (cause) {
        expect(cause).toMatchObject({ code: "STORE_FAILED" });
      }
      expect(n).toBeLessThan(200);
    }
    expect(soundness(file)).toMatchObject({ ok: true, records: 0 });
  });
});

describe("a disk that fails for a moment", () => {
  it("is told as that, and not as damage, where SQLite calls the file corrupt and it is whole", () => {
    const faults = makeFaults();
    const log = newLog({ database: faults.database });
    log.append([requested()]);
    for (const ask of [() => log.readLines(0, 10), () => log.append([text("a")]), () => log.workers()]) {
      faults.failAlways("SQLITE_CORRUPT");
      let told: HoldfastError | undefined;
      try {
        ask();
      } catch (cause) {
        told = cause as HoldfastError;
      }
      // A reader of the newest lines needs no disk.
      if (told === undefined) continue;
      expect(told.code).toBe("STORE_FAILED");
      expect(told.message).toContain("failed for a moment");
      expect(`${told.message} ${told.suggestion}`).not.toMatch(/damaged|not a database/);
    }
    faults.failAlways(undefined);
    log.append([text("a")]);
    expect(log.trouble()).toBeUndefined();
  });
});

describe("while a fault lasts", () => {
  it("the log says why it takes nothing, and says so no more when it does, or when nobody asks", () => {
    const faults = makeFaults();
    const log = newLog({ database: faults.database });
    expect(log.trouble()).toBeUndefined();
    faults.failAlways("SQLITE_FULL");
    expect(codeOf(() => log.append([requested()]))).toBe("DISK_FULL");
    expect(log.trouble()).toMatchObject({ code: "DISK_FULL" });
    faults.failAlways(undefined);
    log.append([requested()]);
    expect(log.trouble()).toBeUndefined();
    faults.failAlways("SQLITE_FULL");
    expect(codeOf(() => log.append([text("a")]))).toBe("DISK_FULL");
    faults.failAlways(undefined);
    log.look();
    expect(log.trouble()).toMatchObject({ code: "DISK_FULL" });
    log.look();
    expect(log.trouble()).toBeUndefined();
  });

  it("a mistake of one caller is no trouble of the log", () => {
    const log = newLog();
    log.append([draft("turn_started", { turn: 1 }, { id: "key" })]);
    expect(codeOf(() => log.append([draft("turn_started", { turn: 2 }, { id: "key" })]))).toBe(
      "VERSION_CONFLICT",
    );
    expect(log.trouble()).toBeUndefined();
  });

  it("callers that wait for a file that another process holds are refused together, after one wait", async () => {
    const file = newFile();
    const log = newLog({ file });
    log.append([requested()]);
    const other = new SQLite(file);
    other.exec("BEGIN IMMEDIATE");
    const group = Array.from({ length: 200 }, (_, i) => log.commit([text(String(i))]));
    const answers = await Promise.allSettled(group);
    expect(
      answers.every((answer) => answer.status === "rejected" && answer.reason.code === "LOCK_HELD"),
    ).toBe(true);
    expect(new Set(answers.map((answer) => answer.status === "rejected" && answer.reason)).size).toBe(1);
    other.close();
    await log.commit([text("now")]);
    expect(log.head()).toBe(2);
  });
});

describe("a database that is deleted while it is open", () => {
  const settled = async (log: Store): Promise<void> => {
    for (let looks = 0; looks < 1_000 && log.trouble() !== undefined; looks++) {
      await new Promise((done) => setTimeout(done, 5));
      log.look();
    }
    expect(log.trouble()).toBeUndefined();
  };
  const filled = () => {
    const file = newFile();
    const log = newLog({ file });
    log.append([requested(), ...Array.from({ length: 500 }, (_, i) => text(`${i} ${"x".repeat(500)}`))]);
    return { file, log, wal: `${file}-wal`, shm: `${file}-shm` };
  };

  it.each([
    ["the database alone", [""]],
    ["the database with its -wal and -shm", ["", "-wal", "-shm"]],
    ["its -wal alone", ["-wal"]],
    ["its -shm alone", ["-shm"]],
  ])("(%s) acknowledges nothing, is put back, and goes on", async (_, suffixes) => {
    const { file, log } = filled();
    for (const suffix of suffixes) rmSync(`${file}${suffix}`);
    expect(codeOf(() => log.append([draft("worker_started", { clock })]))).toBe("STORE_FAILED");
    expect(log.head()).toBe(501);
    expect(log.readLines(0, 10).seqs).toHaveLength(10);
    log.look();
    await settled(log);
    expect(log.append([draft("worker_started", { clock })])[0]!.seq).toBe(502);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.written-back`)).toBe(false);
    log.close();
    expect(soundness(file)).toMatchObject({ ok: true, records: 502 });
  });

  it("and another one put in its place: neither is overwritten, and a person is asked", async () => {
    const { file, log } = filled();
    const backup = newFile();
    newLog({ file: backup }).close();
    rmSync(file);
    copyFileSync(backup, file);
    expect(codeOf(() => log.append([draft("worker_started", { clock })]))).toBe("STORE_FAILED");
    log.look();
    expect(log.trouble()?.message).toMatch(/^Another file is at /);
    expect(log.trouble()?.suggestion).toMatch(/Move the other file away/);
    renameSync(file, `${file}.other`);
    log.look();
    await settled(log);
    log.append([draft("worker_started", { clock })]);
    log.close();
    expect(soundness(file)).toMatchObject({ ok: true, records: 502 });
    expect(soundness(`${file}.other`)).toMatchObject({ ok: true, records: 0 });
  });

  it("and moved back before it is written back: it is the same one", async () => {
    const { file, log } = filled();
    renameSync(file, `${file}.moved`);
    log.look();
    renameSync(`${file}.moved`, file);
    await settled(log);
    log.append([draft("worker_started", { clock })]);
    log.close();
    expect(existsSync(`${file}.written-back`)).toBe(false);
    expect(soundness(file)).toMatchObject({ ok: true, records: 502 });
  });

  it("is found whole by the next open, where a crash came before it had its name again", async () => {
    const { file, log } = filled();
    // The files that a crash leaves: the whole copy, the old -wal, and no database.
    await new SQLite(file).backup(`${file}.written-back`);
    rmSync(file);
    log.close();
    expect(soundness(file)).toMatchObject({ ok: true, records: 501 });
    const both = newFile();
    openLog({ file: both }).close();
    copyFileSync(both, `${both}.written-back`);
    expect(codeOf(() => openLog({ file: both }))).toBe("STORE_FAILED");
  });
});

describe("a reader of another process that holds an old state", () => {
  it("lets the write-ahead log grow to its bound; then output waits, lifecycle goes on, and it is emptied when the reader goes", () => {
    const file = newFile();
    const log = newLog({ file, wal: { kept_bytes: 100_000, max_bytes: 1_000_000 } });
    log.append([requested()]);
    const reader = new SQLite(file, { readonly: true });
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM records").get();
    const size = () => statSync(`${file}-wal`).size;
    const block = Array.from({ length: 20 }, () => text("x".repeat(2_000)));
    let code: string | undefined;
    for (let i = 0; i < 1_000 && code === undefined; i++) {
      log.look();
      code = codeOf(() => log.append(block));
    }
    expect(code).toBe("LOCK_HELD");
    expect(size()).toBeGreaterThan(1_000_000);
    expect(size()).toBeLessThan(2_000_000);
    log.append([draft("worker_started", { clock })]);
    reader.exec("COMMIT");
    reader.close();
    log.look();
    expect(size()).toBe(0);
    const before = log.head();
    log.append(block);
    expect(log.head()).toBe(before + 20);
    expect(log.check()).toMatchObject({ ok: true });
  });
});
