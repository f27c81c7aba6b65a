/** The blackboard of both doors of the library. */
import { Effect, Stream } from "effect";
import { expect, test } from "vitest";
import { HoldfastRuntime, layer } from "../../src/library/effect.ts";
import { HoldfastError } from "../../src/library/index.ts";
import { collect, openRuntime, stateDirectory } from "./support.ts";

test("a program posts, claims, extends and finishes an item; what it claims outlives it", async () => {
  const stateDir = stateDirectory();
  const runtime = await openRuntime(stateDir);
  const { item_id: id } = await runtime.blackboard.post({
    title: "Fix the login",
    tags: ["rust"],
    data: { n: 1 },
  });
  const { token } = await runtime.blackboard.claim({ tags: ["rust"], lease_ms: 3_600_000 });
  expect((await runtime.blackboard.search({ text: "log*" })).items).toMatchObject([
    { item_id: id, state: "claimed" },
  ]);
  await runtime.close();

  const next = await openRuntime(stateDir);
  await expect(next.blackboard.claim({ id })).rejects.toMatchObject({ code: "ITEM_CLAIMED" });
  expect(await next.blackboard.claim({ id, token })).toMatchObject({ token, effect: "updated" });
  expect(await next.blackboard.release({ id, token, done: true })).toMatchObject({ effect: "deleted" });
  expect((await next.blackboard.list()).items).toEqual([]);
  const records = await collect(next.blackboard.watch({ from: 0, follow: false }));
  expect(records.map(({ type }) => type)).toEqual(["bb_posted", "bb_claimed", "bb_extended", "bb_released"]);
});

test("mistakes reject with a HoldfastError, and nothing is done", async () => {
  const { blackboard } = await openRuntime();
  const mistakes = [
    blackboard.post({}),
    blackboard.post({ title: "a", ns: "no/slash" }),
    blackboard.post({ title: "a", tags: ["two words"] }),
    blackboard.claim({ id: "A", ns: "b" }),
    blackboard.claim({ token: 1 }),
    blackboard.search({ text: "" }),
  ];
  for (const mistake of await Promise.allSettled(mistakes))
    expect(mistake).toMatchObject({ status: "rejected", reason: { code: "INVALID_REQUEST" } });
  await expect(blackboard.release({ id: "nothing", token: 1 })).rejects.toBeInstanceOf(HoldfastError);
  expect((await blackboard.list()).items).toEqual([]);
});

test("an Effect program leaves out what has a default", async () => {
  const types = await Effect.runPromise(
    Effect.provide(
      Effect.gen(function* () {
        const { blackboard } = yield* HoldfastRuntime;
        yield* blackboard.post({ title: "one" });
        const { item_id: id, token } = yield* blackboard.claim();
        yield* blackboard.release({ id, token });
        expect(yield* Effect.flip(blackboard.post({}))).toMatchObject({ code: "INVALID_REQUEST" });
        expect((yield* blackboard.list()).items).toHaveLength(1);
        const records = yield* Stream.runCollect(blackboard.watch({ from: 0, follow: false }));
        return records.map(({ type }) => type);
      }),
      layer({ stateDir: stateDirectory() }),
    ),
  );
  expect(types).toEqual(["bb_posted", "bb_claimed", "bb_released"]);
});
