/** fs/ls: lists a directory of the workspace, or a tree of directories, page by page. */
import type { Stats } from "node:fs";
import * as z from "zod";
import {
  LS_ENTRIES_DEFAULT,
  LS_ENTRIES_MAX,
  SKILL_DEPTH_MAX,
  SKILL_PATH_MAX_BYTES,
} from "../../base/limits.ts";
import { type ConfinedDirectory, WorkspaceFiles } from "../paths.ts";
import type { BuiltinSkill, SkillContext } from "../skill.ts";
import { breathe, modeText, timeText } from "./file-facts.ts";

const input = z.strictObject({
  path: z.string().max(SKILL_PATH_MAX_BYTES).default(".").describe("directory of the workspace"),
  depth: z.int().min(1).max(SKILL_DEPTH_MAX).default(1).describe("levels of directories to list"),
  hidden: z.boolean().default(false).describe("list names that begin with a dot too"),
  limit: z.int().min(1).max(LS_ENTRIES_MAX).default(LS_ENTRIES_DEFAULT).describe("entries in one answer"),
  cursor: z
    .string()
    .max(SKILL_PATH_MAX_BYTES)
    .optional()
    .describe("cursor of the answer before; the list goes on after it"),
});
type LsInput = z.output<typeof input>;

const entry = z.object({
  name: z.string(),
  /** Absolute. */
  path: z.string(),
  type: z.enum(["file", "directory", "link", "other"]),
  is_dir: z.boolean(),
  size_bytes: z.int().min(0),
  mode: z.string(),
  mod_time: z.string(),
  /** The text of a link, which nobody has followed. */
  link_target: z.string().optional(),
});
type LsEntry = z.output<typeof entry>;

const output = z.object({
  path: z.string(),
  entry_count: z.int(),
  files: z.int(),
  directories: z.int(),
  /** Bytes of the files in `entries`. */
  total_size: z.int(),
  entries: z.array(entry),
  /** Directories that this user may not enter. */
  unreadable: z.int(),
  truncated: z.boolean(),
  /** With `truncated`: asks for the next page. */
  cursor: z.string().optional(),
});
type LsOutput = z.output<typeof output>;

const typeOf = (stats: Stats): LsEntry["type"] =>
  stats.isFile() ? "file" : stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "link" : "other";

/** Compares two paths name by name, in the order in which the list goes through a tree. */
const isAfter = (path: readonly string[], cursor: readonly string[]): boolean => {
  for (const [at, name] of path.entries()) {
    const other = cursor[at];
    if (other === undefined) return true;
    if (name !== other) return name > other;
  }
  return false;
};

const isAbove = (path: readonly string[], cursor: readonly string[]): boolean =>
  path.every((name, at) => name === cursor[at]);

class Listing {
  readonly entries: LsEntry[] = [];
  private unreadable = 0;
  private last: readonly string[] = [];
  private readonly asks: LsInput;
  private readonly signal: AbortSignal;
  private readonly cursor: readonly string[] | undefined;

  constructor(asks: LsInput, signal: AbortSignal) {
    this.asks = asks;
    this.signal = signal;
    this.cursor = asks.cursor?.split("/");
  }

  /** False once the page is full. */
  async enter(directory: ConfinedDirectory, above: readonly string[]): Promise<boolean> {
    await breathe(this.signal);
    for (const name of directory.names()) {
      if (name.startsWith(".") && !this.asks.hidden) continue;
      const path = [...above, name];
      const isNew = this.cursor === undefined || isAfter(path, this.cursor);
      if (!isNew && !isAbove(path, this.cursor ?? [])) continue;
      const stats = directory.stat(name);
      // It was removed meanwhile.
      if (stats === undefined) continue;
      if (isNew) {
        if (this.entries.length === this.asks.limit) return false;
        this.add(directory, name, stats);
        this.last = path;
      }
      if (!stats.isDirectory() || path.length >= this.asks.depth) continue;
      const below = directory.directory(name);
      if (below === undefined) {
        this.unreadable += 1;
        continue;
      }
      try {
        if (!(await this.enter(below, path))) return false;
      } finally {
        below.close();
      }
    }
    return true;
  }

  output(path: string, isWhole: boolean): LsOutput {
    const { entries } = this;
    return {
      path,
      entry_count: entries.length,
      files: entries.filter(({ type }) => type === "file").length,
      directories: entries.filter(({ is_dir }) => is_dir).length,
      total_size: entries.reduce((sum, { type, size_bytes }) => sum + (type === "file" ? size_bytes : 0), 0),
      entries,
      unreadable: this.unreadable,
      truncated: !isWhole,
      ...(!isWhole && { cursor: this.last.join("/") }),
    };
  }

  private add(directory: ConfinedDirectory, name: string, stats: Stats): void {
    const target = stats.isSymbolicLink() ? directory.link(name) : undefined;
    this.entries.push({
      name,
      path: `${directory.path === "/" ? "" : directory.path}/${name}`,
      type: typeOf(stats),
      is_dir: stats.isDirectory(),
      size_bytes: stats.size,
      mode: modeText(stats),
      mod_time: timeText(stats),
      ...(target !== undefined && { link_target: target }),
    });
  }
}

export const fsLs: BuiltinSkill<LsInput, LsOutput> = {
  name: "fs/ls",
  summary: "List a directory of the workspace.",
  version: "1.0.0",
  effect: "none",
  input,
  output,
  network: "none",
  run: async (asks, { workspace, signal }: SkillContext) => {
    const directory = new WorkspaceFiles(workspace).directory(asks.path);
    try {
      const listing = new Listing(asks, signal);
      const isWhole = await listing.enter(directory, []);
      return listing.output(directory.path, isWhole);
    } finally {
      directory.close();
    }
  },
};
