import type { Database } from "better-sqlite3";
import { afterEach, describe, expect, it } from "vitest";
import { INSERT_ROWS, RECENT_LINES_MAX_RECORDS, TRANSACTION_MAX_RECORDS } from "../../../src/base/limits.ts";
import { newId } from "../../../src/protocol/ids.ts";
import { DAEMON_STREAM, type RecordDraft, workerStream } from "../../../src/protocol/records.ts";
import type { Commit } from "../../../src/store/event-log.ts";
import { type AppendBatch, Writer } from "../../../src/store/sqlite/append.ts";
import { connect } from "../../../src/store/sqlite/connection.ts";
import { storeError } from "../../../src/store/sqlite/failure.ts";
import { projections } from "../../../src/store/sqlite/projections/projection.ts";
import { rebuild } from "../../../src/store/sqlite/rebuild.ts";
import { makeRecent } from "../../../src/store/sqlite/recent.ts";
import { clock, codeOf, draft, newFile, newLog, requested, text, V, W } from "./support.ts";

describe("an append", () => {
  it("numbers records densely in the log and in each stream, and gives them the time of the transaction", () => {
    const log = newLog({ now: () => Date.UTC(2026, 10, 20, 12) });
    const stop: RecordDraft = { type: "daemon_stopped", stream: DAEMON_STREAM, payload: { reason: "test" } };
    const records = [
      ...log.append([requested(), requested(V), text("a")]),
      ...log.append([text("b", V), stop]),
    ];
    expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(records.map(({ version }) => version)).toEqual([1, 1, 2, 2, 1]);
    expect(records[0]!.recorded_at).toBe("2026-11-20T12:00:00.000Z");
    expect(log.head()).toBe(5);
    expect(log.read(0, 10).records).toEqual(JSON.parse(JSON.stringify(records)));
  });

  it("goes on numbering the stream of a worker that has ended, in the same transaction and in later ones", () => {
    const log = newLog();
    const ended = draft("worker_ended", { state: "completed", reason: "test" });
    log.append([requested(), ended, text("late")]);
    log.append([text("again")]);
    log.append([ended, requested(V)]);
    log.append([text("more"), text("more", V)]);
    const versions = log.stream(W).map(({ version }) => version);
    expect(versions).toEqual([1, 2, 3, 4, 5, 6]);
    expect(log.stream(V).map(({ version }) => version)).toEqual([1, 2]);
  });

  it("relates a record to its worker, and says itself as its cause where none is known", () => {
    const log = newLog();
    const [first, second, third] = log.append([
      requested(),
      { ...text("a"), correlation_id: "request-1", causation_id: "cause-1" },
      { type: "daemon_stopped", stream: DAEMON_STREAM, payload: { reason: "test" } },
    ]);
    expect(first).toMatchObject({ correlation_id: W, causation_id: first!.id });
    expect(second).toMatchObject({ correlation_id: "request-1", causation_id: "cause-1" });
    expect(third).toMatchObject({ correlation_id: third!.id, causation_id: third!.id });
  });

  it("of an id that the log has returns the stored record and appends nothing", () => {
    const log = newLog();
    const [stored] = log.append([draft("session_started", { session_id: "s" }, { id: "key-1" })]);
    const again = log.append([draft("session_started", { session_id: "s" }, { id: "key-1" }), text("after")]);
    expect(again.map(({ seq }) => seq)).toEqual([stored!.seq, 2]);
    expect(again[0]).toEqual(stored);
    expect(log.byId("key-1")).toEqual(stored);
    expect(log.byId("key-2")).toBeUndefined();
  });

  it("takes the same fact with another clock stamp as the same fact", () => {
    const log = newLog();
    const at = (mono_ns: string) =>
      draft("worker_started", { clock: { boot_id: "b", mono_ns } }, { id: "key-1" });
    log.append([at("1")]);
    expect(log.append([at("2")])[0]).toMatchObject({ seq: 1, payload: { clock: { mono_ns: "1" } } });
  });

  it.each([
    ["payload", draft("session_started", { session_id: "other" }, { id: "key-1" })],
    ["type", draft("worker_started", { clock }, { id: "key-1" })],
    ["stream", draft("session_started", { session_id: "s" }, { id: "key-1", worker: V })],
    ["incarnation", draft("session_started", { session_id: "s" }, { id: "key-1", incarnation: 2 })],
  ])("of a taken id with another %s is a VERSION_CONFLICT, and nothing of it is in the log", (_, other) => {
    const log = newLog();
    log.append([draft("session_started", { session_id: "s" }, { id: "key-1" })]);
    expect(codeOf(() => log.append([text("before"), other]))).toBe("VERSION_CONFLICT");
    expect(log.head()).toBe(1);
    expect(log.append([text("next")])[0]).toMatchObject({ seq: 2, version: 2 });
  });

  it("finds an id that is twice in the same batch", () => {
    const log = newLog();
    const once = draft("session_started", { session_id: "s" }, { id: "key-1" });
    expect(log.append([once, once]).map(({ seq }) => seq)).toEqual([1, 1]);
    expect(log.head()).toBe(1);
  });

  it("keeps a checkpoint with its records, replaces it, and drops it with the incarnation", () => {
    const log = newLog();
    const at = (offset: number, stream: "stdout" | "stderr" = "stdout") => ({
      worker_id: W,
      incarnation: 1,
      stream,
      offset,
      skipped_bytes: 0,
      decoder_version: 1,
      decoder_state: `{"n":${offset}}`,
    });
    log.append([text("a")], { checkpoint: at(10) });
    log.append([text("b")], { checkpoint: at(20) });
    log.append([], { checkpoint: at(5, "stderr") });
    expect(log.checkpoints(W, 1)).toEqual([at(5, "stderr"), at(20)]);
    expect(log.checkpoints(W, 2)).toEqual([]);
    log.append([draft("worker_ended", { state: "completed", reason: "done" })], {
      drop_checkpoints: { worker_id: W, incarnation: 1 },
    });
    expect(log.checkpoints(W, 1)).toEqual([]);
  });

  it("that fails leaves the checkpoint where it was", () => {
    const log = newLog();
    const checkpoint = {
      worker_id: W,
      incarnation: 1,
      stream: "stdout" as const,
      offset: 10,
      skipped_bytes: 0,
      decoder_version: 1,
      decoder_state: "{}",
    };
    log.append([draft("session_started", { session_id: "s" }, { id: "key-1" })], { checkpoint });
    const conflict = draft("session_started", { session_id: "t" }, { id: "key-1" });
    expect(codeOf(() => log.append([conflict], { checkpoint: { ...checkpoint, offset: 20 } }))).toBe(
      "VERSION_CONFLICT",
    );
    expect(log.checkpoints(W, 1)).toEqual([checkpoint]);
  });
});

describe("commit", () => {
  it("resolves with the records of each caller, and a conflict of one caller is its own", async () => {
    const log = newLog();
    log.append([draft("session_started", { session_id: "s" }, { id: "key-1" })]);
    const results = await Promise.allSettled([
      log.commit([text("a"), text("b")]),
      log.commit([text("lost"), draft("session_started", { session_id: "other" }, { id: "key-1" })]),
      log.commit([text("c", V)]),
    ]);
    expect(results[0]).toMatchObject({
      status: "fulfilled",
      value: [
        { seq: 2, version: 2 },
        { seq: 3, version: 3 },
      ],
    });
    expect(results[1]).toMatchObject({ status: "rejected", reason: { code: "VERSION_CONFLICT" } });
    expect(results[2]).toMatchObject({ status: "fulfilled", value: [{ seq: 4, version: 1 }] });
    expect(log.check()).toMatchObject({ ok: true, records: 4, head: 4 });
  });

  it("is not overtaken by an append that comes after it", async () => {
    const log = newLog();
    const queued = log.commit([text("first")]);
    expect(log.append([text("second")])[0]!.seq).toBe(2);
    expect((await queued)[0]!.seq).toBe(1);
  });

  it("is written before the log closes", async () => {
    const file = newFile();
    const log = newLog({ file });
    const queued = log.commit([text("last words")]);
    log.close();
    await queued;
    expect(newLog({ file }).head()).toBe(1);
  });
});

describe("listeners", () => {
  it("are told the head and the streams of each commit, until they stop", () => {
    const log = newLog();
    const commits: Commit[] = [];
    const stop = log.onCommit((commit) => commits.push(commit));
    log.append([text("a"), text("b")]);
    log.append([{ type: "daemon_stopped", stream: DAEMON_STREAM, payload: { reason: "test" } }]);
    stop();
    log.append([text("d")]);
    expect(commits).toEqual([
      { head: 2, streams: new Set([workerStream(W)]) },
      { head: 3, streams: new Set([DAEMON_STREAM]) },
    ]);
  });

  it("are told that the streams are not known if memory does not keep the records", () => {
    const log = newLog();
    const commits: Commit[] = [];
    log.onCommit((commit) => commits.push(commit));
    log.append(Array.from({ length: RECENT_LINES_MAX_RECORDS + 1 }, () => text("a")));
    expect(commits).toEqual([{ head: RECENT_LINES_MAX_RECORDS + 1, streams: undefined }]);
  });

  it("that listen anew while they are told are told once a commit", () => {
    const log = newLog();
    let told = 0;
    const listen = (): void => {
      const stop = log.onCommit(() => {
        told += 1;
        stop();
        if (told < 100) listen();
      });
    };
    listen();
    log.append([text("a")]);
    expect(told).toBe(1);
    log.append([text("b")]);
    expect(told).toBe(2);
  });

  it("that throw change nothing for the writer or the others", () => {
    const log = newLog();
    let told = 0;
    log.onCommit(() => {
      throw new Error("listener");
    });
    log.onCommit(() => told++);
    expect(log.append([text("a")])[0]!.seq).toBe(1);
    expect(told).toBe(1);
  });
});

describe("a transaction that fails at any step", () => {
  let db: Database;
  afterEach(() => void db.close());

  const fixture = (failAt: () => boolean) => {
    ({ db } = connect({ file: newFile() }, newId));
    rebuild(db);
    const folds = projections(db);
    const projection = {
      ...folds,
      fold: (record: Parameters<typeof folds.fold>[0]) => {
        if (failAt()) throw new Error("injected");
        folds.fold(record);
      },
    };
    const recent = makeRecent();
    return {
      db,
      recent,
      writer: new Writer({ db, projection, recent, now: Date.now, newId, onDurable: () => undefined }),
    };
  };
  const caller = (...drafts: RecordDraft[]): AppendBatch => ({ drafts, options: undefined });

  it("leaves nothing behind, and the next one takes up its numbers", () => {
    let calls = 0;
    let failing = 0;
    const { db, recent, writer } = fixture(() => ++calls === failing);
    writer.write([caller(requested())]);
    const batch = [caller(requested(V), text("a", V)), caller(text("b"), text("c"))];
    for (let n = 1; n <= 4; n++) {
      [calls, failing] = [0, n];
      expect(() => writer.write(batch)).toThrow("injected");
      expect(writer.head()).toBe(1);
      expect(recent.at(2)).toBeUndefined();
      expect(db.prepare("SELECT count(*) FROM p_workers").pluck().get()).toBe(1);
    }
    failing = 0;
    writer.write([caller(requested("other"))]);
    expect(recent.at(3)).toBeUndefined();
    expect(db.prepare("SELECT last_seq FROM p_workers WHERE id = ?").pluck().get(W)).toBe(1);
    expect(
      writer
        .write(batch)
        .flat()
        .map(({ seq, version }) => [seq, version]),
    ).toEqual([
      [3, 1],
      [4, 2],
      [5, 2],
      [6, 3],
    ]);
  });

  it("for a full disk is told as DISK_FULL, and goes on when there is room", () => {
    const { db, writer } = fixture(() => false);
    const big = caller(text("x".repeat(60_000)));
    writer.write([caller(requested())]);
    const pages = db.pragma("page_count", { simple: true }) as number;
    db.pragma(`max_page_count = ${pages + 100}`);
    let code: string | undefined;
    let acknowledged = 1;
    for (let i = 0; i < 100 && code === undefined; i++) {
      code = codeOf(() => {
        try {
          writer.write([big]);
          acknowledged++;
        } catch (cause) {
          throw storeError(cause);
        }
      });
    }
    expect(code).toBe("DISK_FULL");
    expect(writer.head()).toBe(acknowledged);
    expect(db.prepare("SELECT count(*) FROM records").pluck().get()).toBe(acknowledged);
    db.pragma("max_page_count = 100000");
    expect(writer.write([big])[0]![0]!.seq).toBe(acknowledged + 1);
  });

  it("syncs for lifecycle records and not for output", () => {
    const { db, writer } = fixture(() => false);
    const mode = () => db.pragma("synchronous", { simple: true });
    writer.write([caller(text("a"))]);
    expect(mode()).toBe(1);
    writer.write([caller(text("b")), caller(draft("worker_started", { clock }))]);
    expect(mode()).toBe(2);
    writer.write([caller(text("c"))]);
    expect(mode()).toBe(1);
    writer.write([{ drafts: [text("d")], options: { durable: true } }]);
    expect(mode()).toBe(2);
  });

  it("holds as many records as are handed over", () => {
    const { db, writer } = fixture(() => false);
    for (const count of [1, INSERT_ROWS - 1, INSERT_ROWS, INSERT_ROWS + 1, TRANSACTION_MAX_RECORDS * 2]) {
      const before = writer.head();
      writer.write([caller(...Array.from({ length: count }, (_, i) => text(String(i))))]);
      expect(writer.head()).toBe(before + count);
      expect(db.prepare("SELECT max(seq), count(*) FROM records").raw().get()).toEqual([
        before + count,
        before + count,
      ]);
    }
  });
});
