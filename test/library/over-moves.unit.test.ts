/** A program's watch of a placed worker goes on in the copy where the run of this machine ends. */
import { Effect, Stream } from "effect";
import { expect, test } from "vitest";
import type { RuntimeCalls } from "../../src/library/calls.ts";
import { watchOverMoves } from "../../src/library/over-moves.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";

const HERE = ["here 1", "here 2"];
const THERE = ["there 1", "there 2", "there 3"];

const recordsOf = (ids: readonly string[]) =>
  ids.map((id) => ({ id, type: "worker_heartbeat", recorded_at: "2026-11-30T00:00:00.000Z" }));

/** `train` has ended here, ran on another node, and was killed there. The database fails at the first `away` calls. */
const nodeOf = (away = 0): RuntimeCalls => {
  let failing = away;
  const atDatabase = <Answer>(answer: Answer): Effect.Effect<Answer, HoldfastError> =>
    Effect.suspend(() => {
      failing -= 1;
      return failing >= 0
        ? Effect.fail(new HoldfastError("UNAVAILABLE", "The database is away."))
        : Effect.succeed(answer);
    });
  const placed = { name: "train", id: "THERE", desired: "killed", node: null, node_state: null, last: null };
  const node: unknown = {
    info: () =>
      Effect.succeed({ id: "HERE", name: "train", state: "failed", spec: { placed: { worker: "train" } } }),
    watch: ({ tail = HERE.length }: { readonly tail?: number }) =>
      Stream.fromIterable(recordsOf(HERE).slice(-tail)),
    elsewhere: () => atDatabase({ workers: [placed] }),
    copied: () => atDatabase({ records: recordsOf(THERE), place: 3, next: null }),
  };
  return node as RuntimeCalls;
};

const watched = async (node: RuntimeCalls, query: { readonly tail?: number } = {}) => {
  const all = watchOverMoves(node, { ids: ["train"], follow: false, ...query });
  return [...(await Effect.runPromise(Stream.runCollect(all)))].map(({ id }) => id);
};

test("its later runs follow", async () => {
  expect(await watched(nodeOf())).toEqual([...HERE, ...THERE]);
});

test("they follow, too, where the database is away just as the run here has ended", async () => {
  expect(await watched(nodeOf(2))).toEqual([...HERE, ...THERE]);
});

test("`tail` cuts what the log here had, and no record of a later run", async () => {
  expect(await watched(nodeOf(), { tail: 1 })).toEqual([HERE[1], ...THERE]);
});
