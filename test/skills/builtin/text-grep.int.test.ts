import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { textGrep } from "../../../src/skills/builtin/text-grep.ts";
import { freshContext, running } from "./context.ts";

const grep = running(textGrep);

const scene = () => {
  const context = freshContext();
  const { workspace } = context;
  mkdirSync(join(workspace, "src"));
  const files = {
    "a.md": "one\n  TODO: first\r\ntodo second\n",
    "src/b.ts": "// TODO\nconst x = 1; // TODO TODO\n",
    ".hidden": "TODO\n",
    "binary.bin": "TODO\0\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, name), text);
  writeFileSync(join(context.outside, "secret"), "TODO\n");
  symlinkSync(context.outside, join(workspace, "link"));
  execFileSync("mkfifo", [join(workspace, "fifo")]);
  return context;
};

describe("text/grep", () => {
  it("finds lines in all text files of the workspace, and nothing outside", async () => {
    expect(await grep({ pattern: "TODO" }, scene())).toEqual({
      pattern: "TODO",
      case_insensitive: false,
      match_count: 3,
      files_touched: 2,
      files_searched: 2,
      skipped: { binary: 1, too_large: 0, unreadable: 0, long_lines: 0 },
      matches: [
        { file: "a.md", line_no: 2, column: 3, line: "  TODO: first" },
        { file: "src/b.ts", line_no: 1, column: 4, line: "// TODO" },
        { file: "src/b.ts", line_no: 2, column: 17, line: "const x = 1; // TODO TODO" },
      ],
      top_files: [
        { file: "src/b.ts", matches: 2 },
        { file: "a.md", matches: 1 },
      ],
      max_matches: 100,
      truncated: false,
    });
  });

  it.each([
    ["in small letters too", { pattern: "todo", case_insensitive: true }, 4],
    ["in hidden files too", { pattern: "TODO", hidden: true }, 4],
    ["in one file", { pattern: "TODO", path: "src/b.ts" }, 2],
    ["in one directory", { pattern: "TODO", path: "src" }, 2],
    ["in files of a name", { pattern: "TODO", include: "*.m?" }, 1],
    ["by a regular expression", { pattern: "^\\s+TODO:\\s+\\w+$" }, 1],
    ["as plain text", { pattern: "x = 1; //", literal: true }, 1],
  ])("finds them %s", async (_how, asks, count) => {
    expect((await grep(asks, scene())).match_count).toBe(count);
  });

  it("stops at its bound, and says so", async () => {
    expect(await grep({ pattern: "TODO", max_matches: 2 }, scene())).toMatchObject({
      match_count: 2,
      truncated: true,
      truncated_by: "matches",
    });
    expect(await grep({ pattern: "TODO", max_matches: 3 }, scene())).toMatchObject({
      match_count: 3,
      truncated: false,
    });
  });

  it("ends soon with patterns on which backtracking engines hang", async () => {
    const context = freshContext();
    writeFileSync(join(context.workspace, "file"), `${"a".repeat(50_000)}!\n`);
    for (const pattern of ["^(a+)+$", "(a|a)*b", "(a|aa)+$", "(.*)*x"])
      expect((await grep({ pattern }, context)).match_count).toBe(0);
  });

  it("refuses what its engine has not, and what would be too large", async () => {
    for (const pattern of ["(?=a)", "(a)\\1", "(", "((a{100}){100}){100}", "(?:(a)|(b)){500}[cd]"])
      await expect(grep({ pattern }, scene())).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  it("shows a long line around its match, and skips a large file", async () => {
    const context = freshContext();
    writeFileSync(join(context.workspace, "long"), `${"x".repeat(5_000)}NEEDLE${"y".repeat(5_000)}`);
    writeFileSync(join(context.workspace, "large"), Buffer.alloc(5 * 1024 * 1024, "NEEDLE\n"));
    const found = await grep({ pattern: "NEEDLE" }, context);
    expect(found).toMatchObject({ match_count: 1, skipped: { too_large: 1 } });
    expect(found.matches[0]).toMatchObject({ column: 5_001, line: expect.stringContaining("NEEDLE") });
    expect(found.matches[0]?.line.length).toBe(200);
  });

  it("searches the beginning of a very long line, and says so", async () => {
    const context = freshContext();
    writeFileSync(join(context.workspace, "file"), `x${"a".repeat(100_000)}y\n`);
    expect(await grep({ pattern: "^x" }, context)).toMatchObject({
      match_count: 1,
      skipped: { long_lines: 1 },
    });
    expect(await grep({ pattern: "y$" }, context)).toMatchObject({
      match_count: 0,
      skipped: { long_lines: 1 },
    });
  });

  it("searches nothing outside", async () => {
    const context = scene();
    await expect(grep({ pattern: "TODO", path: "link" }, context)).rejects.toMatchObject({
      info: { details: { rule: "link_outside" } },
    });
  });
});
