/** Text above a line that is being typed: written in pieces, into a terminal emulator. */
import { Terminal } from "@xterm/headless";
import { expect, it } from "vitest";
import { PromptLine } from "../../../src/cli/render/prompt-line.ts";

const SIZE = { columns: 20, rows: 8 };

/** The screen after the pieces, with the typed line drawn after each. */
const screenOf = async (pieces: readonly string[], typed = "> half") => {
  const terminal = new Terminal({ cols: SIZE.columns, rows: SIZE.rows, allowProposedApi: true });
  const line = new PromptLine();
  const row = Math.floor(typed.length / SIZE.columns);
  for (const [at, piece] of pieces.entries())
    await new Promise<void>((done) =>
      terminal.write(line.add(piece, at === 0 ? 0 : row, SIZE).replaceAll("\n", "\r\n") + typed, done),
    );
  const { active } = terminal.buffer;
  return Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "")
    .join("\n")
    .trimEnd();
};

it.each<[string, readonly string[], string]>([
  ["whole lines", ["one\n", "two\n"], "one\ntwo\n> half"],
  ["a line in pieces", ["hel", "lo", " you\n"], "hello you\n> half"],
  [
    "a piece over several rows",
    ["a".repeat(25), "b".repeat(5), "\nend\n"],
    `${"a".repeat(20)}\naaaaabbbbb\nend\n> half`,
  ],
  ["a row that is full", ["a".repeat(20), "b\n"], `${"a".repeat(20)}\nb\n> half`],
  ["nothing", ["one\n", "", ""], "one\n> half"],
])("%s", async (_, pieces, wanted) => expect(await screenOf(pieces)).toBe(wanted));

it("a text without line ends keeps all its characters, also out of sight", async () => {
  const screen = await screenOf(Array.from({ length: 30 }, () => "abcdefghij"));
  expect(screen.replaceAll(/\s|> half/g, "")).toHaveLength(300);
});
