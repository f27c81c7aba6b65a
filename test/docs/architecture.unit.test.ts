/** The architecture fits ten pages, and its words are those of the code: at most forty, one name for one thing. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./pages.ts";

const PAGES_MAX = 10;
const WORDS_OF_A_PAGE = 550;
const TERMS_MAX = 40;
const page = readFileSync(join(root, "docs/architecture.md"), "utf8");

const rows = page
  .slice(page.indexOf("\n## 1. Words"), page.indexOf("\n## 2. "))
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| word "));
const words = rows.flatMap((row) => row.split(" | ")[0]!.slice(2).split(", "));

it("has at most ten pages", () => {
  expect(page.split(/\s+/).length).toBeLessThanOrEqual(PAGES_MAX * WORDS_OF_A_PAGE);
});

describe("its words", () => {
  it("are at most forty rows, each with a meaning of its own", () => {
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.length).toBeLessThanOrEqual(TERMS_MAX);
    expect(new Set(words).size).toBe(words.length);
    const meanings = rows.map((row) => row.split(" | ")[1]);
    expect(new Set(meanings).size).toBe(meanings.length);
  });

  it.each(words)("%s is a word of the code", (word) => {
    const pattern = word.replaceAll(" ", "[ _-]?");
    const found = execFileSync("git", ["grep", "-ilE", pattern, "--", "src"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(found).not.toBe("");
  });
});

describe("its layers", () => {
  const src = join(root, "src");
  const foldersOf = (folder: string, recursive: boolean): readonly string[] =>
    readdirSync(join(src, folder), { recursive, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  const layers = new Map(
    page
      .slice(page.indexOf("\n## 2. "), page.indexOf("\n## 3. "))
      .split("\n")
      .flatMap((line) => {
        const [, room, text] = /^\| `src\/([\w-]+)` \| (.*)$/.exec(line) ?? [];
        return room === undefined || text === undefined ? [] : [[room, text] as const];
      }),
  );

  it("are the rooms of src", () => {
    expect([...layers.keys()].toSorted()).toEqual(foldersOf("", false).toSorted());
  });

  it.each([...layers])("%s: each folder is named, and each name is a folder", (room, text) => {
    const named = [...text.matchAll(/`([\w-]+)\/`/g)].map(([, name]) => name);
    expect(foldersOf(room, false).filter((name) => !named.includes(name))).toEqual([]);
    const below = foldersOf(room, true);
    expect(named.filter((name = "") => !below.includes(name))).toEqual([]);
  });
});
