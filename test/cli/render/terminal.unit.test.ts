import { describe, expect, it } from "vitest";
import { cut, neutralise, oneLine, table, width } from "../../../src/cli/render/terminal.ts";

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
    expect(table(rows, 40)).toBe("NAME  TASK\nweb   a long command line");
    expect(table(rows, 20)).toBe("NAME  TASK\nweb   a long comman…");
    expect(table(rows, 15)).toBe("NAME\nweb");
  });

  it("cuts by columns, ends the colours that were cut off, and never in the middle of one", () => {
    expect(cut("plain", 5)).toBe("plain");
    expect(cut("日本語", 5)).toBe("日本…");
    expect(cut("\x1b[31mred\x1b[0m", 3)).toBe("\x1b[31mred\x1b[0m");
    expect(cut("\x1b[31mreddish\x1b[0m", 4)).toBe("\x1b[31mred…\x1b[0m");
  });
});
