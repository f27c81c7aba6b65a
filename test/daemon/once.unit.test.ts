import { Deferred, Effect } from "effect";
import { describe, expect, it } from "vitest";
import { IDEMPOTENCY_KEYS_MAX } from "../../src/base/limits.ts";
import { Once } from "../../src/daemon/once.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { success } from "../../src/protocol/outcome.ts";

const asked = { name: "agent/restart", ids: ["a"] };
const counted = () => {
  let times = 0;
  const effect = Effect.sync(() => {
    times += 1;
    return success({ results: [{ id: "a", effect: "updated" }], times });
  });
  return { effect, times: () => times };
};

describe("a request with an idempotency key", () => {
  it("is done once; a repeat gets the first answer as a noop", async () => {
    const [once, { effect, times }] = [new Once(), counted()];
    const first = await Effect.runPromise(once.run("k", asked, effect));
    const again = await Effect.runPromise(once.run("k", asked, effect));
    expect(times()).toBe(1);
    expect(first.value).toMatchObject({ results: [{ effect: "updated" }] });
    expect(again.value).toMatchObject({ effect: "noop", results: [{ id: "a", effect: "noop" }], times: 1 });
  });

  it("that is repeated while the first is at work waits for its answer", async () => {
    const [once, go] = [new Once(), Deferred.makeUnsafe<void>()];
    const { effect, times } = counted();
    const slow = Effect.andThen(Deferred.await(go), effect);
    const both = Promise.all([1, 2].map(() => Effect.runPromise(once.run("k", asked, slow))));
    await Effect.runPromise(Deferred.succeed(go, undefined));
    expect((await both).map(({ value }) => value!.times)).toEqual([1, 1]);
    expect(times()).toBe(1);
  });

  it("is done each time under another key, and without one", async () => {
    const [once, { effect, times }] = [new Once(), counted()];
    for (const key of ["a", "b", undefined, undefined]) await Effect.runPromise(once.run(key, asked, effect));
    expect(times()).toBe(4);
  });

  it("that asks for something else is a conflict, and does nothing", async () => {
    const [once, { effect, times }] = [new Once(), counted()];
    await Effect.runPromise(once.run("k", asked, effect));
    const other = once.run("k", { ...asked, ids: ["b"] }, effect);
    expect(await Effect.runPromise(Effect.flip(other))).toMatchObject({ code: "VERSION_CONFLICT" });
    expect(times()).toBe(1);
  });

  it("that failed may be tried again under its key", async () => {
    const [once, { effect, times }] = [new Once(), counted()];
    const failing = Effect.fail(new HoldfastError("WORKER_NOT_FOUND", "There is none."));
    await Effect.runPromise(Effect.flip(once.run("k", asked, failing)));
    await Effect.runPromise(once.run("k", asked, effect));
    expect(times()).toBe(1);
  });

  it("is forgotten once so many others have come", async () => {
    const [once, { effect, times }] = [new Once(), counted()];
    await Effect.runPromise(once.run("first", asked, effect));
    for (let n = 0; n < IDEMPOTENCY_KEYS_MAX; n++) await Effect.runPromise(once.run(`k${n}`, asked, effect));
    const before = times();
    await Effect.runPromise(once.run("first", asked, effect));
    expect(times()).toBe(before + 1);
  });
});
