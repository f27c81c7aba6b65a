import { expect, it } from "vitest";
import { MOVES } from "../../../src/control/board/decide.ts";
import { refusalError } from "../../../src/control/board/refusals.ts";
import { CARD_LANES } from "../../../src/protocol/words.ts";
import { Subject, WAY_TO } from "./support.ts";

const verbs = Object.keys(MOVES) as (keyof typeof MOVES)[];

it.each(CARD_LANES)("a refused move from %s says the lane and a next step", (lane) => {
  const card = new Subject().takeAll(...WAY_TO[lane]).card!;
  for (const move of verbs) {
    const error = refusalError("default", "GH-1", { why: "lane", card, move });
    expect(error.code).toBe("INVALID_STATE");
    expect(error.message).toContain(`is in ${lane}`);
    expect(error.suggestion.length).toBeGreaterThan(10);
  }
});

it("a card that is not there is told with the board's own list", () => {
  const error = refusalError("night", "GH-1", { why: "unknown" });
  expect(error).toMatchObject({ code: "CARD_NOT_FOUND", message: 'Board night has no card "GH-1".' });
  expect(error.suggestion).toBe("See its cards: agent board list --board night");
});
