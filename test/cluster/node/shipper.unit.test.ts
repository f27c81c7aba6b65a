/** The copy of a log on a store in memory, in time that the test moves: what is read when, and a copy that somebody takes away. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { expect } from "vitest";
import { CLUSTER_COPY_CHECK_MS, CLUSTER_SHIP_MAX_RECORDS } from "../../../src/base/limits.ts";
import { ship } from "../../../src/cluster/node/shipper.ts";
import type { ClusterStore, CopiedRecord } from "../../../src/cluster/store.ts";
import { MemoryStore } from "../support/memory-store.ts";

/** A promise needs a turn of the loop. */
const turns = Effect.promise(async () => {
  for (let at = 0; at < 20; at++) await new Promise((resolve) => setImmediate(resolve));
});

const setUp = (atFirst: number) =>
  Effect.gen(function* () {
    let size = atFirst;
    const copy = { store: new MemoryStore(), appends: [] as number[][], isHeld: false, seq: 0 };
    const gone: (() => void)[] = [];
    const append: ClusterStore["append"] = async (node, log, records) => {
      copy.appends.push(records.map(({ seq }) => seq));
      if (copy.isHeld && records.length > 0) await new Promise<void>((resolve) => gone.push(resolve));
      return copy.store.append(node, log, records);
    };
    const reads: number[] = [];
    const waiting: (() => void)[] = [];
    const read = (after: number, max: number): Effect.Effect<readonly CopiedRecord[]> =>
      Effect.suspend(() => {
        reads.push(after);
        const count = Math.min(max, size - after);
        if (count <= 0)
          return Effect.andThen(
            Effect.promise(() => new Promise<void>((go) => waiting.push(go))),
            () => {
              reads.pop();
              return read(after, max);
            },
          );
        return Effect.succeed(
          Array.from({ length: count }, (_, at) => ({ seq: after + 1 + at, run: null, text: "{}" })),
        );
      });
    yield* Effect.forkScoped(
      ship({
        node: "a",
        store: { append } as ClusterStore,
        log: { store_id: "s", epoch: "e", read },
        onCopied: (seq) => {
          copy.seq = seq;
        },
        report: (what) => expect.unreachable(what),
      }),
    );
    const letGo = () => {
      copy.isHeld = false;
      for (const go of gone.splice(0)) go();
    };
    const grow = (count: number) => {
      size += count;
      for (const go of waiting.splice(0)) go();
    };
    return { copy, reads, letGo, grow };
  });

it.effect("while a full page is being copied, the next one is read", () =>
  Effect.gen(function* () {
    const size = CLUSTER_SHIP_MAX_RECORDS * 2 + 5;
    const { copy, reads, letGo } = yield* setUp(size);
    copy.isHeld = true;
    yield* turns;
    expect(reads).toEqual([0, CLUSTER_SHIP_MAX_RECORDS]);
    letGo();
    yield* turns;
    expect(copy.seq).toBe(size);
    expect(copy.appends.map((seqs) => seqs.length)).toEqual([
      0,
      CLUSTER_SHIP_MAX_RECORDS,
      CLUSTER_SHIP_MAX_RECORDS,
      5,
    ]);
  }),
);

it.effect("records that are committed while a statement runs are read at once, and are one statement", () =>
  Effect.gen(function* () {
    const { copy, reads, letGo, grow } = yield* setUp(3);
    copy.isHeld = true;
    yield* turns;
    for (const count of [400, 400, CLUSTER_SHIP_MAX_RECORDS]) {
      grow(count);
      yield* turns;
    }
    // No more than a statement is read ahead.
    expect(reads).toEqual([0, 3, 403, 803]);
    letGo();
    yield* turns;
    expect(copy.appends.map((seqs) => seqs.length)).toEqual([0, 3, CLUSTER_SHIP_MAX_RECORDS, 800]);
    expect(copy.seq).toBe(CLUSTER_SHIP_MAX_RECORDS + 803);
  }),
);

it.effect("a copy that somebody took away from a log that stands still is made anew", () =>
  Effect.gen(function* () {
    const { copy, reads } = yield* setUp(3);
    yield* turns;
    expect([copy.seq, reads]).toEqual([3, [0, 3]]);
    copy.store = new MemoryStore();
    yield* TestClock.adjust(CLUSTER_COPY_CHECK_MS);
    yield* turns;
    expect([copy.seq, reads]).toEqual([3, [0, 3, 0, 3]]);
    expect(copy.appends).toEqual([[], [1, 2, 3], [], [1, 2, 3]]);
  }),
);

it.effect("a log that stands still is read once, and its copy is asked for now and then", () =>
  Effect.gen(function* () {
    const { copy, reads } = yield* setUp(3);
    yield* turns;
    for (let at = 0; at < 3; at++) {
      yield* TestClock.adjust(CLUSTER_COPY_CHECK_MS);
      yield* turns;
    }
    expect(reads).toEqual([0, 3]);
    expect(copy.appends).toEqual([[], [1, 2, 3], [], [], []]);
  }),
);
