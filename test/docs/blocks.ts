/** The fenced blocks of a page, and the commands of its console blocks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./pages.ts";

export interface Block {
  readonly page: string;
  /** 1 for the first line of the page. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

export interface Command {
  readonly page: string;
  readonly line: number;
  /** As it is typed, without the prompt. */
  readonly text: string;
  /** Lines that its output has, in this order; `…` stands for anything, and a number for any other. */
  readonly shows: readonly string[];
}

export const blocksOf = (page: string): readonly Block[] => {
  const lines = readFileSync(join(root, page), "utf8").split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent, language = ""] = /^(\s*)```(\w*)$/.exec(lines[at] ?? "") ?? [];
    if (indent === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && line === `${indent}\`\`\``);
    const text = lines
      .slice(at + 1, end)
      .map((line) => line.slice(indent.length))
      .join("\n");
    blocks.push({ page, line: at + 1, language, text });
    at = end;
  }
  return blocks;
};

/** A line with `$ ` begins a command, one with `> ` goes on with it, and any other is shown by it. */
export const commandsOf = ({ page, line, text }: Block): readonly Command[] => {
  const commands: { page: string; line: number; text: string; shows: string[] }[] = [];
  text.split("\n").forEach((each, index) => {
    const last = commands.at(-1);
    if (each.startsWith("$ "))
      commands.push({ page, line: line + index + 1, text: each.slice(2), shows: [] });
    else if (each.startsWith("> ") && last !== undefined) last.text += `\n${each.slice(2)}`;
    else if (each.trim() !== "") last?.shows.push(each);
  });
  return commands;
};

const patternOf = (shown: string): RegExp =>
  new RegExp(
    shown
      .replace(/^[\s…]+|[\s…]+$/g, "")
      .split("…")
      .map((part) =>
        part
          .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
          .replace(/\d+/g, "\\d+")
          .replace(/\s+/g, "\\s+"),
      )
      .join(".*"),
  );

/** The first line that is shown and that the output has not, after the ones before it. */
export const missingIn = ({ shows }: Command, output: string): string | undefined => {
  const lines = output.split("\n");
  let from = 0;
  for (const shown of shows) {
    const pattern = patternOf(shown);
    const at = lines.findIndex((line, index) => index >= from && pattern.test(line));
    if (at === -1) return shown;
    from = at + 1;
  }
  return undefined;
};
