/** Tokens with names by both doors of the library: the secret is made in the program, and known nowhere else. */
import { Effect } from "effect";
import { expect, test } from "vitest";
import { HoldfastRuntime, layer } from "../../src/library/effect.ts";
import { openRuntime, stateDirectory } from "./support.ts";

test("a program makes, lists and revokes a token, which outlives it", async () => {
  const stateDir = stateDirectory();
  const runtime = await openRuntime(stateDir);
  const made = await runtime.tokens.create({ name: "ci", expires_ms: 60_000 });
  expect(made).toMatchObject({ name: "ci", effect: "created", expired: false, by: "user" });
  expect(made.secret).toMatch(/^hft_[0-9a-f]{64}$/);
  await runtime.close();

  const next = await openRuntime(stateDir);
  const listed = await next.tokens.list();
  expect(listed).toMatchObject({ tokens: [{ name: "ci", token_id: made.token_id }] });
  expect(JSON.stringify(listed)).not.toContain(made.secret);
  await expect(next.tokens.create({ name: "ci" })).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
  expect(await next.tokens.revoke("ci")).toMatchObject({ effect: "deleted" });
  await expect(next.tokens.revoke("ci")).rejects.toMatchObject({ code: "TOKEN_NOT_FOUND" });
});

test("mistakes reject with INVALID_REQUEST", async () => {
  const { tokens } = await openRuntime();
  const mistakes = [{ name: "a b" }, { name: "" }, { name: "a", expires_ms: 0 }, { name: "a", more: 1 }];
  for (const asked of mistakes)
    await expect(tokens.create(asked as never)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  expect(await tokens.list()).toEqual({ tokens: [] });
});

test("holdfast/effect has the same calls", async () => {
  const program = Effect.gen(function* () {
    const { tokens } = yield* HoldfastRuntime;
    const { secret } = yield* tokens.create({ name: "ci" });
    const there = yield* tokens.list();
    yield* tokens.revoke("ci");
    return { secret, there };
  });
  const { secret, there } = await Effect.runPromise(
    program.pipe(Effect.provide(layer({ stateDir: stateDirectory() }))),
  );
  expect(secret).toMatch(/^hft_/);
  expect(there.tokens).toMatchObject([{ name: "ci", expires_at: null }]);
});
