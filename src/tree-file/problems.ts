/** The mistakes of a file: collected, told at once, in the order of the text. */
import { TREE_PROBLEMS_MAX } from "../base/limits.ts";
import type { Place } from "./located.ts";

export interface Problem {
  /** Without one it is about what was typed, not about a file. */
  readonly place: Place | undefined;
  /** The path of the node that it is about, `crew/fixer`; empty for what stands above the tree. */
  readonly path: string;
  /** A sentence without its full stop. */
  readonly message: string;
}

export interface Problems {
  add(place: Place | undefined, message: string, path?: string): void;
  readonly found: readonly Problem[];
}

/** A value that stands in several places of the tree (an alias) has its mistake told once. */
export const makeProblems = (): Problems => {
  const found = new Map<string, Problem>();
  return {
    add: (place, message, path = "") => {
      const key = JSON.stringify([place, message]);
      if (!found.has(key)) found.set(key, { place, path, message });
    },
    get found() {
      return [...found.values()];
    },
  };
};

const inOrder = (files: readonly string[], a: Place | undefined, b: Place | undefined): number => {
  if (a === undefined || b === undefined) return Number(b === undefined) - Number(a === undefined);
  return files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column;
};

const sentence = (text: string): string => (/[.?]$/.test(text) ? text : `${text}.`);

/** One mistake as facts, for programs. */
export interface Mistake {
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly path: string;
  readonly message: string;
}

/** All that is wrong, for an error INVALID_REQUEST: plain data, because the client loads this folder as a program of its own. */
export interface Mistakes {
  readonly message: string;
  /** `file:line:column: sentence`, in the order of the text. */
  readonly problems: readonly string[];
  readonly mistakes: readonly Mistake[];
}

/** `display` makes of an absolute path what a person reads; `files` in the order in which they were read. */
export const mistakesOf = (
  problems: readonly Problem[],
  files: readonly string[],
  display: (file: string) => string,
): Mistakes => {
  const sorted = problems.toSorted((a, b) => inOrder(files, a.place, b.place));
  const told = sorted.slice(0, TREE_PROBLEMS_MAX);
  const rest = sorted.length - told.length;
  const lines = told.map(({ place, message }) =>
    place === undefined
      ? sentence(message)
      : `${display(place.file)}:${place.line}:${place.column}: ${sentence(message)}`,
  );
  if (rest > 0) lines.push(`There are ${rest} more.`);
  const where = display(files[0] ?? "");
  return {
    message: sorted.length === 1 ? lines[0]! : `${sorted.length} mistakes in ${where}:\n${lines.join("\n")}`,
    problems: lines,
    mistakes: told.map(({ place, path, message }) => ({ ...place, path, message: sentence(message) })),
  };
};
