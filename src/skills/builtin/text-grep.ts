/**
 * text/grep: finds the lines of files that match a pattern. The engine is RE2, whose time grows in proportion to the text, so
 * that no pattern can hang; it has no look-around and no back-references. Everything else has a bound.
 */
import { closeSync, fstatSync, readSync } from "node:fs";
import { join } from "node:path";
import { RE2JS } from "re2js";
import * as z from "zod";
import {
  GREP_FILE_MAX_BYTES,
  GREP_FILES_MAX,
  GREP_LINE_MAX_UNITS,
  GREP_MATCHES_DEFAULT,
  GREP_MATCHES_MAX,
  GREP_PATTERN_MAX_UNITS,
  GREP_SEARCHED_MAX_UNITS,
  GREP_TOP_FILES_MAX,
  GREP_TOTAL_MAX_BYTES,
  SKILL_DEPTH_MAX,
  SKILL_PATH_MAX_BYTES,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { type ConfinedDirectory, type ConfinedFile, WorkspaceFiles } from "../paths.ts";
import { compilePattern } from "../patterns.ts";
import type { BuiltinSkill, SkillContext } from "../skill.ts";
import { breathe } from "./file-facts.ts";

const input = z.strictObject({
  pattern: z.string().min(1).max(GREP_PATTERN_MAX_UNITS).describe("regular expression of RE2"),
  path: z.string().max(SKILL_PATH_MAX_BYTES).default(".").describe("file or directory of the workspace"),
  literal: z.boolean().default(false).describe("the pattern is plain text"),
  case_insensitive: z.boolean().default(false).describe("treat capitals and small letters alike"),
  include: z.string().max(GREP_PATTERN_MAX_UNITS).optional().describe("names of files, with * and ?"),
  hidden: z.boolean().default(false).describe("search names that begin with a dot too"),
  max_matches: z
    .int()
    .min(1)
    .max(GREP_MATCHES_MAX)
    .default(GREP_MATCHES_DEFAULT)
    .describe("matching lines in the answer at most"),
});
type GrepInput = z.output<typeof input>;

const lineMatch = z.object({
  /** Relative to the workspace. */
  file: z.string(),
  /** From 1. */
  line_no: z.int(),
  /** The UTF-16 unit of the line at which the match begins, from 1. */
  column: z.int(),
  /** The line, or a part of it around the match. */
  line: z.string(),
});

const output = z.object({
  pattern: z.string(),
  case_insensitive: z.boolean(),
  /** Matching lines that were found before the end of the search. */
  match_count: z.int(),
  files_touched: z.int(),
  files_searched: z.int(),
  /** Files that were not searched, and lines that were searched in their beginning alone. */
  skipped: z.object({ binary: z.int(), too_large: z.int(), unreadable: z.int(), long_lines: z.int() }),
  matches: z.array(lineMatch),
  /** Files with the most matches. */
  top_files: z.array(z.object({ file: z.string(), matches: z.int() })),
  max_matches: z.int(),
  truncated: z.boolean(),
  /** With `truncated`: the bound that ended the search. */
  truncated_by: z.enum(["matches", "files", "bytes"]).optional(),
});
type GrepOutput = z.output<typeof output>;

const compile = (text: string, flags: number): RE2JS => {
  try {
    return compilePattern(text, flags);
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new HoldfastError("INVALID_REQUEST", `The pattern is no regular expression of RE2: ${detail}.`, {
      suggestion: "Correct it, or search with literal. RE2 has no look-around and no back-references.",
      cause,
    });
  }
};

/** A name of a file with `*` and `?`, as a pattern. */
const nameForm = (include: string): RE2JS => {
  const parts = [...include].map((char) => (char === "*" ? ".*" : char === "?" ? "." : RE2JS.quote(char)));
  return compile(parts.join(""), RE2JS.DOTALL);
};

/** The first bytes of a file that tell whether it is text. */
const BINARY_HEAD_BYTES = 8_192;

class Search {
  private readonly matches: z.output<typeof lineMatch>[] = [];
  private readonly touched = new Map<string, number>();
  private readonly skipped = { binary: 0, too_large: 0, unreadable: 0, long_lines: 0 };
  private breathed = 0;
  private searched = 0;
  private bytes = 0;
  private end: GrepOutput["truncated_by"];
  private readonly asks: GrepInput;
  private readonly signal: AbortSignal;
  private readonly pattern: RE2JS;
  private readonly include: RE2JS | undefined;

  constructor(asks: GrepInput, signal: AbortSignal) {
    this.asks = asks;
    this.signal = signal;
    const flags = asks.case_insensitive ? RE2JS.CASE_INSENSITIVE : 0;
    this.pattern = compile(asks.literal ? RE2JS.quote(asks.pattern) : asks.pattern, flags);
    this.include = asks.include === undefined ? undefined : nameForm(asks.include);
  }

  /** `relative` is the place of the directory below the workspace. */
  async directory(directory: ConfinedDirectory, relative: string, depth: number): Promise<void> {
    for (const name of directory.names()) {
      if (this.end !== undefined) return;
      if (name.startsWith(".") && !this.asks.hidden) continue;
      const stats = directory.stat(name);
      if (stats?.isFile()) {
        if (this.include !== undefined && !this.include.matches(name)) continue;
        await this.file(directory.file(name), join(relative, name));
      } else if (stats?.isDirectory() && depth < SKILL_DEPTH_MAX) {
        const below = directory.directory(name);
        if (below === undefined) {
          this.skipped.unreadable += 1;
          continue;
        }
        try {
          await this.directory(below, join(relative, name), depth + 1);
        } finally {
          below.close();
        }
      }
    }
  }

  /** Closes the file. */
  async file(file: ConfinedFile | undefined, relative: string): Promise<void> {
    if (file === undefined) {
      this.skipped.unreadable += 1;
      return;
    }
    try {
      await breathe(this.signal);
      if (this.searched === GREP_FILES_MAX) this.end = "files";
      else if (this.bytes >= GREP_TOTAL_MAX_BYTES) this.end = "bytes";
      else await this.search(file.fd, relative);
    } finally {
      closeSync(file.fd);
    }
  }

  output(): GrepOutput {
    const top = [...this.touched].sort(([, a], [, b]) => b - a).slice(0, GREP_TOP_FILES_MAX);
    return {
      pattern: this.asks.pattern,
      case_insensitive: this.asks.case_insensitive,
      match_count: this.matches.length,
      files_touched: this.touched.size,
      files_searched: this.searched,
      skipped: this.skipped,
      matches: this.matches,
      top_files: top.map(([file, matches]) => ({ file, matches })),
      max_matches: this.asks.max_matches,
      truncated: this.end !== undefined,
      ...(this.end !== undefined && { truncated_by: this.end }),
    };
  }

  private async search(fd: number, relative: string): Promise<void> {
    const bytes = readWhole(fd, fstatSync(fd).size);
    if (bytes === undefined) {
      this.skipped.too_large += 1;
      return;
    }
    this.bytes += bytes.length;
    if (bytes.subarray(0, BINARY_HEAD_BYTES).includes(0)) {
      this.skipped.binary += 1;
      return;
    }
    this.searched += 1;
    let line_no = 0;
    for (const text of bytes.toString("utf8").split("\n")) {
      line_no += 1;
      if (performance.now() - this.breathed > TURN_MS) {
        await breathe(this.signal);
        this.breathed = performance.now();
      }
      const whole = text.endsWith("\r") ? text.slice(0, -1) : text;
      const line = whole.length > GREP_SEARCHED_MAX_UNITS ? whole.slice(0, GREP_SEARCHED_MAX_UNITS) : whole;
      if (line !== whole) this.skipped.long_lines += 1;
      const matcher = this.pattern.matcher(line);
      if (!matcher.find()) continue;
      if (this.matches.length === this.asks.max_matches) {
        this.end = "matches";
        return;
      }
      const start = matcher.start();
      this.matches.push({ file: relative, line_no, column: start + 1, line: around(line, start) });
      this.touched.set(relative, (this.touched.get(relative) ?? 0) + 1);
    }
  }
}

/** After so many milliseconds of searching, others may run. */
const TURN_MS = 50;

/** The line, or its part from a little before the match on. */
const around = (line: string, start: number): string => {
  if (line.length <= GREP_LINE_MAX_UNITS) return line;
  const from = Math.max(0, Math.min(start - GREP_LINE_MAX_UNITS / 4, line.length - GREP_LINE_MAX_UNITS));
  return line.slice(from, from + GREP_LINE_MAX_UNITS).toWellFormed();
};

/** Undefined if the file is over GREP_FILE_MAX_BYTES. */
const readWhole = (fd: number, size: number): Buffer | undefined => {
  if (size > GREP_FILE_MAX_BYTES) return undefined;
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const count = readSync(fd, bytes, length, size - length, length);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
};

export const textGrep: BuiltinSkill<GrepInput, GrepOutput> = {
  name: "text/grep",
  summary: "Find lines that match a pattern in files of the workspace.",
  version: "1.0.0",
  effect: "none",
  input,
  output,
  network: "none",
  run: async (asks, { workspace, signal }: SkillContext) => {
    const files = new WorkspaceFiles(workspace);
    const search = new Search(asks, signal);
    const path = files.resolve(asks.path);
    const relative = path === files.root ? "" : path.slice(files.root.length + (files.root === "/" ? 0 : 1));
    if (files.isDirectory(asks.path)) {
      const directory = files.directory(asks.path);
      try {
        await search.directory(directory, relative, 1);
      } finally {
        directory.close();
      }
    } else await search.file(files.file(asks.path), relative);
    return search.output();
  },
};
