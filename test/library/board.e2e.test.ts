/** Boards of both doors of the library. */
import { Effect, Stream } from "effect";
import { expect, test } from "vitest";
import { HoldfastRuntime, layer } from "../../src/library/effect.ts";
import { collect, openRuntime, stateDirectory } from "./support.ts";

test("a program fills a board, sets its dispatcher, and follows the cards to their ends", async () => {
  const { board } = await openRuntime();
  expect(
    await board.add([
      { id: 1, title: "one" },
      { id: "2", title: "two", body: "more" },
    ]),
  ).toEqual({
    board: "default",
    cards: [
      { issue_id: "1", effect: "created" },
      { issue_id: "2", effect: "created" },
    ],
    effect: "created",
  });
  const worker = { kind: "command", argv: ["sh", "-c", 'cat; echo "card $HOLDFAST_CARD"'] } as const;
  expect(await board.dispatch({ slots: 2, completed_lane: "Review", worker })).toMatchObject({
    effect: "created",
  });
  for await (const { type } of board.watch({ from: 0 }))
    if (type === "issue.handoff" && (await board.list()).lanes.Review === 2) break;
  const card = await board.show("2");
  expect(card).toMatchObject({ lane: "Review", attempt: 1, worker: { name: "2", status: "completed" } });
  expect(await board.done({ id: "2", reason: "looks good" })).toMatchObject({
    lane: "Done",
    effect: "updated",
  });
  const records = await collect(board.watch({ from: 0, follow: false }));
  expect(records.at(-1)).toMatchObject({ type: "issue.done", payload: { note: "looks good", by: "user" } });
});

test("mistakes reject with a HoldfastError, and nothing is done", async () => {
  const { board } = await openRuntime();
  const mistakes = [
    board.add([]),
    board.add([{ id: "two words", title: "a" }]),
    board.add([{ id: "A", title: " " }]),
    board.list({ board: "no/slash" }),
    board.dispatch({ slots: -1 }),
    board.dispatch({ slots: 1, worker: { kind: "command", argv: ["a"], restart: "permanent" } }),
  ];
  for (const mistake of await Promise.allSettled(mistakes))
    expect(mistake).toMatchObject({ status: "rejected", reason: { code: "INVALID_REQUEST" } });
  await expect(board.claim({ id: "nothing" })).rejects.toMatchObject({ code: "CARD_NOT_FOUND" });
  expect((await board.list()).cards).toEqual([]);
});

test("an Effect program leaves out what has a default", async () => {
  const seen = await Effect.runPromise(
    Effect.provide(
      Effect.gen(function* () {
        const { board } = yield* HoldfastRuntime;
        yield* board.add([{ id: "A", title: "a" }]);
        const { lane } = yield* board.claim({ id: "A" });
        const { effect } = yield* board.release({ id: "A" });
        const records = yield* Stream.runCollect(board.watch({ from: 0, follow: false }));
        return { lane, effect, types: [...records].map(({ type }) => type) };
      }),
      layer({ stateDir: stateDirectory() }),
    ),
  );
  expect(seen).toEqual({
    lane: "Claimed",
    effect: "updated",
    types: ["issue.discovered", "issue.claimed", "issue.released"],
  });
});
