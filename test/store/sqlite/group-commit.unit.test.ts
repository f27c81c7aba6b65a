import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { COMMIT_QUEUE_MAX_RECORDS, TRANSACTION_MAX_RECORDS } from "../../../src/base/limits.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../../src/protocol/records.ts";
import type { AppendBatch } from "../../../src/store/sqlite/append.ts";
import { GroupCommit } from "../../../src/store/sqlite/group-commit.ts";
import { clock, draft, text } from "./support.ts";

/** Notes the words of each transaction; a draft that says "bad" fails the transaction it is in. */
const fixture = () => {
  const transactions: string[][] = [];
  const wordsOf = (record: RecordDraft) =>
    record.type === "agent.event" ? record.payload.text! : record.type;
  const write = (callers: readonly AppendBatch[]) => {
    const words = callers.flatMap(({ drafts }) => drafts.map(wordsOf));
    if (words.includes("bad")) throw new HoldfastError("VERSION_CONFLICT", "bad");
    transactions.push(words);
    return callers.map(({ drafts }) => drafts as readonly LogRecord[]);
  };
  const group = new GroupCommit(write);
  return {
    transactions,
    group,
    commit: (...drafts: RecordDraft[]) => group.commit({ drafts, options: undefined }),
  };
};

describe("group commit", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("joins what concurrent callers bring in one turn of the event loop, in the order they came", async () => {
    const { transactions, commit } = fixture();
    const done = Promise.all([
      commit(text("a")),
      commit(draft("worker_started", { clock })),
      commit(text("c")),
    ]);
    expect(transactions).toEqual([]);
    await vi.advanceTimersByTimeAsync(0);
    expect(transactions).toEqual([["a", "worker_started", "c"]]);
    expect(await done).toMatchObject([
      [{ payload: { text: "a" } }],
      [{ type: "worker_started" }],
      [{ payload: { text: "c" } }],
    ]);
  });

  it("makes no caller wait for others", async () => {
    const { transactions, commit } = fixture();
    await Promise.all([commit(text("a")), vi.advanceTimersByTimeAsync(0)]);
    await Promise.all([commit(text("b")), vi.advanceTimersByTimeAsync(0)]);
    expect(transactions).toEqual([["a"], ["b"]]);
  });

  it("fails only the caller whose drafts are wrong", async () => {
    const { transactions, commit } = fixture();
    const done = Promise.allSettled([commit(text("a")), commit(text("x"), text("bad")), commit(text("c"))]);
    await vi.runAllTimersAsync();
    expect((await done).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(transactions).toEqual([["a"], ["c"]]);
  });

  it("keeps a transaction within its bound, one a turn, but never cuts a caller's records apart", async () => {
    const { transactions, commit } = fixture();
    void commit(text("a"));
    void commit(...Array.from({ length: TRANSACTION_MAX_RECORDS + 1 }, () => text("b")));
    void commit(text("c"));
    await vi.runAllTimersAsync();
    expect(transactions.map(({ length }) => length)).toEqual([1, TRANSACTION_MAX_RECORDS + 1, 1]);
  });

  it("refuses what its queue cannot hold with QUEUE_FULL, and takes more when it has room", async () => {
    const { commit } = fixture();
    const full = commit(...Array.from({ length: COMMIT_QUEUE_MAX_RECORDS }, () => text("a")));
    await expect(commit(text("b"))).rejects.toMatchObject({ code: "QUEUE_FULL" });
    await vi.runAllTimersAsync();
    await full;
    const again = commit(text("b"));
    await vi.runAllTimersAsync();
    await expect(again).resolves.toHaveLength(1);
  });

  const many = (count: number, word: string) => Array.from({ length: count }, () => text(word));

  it("lets all others go before a flood, and each flood in its turn", async () => {
    const { transactions, group, commit } = fixture();
    for (const word of ["flood-1", "flood-2"])
      void group.commit({ drafts: many(TRANSACTION_MAX_RECORDS - 1, word), options: { flood: true } });
    void commit(text("a"));
    void commit(text("b"));
    await vi.advanceTimersByTimeAsync(0);
    expect(transactions.map((words) => [...new Set(words)])).toEqual([["a", "b"]]);
    void commit(text("c"));
    void commit(text("d"));
    await vi.runAllTimersAsync();
    expect(transactions.map((words) => [...new Set(words)])).toEqual([
      ["a", "b"],
      ["flood-1", "c"],
      ["d", "flood-2"],
    ]);
  });

  it("writes no two floods at once, so that others wait for one batch alone", async () => {
    const { transactions, group, commit } = fixture();
    for (const word of ["flood-1", "flood-2"])
      void group.commit({ drafts: [text(word)], options: { flood: true } });
    void commit(text("a"));
    await vi.runAllTimersAsync();
    expect(transactions).toEqual([["a", "flood-1"], ["flood-2"]]);
  });

  it("never refuses a flood its one place, nor others theirs because of floods", async () => {
    const { group, commit } = fixture();
    const floods = Array.from({ length: 50 }, () =>
      group.commit({ drafts: many(500, "f"), options: { flood: true } }),
    );
    const other = commit(text("a"));
    await vi.runAllTimersAsync();
    await expect(other).resolves.toHaveLength(1);
    expect(await Promise.all(floods)).toHaveLength(50);
  });

  it("counts a checkpoint without records, so that those are bounded too", async () => {
    const { transactions, group } = fixture();
    const done = group.commit({ drafts: [], options: {} });
    await vi.runAllTimersAsync();
    await done;
    expect(transactions).toEqual([[]]);
  });

  it("drained, has written all that waited", async () => {
    const { transactions, group, commit } = fixture();
    const done = [commit(text("a")), commit(text("b"))];
    group.drain();
    expect(transactions).toEqual([["a", "b"]]);
    await Promise.all(done);
    await vi.runAllTimersAsync();
    expect(transactions).toHaveLength(1);
  });
});
