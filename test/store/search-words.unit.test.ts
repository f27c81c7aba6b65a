/** Words of a search: how a text becomes a search of the index, what of a record is searched, and what an answer marks. */
import { describe, expect, it } from "vitest";
import { SEARCH_EXCERPT_MAX_CHARS, SEARCH_TEXT_MAX_CHARS } from "../../src/base/limits.ts";
import { excerptOf, matchOf, textOf } from "../../src/store/search-words.ts";

it.each([
  ["connection refused", '{text} : ("connection" AND "refused")'],
  ["src/foo.ts", '{text} : ("src foo ts")'],
  ['"permission denied" time*', '{text} : ("permission denied" AND "time"*)'],
  ['"connection ref"*', '{text} : ("connection ref"*)'],
  ['an "open quote', '{text} : ("an" AND "open quote")'],
  ['NEAR(a b) OR "" -- {x} : y^', '{text} : ("NEAR a" AND "b" AND "OR" AND "x" AND "y")'],
])("%s", (text, match) => expect(matchOf(text, "text")).toBe(match));

it.each(["", "  ", "*", '"" -- !'])("%j names no word", (text) =>
  expect(matchOf(text, "text")).toBeUndefined(),
);

describe("the text of a record", () => {
  it("is what it says, and not how things are named", () => {
    const payload = {
      agent_kind: "claude_code",
      kind: "ToolCall",
      text: "runs ls",
      data: { tool: { tool_name: "Bash", tool_use_id: "toolu_1", input: { command: "ls -l", n: 3 } } },
      list: ["a", { id: "x", title: "b" }],
    };
    expect(textOf(payload)).toBe("runs ls\nBash\nls -l\na\nb");
  });

  it("is bounded", () => {
    const long = "x".repeat(SEARCH_TEXT_MAX_CHARS - 3);
    expect(textOf({ one: long, two: "abcdef", three: "never" })).toBe(`${long}\nabc`);
  });
});

/** The marked words, in brackets. */
const shown = (text: string, search: string): string => {
  const found = excerptOf(text, search);
  return [...found.marks]
    .reverse()
    .reduce((all, [from, to]) => `${all.slice(0, from)}[${all.slice(from, to)}]${all.slice(to)}`, found.text);
};

describe("an excerpt", () => {
  it.each([
    [
      "Connection\trefused: the connection is closed",
      "connection",
      "[Connection] refused: the [connection] is closed",
    ],
    ["a Café is open", "cafe", "a [Café] is open"],
    ["timeout, timed out", "time*", "[timeout], [timed] out"],
    ["edit src/foo.ts, not foo.js", "src/foo.ts", "edit [src/foo.ts], not foo.js"],
    ["access denied; permission denied", '"permission denied"', "access denied; [permission] [denied]"],
    ["nothing of it", "else", "nothing of it"],
  ])("%s: %s", (text, search, marked) => expect(shown(text, search)).toBe(marked));

  it("is the part around the first match of a long text, in one line", () => {
    const text = `${"word ".repeat(3_000)}\nneedle ${"more ".repeat(3_000)}`;
    const { text: part, marks } = excerptOf(text, "needle");
    expect(part.length).toBeLessThanOrEqual(SEARCH_EXCERPT_MAX_CHARS);
    expect(part).toMatch(/^…word .* needle more .*…$/);
    expect(marks.map(([from, to]) => part.slice(from, to))).toEqual(["needle"]);
  });

  it("cuts no character in two", () => {
    const { text } = excerptOf(`${"😀".repeat(500)} needle ${"😀".repeat(500)}`, "needle");
    expect(text.isWellFormed()).toBe(true);
    expect(text).toContain("needle");
  });
});
