import { describe, expect, it } from "vitest";
import { READ_PAGE_MAX_CHARS, READ_SCAN_MAX_RECORDS } from "../../../src/base/limits.ts";
import { DAEMON_STREAM, type RecordDraft, workerStream } from "../../../src/protocol/records.ts";
import type { RecordFilter } from "../../../src/store/event-log.ts";
import { openLog } from "../../../src/store/sqlite/log.ts";
import type { Store } from "../../../src/store/upkeep.ts";
import { clock, draft, newFile, newLog, requested, text, V, W } from "./support.ts";

const stopped: RecordDraft = { type: "daemon_stopped", stream: DAEMON_STREAM, payload: { reason: "r" } };
const story = [
  requested(),
  requested(V),
  text("1"),
  text("2", V, "ToolCall"),
  stopped,
  text("3", W, "ToolCall"),
  draft("worker_started", { clock }),
  text("4", V),
];

/** The same records to be read from memory, and, the log opened again, from the file. */
const places = (): [string, Store][] => {
  const file = newFile();
  const fresh = openLog({ file });
  fresh.append(story);
  fresh.close();
  const live = newLog();
  live.append(story);
  return [
    ["file", newLog({ file })],
    ["memory", live],
  ];
};

describe("a read behind a cursor", () => {
  it("gives what follows the cursor, page by page, from the file as from memory", () => {
    for (const [place, log] of places()) {
      expect(log.readLines(0, 3).seqs, place).toEqual([1, 2, 3]);
      expect(log.readLines(3, 3), place).toMatchObject({ seqs: [4, 5, 6], scanned: 6 });
      expect(log.readLines(6, 3), place).toMatchObject({ seqs: [7, 8], scanned: 8 });
      expect(log.readLines(8, 3), place).toEqual({ lines: [], seqs: [], scanned: 8 });
      expect(log.readLines(99, 3), place).toEqual({ lines: [], seqs: [], scanned: 99 });
    }
  });

  it("gives lines that are the records", () => {
    for (const [place, log] of places())
      expect(
        log.readLines(0, 99).lines.map((line) => JSON.parse(line)),
        place,
      ).toEqual(log.read(0, 99).records);
  });

  const cases: [string, RecordFilter, number[]][] = [
    ["nothing asked", {}, [1, 2, 3, 4, 5, 6, 7, 8]],
    ["one worker", { worker_ids: [W] }, [1, 3, 6, 7]],
    ["several workers", { worker_ids: [W, V] }, [1, 2, 3, 4, 6, 7, 8]],
    ["no worker", { worker_ids: [] }, []],
    ["one stream by its name", { streams: [workerStream(W)] }, [1, 3, 6, 7]],
    ["streams and workers", { streams: [workerStream(W)], worker_ids: [V] }, [1, 2, 3, 4, 6, 7, 8]],
    ["a stream and types", { streams: [workerStream(W)], types: ["worker_started"] }, [7]],
    ["an unknown stream", { streams: ["bb:nowhere"] }, []],
    ["types", { types: ["worker_started", "daemon_stopped"] }, [5, 7]],
    ["kinds", { kinds: ["ToolCall"] }, [4, 6]],
    ["types and kinds", { types: ["worker_started", "agent.event"], kinds: ["TextOutput"] }, [3, 7, 8]],
    ["one worker and types", { worker_ids: [W], types: ["worker_started"] }, [7]],
    ["one worker and kinds", { worker_ids: [V], kinds: ["ToolCall"] }, [4]],
    [
      "several workers, types and kinds",
      { worker_ids: [W, V], types: ["worker_spawn_requested"], kinds: ["ToolCall"] },
      [1, 2, 4, 6],
    ],
    ["an unknown worker", { worker_ids: ["nobody"] }, []],
  ];
  it.each(cases)(
    "with a filter for %s gives those alone, from any cursor, and has scanned to the head",
    (_, filter, seqs) => {
      for (const [place, log] of places())
        for (let after = 0; after <= 8; after++) {
          const page = log.readLines(after, 99, filter);
          expect(page.seqs, `${place} after ${after}`).toEqual(seqs.filter((seq) => seq > after));
          expect(page.scanned, `${place} after ${after}`).toBe(8);
        }
    },
  );

  it.each(cases)(
    "with a filter for %s misses and repeats nothing, one record at a time",
    (_, filter, seqs) => {
      for (const [place, log] of places()) {
        const got: number[] = [];
        let after = 0;
        while (after < log.head()) {
          const page = log.readLines(after, 1, filter);
          got.push(...page.seqs);
          expect(page.scanned).toBeGreaterThan(after);
          after = page.scanned;
        }
        expect(got, place).toEqual(seqs);
      }
    },
  );

  it.each([
    ["one worker", { worker_ids: [V] }],
    ["a type", { types: ["worker_started" as const] }],
    ["one worker and a type", { worker_ids: [W], types: ["worker_exited" as const] }],
  ])(
    "that looks for %s in a long log comes back within its bound and is told how far it came",
    (_, filter: RecordFilter) => {
      const file = newFile();
      const writer = openLog({ file });
      const count = READ_SCAN_MAX_RECORDS * 2 + 10;
      writer.append(Array.from({ length: count }, (_, i) => text(String(i))));
      writer.append([text("far", V), draft("worker_started", { clock }), stopped]);
      writer.close();
      const log = newLog({ file });
      const scans = [0];
      const seqs: number[] = [];
      while (scans.at(-1)! < log.head()) {
        const page = log.readLines(scans.at(-1)!, 100, filter);
        seqs.push(...page.seqs);
        scans.push(page.scanned);
        expect(scans.length).toBeLessThan(5);
      }
      expect(seqs).toEqual(
        filter.worker_ids?.[0] === V
          ? [count + 1]
          : filter.types?.[0] === "worker_started"
            ? [count + 2]
            : [],
      );
      expect(scans.at(-1)).toBe(count + 3);
    },
  );

  it("goes over from the file to memory without a gap", () => {
    const file = newFile();
    const first = openLog({ file });
    first.append([text("1"), text("2")]);
    first.close();
    const log = newLog({ file });
    log.append([text("3"), text("4")]);
    const seen: number[] = [];
    for (let after = 0; after < log.head(); ) {
      const page = log.readLines(after, 1);
      seen.push(...page.seqs);
      after = page.scanned;
    }
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(log.readLines(1, 99).seqs).toEqual([2, 3, 4]);
  });
});

describe("the other reads", () => {
  it("give one worker's records of the types asked for, in order", () => {
    for (const [place, log] of places()) {
      expect(
        log.stream(W).map(({ seq }) => seq),
        place,
      ).toEqual([1, 3, 6, 7]);
      expect(
        log.stream(W, ["worker_started", "worker_spawn_requested"]).map(({ seq }) => seq),
        place,
      ).toEqual([1, 7]);
      expect(
        log.stream(W, ["worker_started", "agent.event"]).map(({ seq }) => seq),
        place,
      ).toEqual([3, 6, 7]);
      expect(log.stream("nobody"), place).toEqual([]);
    }
  });

  it("find the first record at or after an instant", () => {
    let now = 1_000;
    const log = newLog({ now: () => now });
    expect(log.seqAt(0)).toBe(1);
    for (now of [1_000, 2_000, 2_000, 3_000]) log.append([text("x")]);
    expect([0, 1_000, 1_001, 2_000, 3_000, 3_001].map((at) => log.seqAt(at))).toEqual([1, 1, 2, 2, 4, 5]);
  });
});

describe("a page of long records", () => {
  const lines = 40;
  const long = "x".repeat(60_000);
  /** Records one after another, so that the oldest have left the memory of the newest ones. */
  const fill = () => {
    const log = newLog();
    for (let n = 0; n < lines * 6; n++) log.append([text(`${n} ${long}`)]);
    return log;
  };

  it.each([
    ["from the file", 0, {}],
    ["of one worker", 0, { worker_ids: [W] }],
    ["by kind", 0, { kinds: ["TextOutput"] }],
    ["from memory", lines * 6 - 20, {}],
  ] as const)(
    "%s ends with the line that passes its bound, and the next page goes on after it",
    (_, from, filter) => {
      const log = fill();
      const first = log.readLines(from, 500, filter);
      expect(first.lines.join("").length).toBeGreaterThanOrEqual(READ_PAGE_MAX_CHARS);
      expect(first.lines.slice(0, -1).join("").length).toBeLessThan(READ_PAGE_MAX_CHARS);
      expect(first.scanned).toBe(first.seqs.at(-1));
      expect(log.readLines(first.scanned, 500, filter).seqs[0]).toBe(first.scanned + 1);
    },
  );
});
