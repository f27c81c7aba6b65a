/** The house rule for English: no sentence begins with Who, What, Of or Where unless it is a question. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { inPage, inSource } from "./english.ts";

const root = resolve(import.meta.dirname, "../..");
/** Recorded from others, or given by them. */
const NOT_OURS = /^test\/(recordings|golden|fixtures\/contracts)\//;
/** This file and its fixtures are about such sentences. */
const ABOUT_THEM = /^test\/house\/english/;
const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((file) => /\.(md|tsx?|mjs|py|sh|sql|ya?ml)$/.test(file))
  .filter((file) => !NOT_OURS.test(file) && !ABOUT_THEM.test(file));

const sentencesOf = (found: ReturnType<typeof inPage>): readonly string[] =>
  found.map(({ sentence }) => sentence);

describe("no sentence begins with Who, What, Of or Where unless it is a question", () => {
  it.each(["pages", "sources"] as const)("in %s", (which) => {
    const hits = files
      .filter((file) => file.endsWith(".md") === (which === "pages"))
      .flatMap((file) => {
        const text = readFileSync(join(root, file), "utf8");
        const found = which === "pages" ? inPage(text) : inSource(text);
        return found.map(
          ({ at, sentence }) => `${file}:${text.slice(0, at).split("\n").length}: ${sentence}`,
        );
      });
    expect(hits).toEqual([]);
  });
});

describe("the rule finds", () => {
  it.each([
    ["a paragraph", "Text.\n\nWhat is so, is so. More.", "What is so, is so."],
    ["a sentence within a line", "First. Of these none.", "Of these none."],
    ["a heading", "## Who may answer\n\nText.", "Who may answer"],
    ["an item", "- Where it fails, it ends.", "Where it fails, it ends."],
    ["a cell", "| a | What it is |", "What it is"],
    ["bold words", "**What it costs.** Much.", "What it costs."],
  ])("%s of a page", (_what, page, sentence) => {
    expect(sentencesOf(inPage(page))).toEqual([sentence]);
  });

  it.each([
    ["a comment", "/** Of a worker. */", "Of a worker. "],
    ["its second sentence", "/** It ends.\n * What is left stays. */", "What is left stays."],
    ["a comment of a line", "// Where none is, nothing is done.", "Where none is, nothing is done."],
    ["a text", 'help: "What agents ask for",', "What agents ask for"],
    ["a help text", 'help: "what becomes of it then",', "what becomes of it then"],
    ["a title of a test", 'it.each(all)("what is so stays so", () => {', "what is so stays so"],
    ["a free choice", "// Whatever is so stays so.", "Whatever is so stays so."],
    ["a later sentence of a text", 'text: "It waits. Of others nobody knows."', "Of others nobody knows."],
  ])("%s of a source", (_what, source, sentence) => {
    expect(sentencesOf(inSource(source)).map((each) => each.trim())).toEqual([sentence.trim()]);
  });

  it("nothing in a question, in code, or in the middle of a sentence", () => {
    expect(inPage("What is it? It is so: what it was. The one of whom.\n\n```\nWhat is this\n```")).toEqual(
      [],
    );
    expect(inSource("/** Who asks? */\nconst Where = What.of(Who);\n// It says what it is.")).toEqual([]);
  });
});
