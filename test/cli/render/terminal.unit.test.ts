import { describe, expect, it } from "vitest";
import { cut, neutralise, oneLine, table, width, wrapLines } from "../../../src/cli/render/terminal.ts";

describe("neutralise", () => {
  it.each([
    ["\x1b[31mred\x1b[0m", "red"],
    ["\x1b]0;title\x07text", "text"],
    ["\x1b]8;;http://x\x1b\\link", "link"],
    ["a\r\nb", "a\nb"],
    ["progress 1%\rprogress 2%", "progress 1%␍progress 2%"],
    ["\x1bc reset", "␛c reset"],
    ["\x1b[", "␛["],
    ["bell\x07 del\x7f", "bell␇ del␡"],
    ["\u009b31m", "\ufffd31m"],
    ["safe\u202etxt.exe", "safe\ufffdtxt.exe"],
    ["tab\tand\nline stay", "tab\tand\nline stay"],
  ])("makes %j harmless", (text, harmless) => {
    expect(neutralise(text)).toBe(harmless);
  });

  it("leaves no control character, whatever comes", () => {
    let seed = 7;
    const random = (max: number): number => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return seed % max;
    };
    const alphabet = ["\x1b", "[", "]", "0", ";", "m", "\x07", "\\", "\x9b", "\x90", "\r", "\n", "a", "\x00"];
    for (let run = 0; run < 2_000; run++) {
      const text = Array.from({ length: random(20) }, () => alphabet[random(alphabet.length)]).join("");
      expect(neutralise(text)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
    }
  });
});

describe("layout", () => {
  it("cuts to one line by code points", () => {
    expect(oneLine("a\n  b\tc")).toBe("a b c");
    expect(oneLine("😀😀😀😀", 3)).toBe("😀😀…");
  });

  it("counts columns without colours, wide and zero-width characters", () => {
    expect(width("\x1b[1mab\x1b[0m")).toBe(2);
    expect(width("日本")).toBe(4);
    expect(width("e\u0301")).toBe(1);
    // One family, one flag, one mark: each is two columns.
    expect(["👩‍👩‍👧‍👦", "🇩🇪", "✅"].map(width)).toEqual([2, 2, 2]);
    expect(["⚠", "…", "–", "·", "—", "▸"].map(width)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it("breaks sentences between words, goes on where a line is indented, and leaves them whole without a terminal", () => {
    const text = "error: 2 mistakes\n  The first of them is long.\n\x1b[2mSee agent spawn --help\x1b[0m";
    expect(wrapLines(text, 18)).toBe(
      "error: 2 mistakes\n  The first of\n  them is long.\n\x1b[2mSee agent spawn\n--help\x1b[0m",
    );
    expect(wrapLines(text, undefined)).toBe(text);
  });

  it("aligns columns and leaves no trailing space", () => {
    expect(
      table([
        ["a", "bb", ""],
        ["ccc", "d", ""],
      ]),
    ).toBe("a    bb\nccc  d");
    expect(table([])).toBe("");
  });

  it("cuts the last column where the terminal ends, and leaves it off where nothing of it would be seen", () => {
    const rows = [
      ["NAME", "TASK"],
      ["web", "a long command line"],
    ];
    expect(table(rows, { fit: 40 })).toBe("NAME  TASK\nweb   a long command line");
    expect(table(rows, { fit: 20 })).toBe("NAME  TASK\nweb   a long comman…");
    expect(table(rows, { fit: 15 })).toBe("NAME\nweb");
  });

  it("leaves off spare columns in their order, then cuts the widest", () => {
    const rows = [
      ["NAME", "PID", "AGE", "STATE"],
      ["a-worker-of-the-night", "12345", "10s", "running"],
    ];
    const spare = ["AGE", "PID"];
    const widths = [60, 40, 35, 20].map((fit) => table(rows, { fit, spare }));
    expect(widths[0]).toContain("10s");
    expect(widths[1]).toBe("NAME                   PID    STATE\na-worker-of-the-night  12345  running");
    expect(widths[2]).toBe("NAME                   STATE\na-worker-of-the-night  running");
    expect(widths[3]).toBe("NAME         STATE\na-worker-o…  running");
  });

  it("never is wider than the terminal, whatever stands in it", () => {
    const cells = ["", "a", "日本語", "👩‍👩‍👧‍👦 family", "x".repeat(90), "\x1b[31mred and long\x1b[0m"];
    const rows = cells.map((cell, n) => [cell, ...cells.slice(n), ...cells.slice(0, n)].slice(0, 5));
    for (const fit of [60, 80, 100])
      for (const line of table(rows, { fit }).split("\n")) expect(width(line)).toBeLessThanOrEqual(fit);
  });

  it("cuts by columns, ends the colours that were cut off, and never in the middle of one", () => {
    expect(cut("plain", 5)).toBe("plain");
    expect(cut("日本語", 5)).toBe("日本…");
    expect(cut("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 5)).toBe("👩‍👩‍👧‍👦👩‍👩‍👧‍👦…");
    expect(cut("\x1b[31mred\x1b[0m", 3)).toBe("\x1b[31mred\x1b[0m");
    expect(cut("\x1b[31mreddish\x1b[0m", 4)).toBe("\x1b[31mred…\x1b[0m");
  });
});
