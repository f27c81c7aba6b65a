/** The mistakes of a file: collected, and reported together in the order of the text. */
import { TREE_PROBLEMS_MAX } from "../base/limits.ts";
import type { FilePlace } from "./located.ts";

export interface Problem {
  /** Undefined if the mistake is in the command line, not in a file. */
  readonly place: FilePlace | undefined;
  /** The path of the node in question, `crew/fixer`; empty for keys above the tree. */
  readonly path: string;
  /** A sentence without its full stop. */
  readonly message: string;
}

export interface Problems {
  add(place: FilePlace | undefined, message: string, path?: string): void;
  readonly found: readonly Problem[];
}

/** An aliased value stands in several places of the tree; its mistake is reported once. */
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

const inOrder = (files: readonly string[], a: FilePlace | undefined, b: FilePlace | undefined): number => {
  if (a === undefined || b === undefined) return Number(b === undefined) - Number(a === undefined);
  return files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column;
};

const sentence = (text: string): string => (/[.?]$/.test(text) ? text : `${text}.`);

/** One mistake as data for programs. */
export interface Mistake {
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly path: string;
  readonly message: string;
}

/** All mistakes, for an INVALID_REQUEST error. Plain data, because the client loads this folder as a separate bundle. */
export interface Mistakes {
  readonly message: string;
  /** `file:line:column: sentence`, in the order of the text. */
  readonly problems: readonly string[];
  readonly mistakes: readonly Mistake[];
}

/** `display` turns an absolute path into one for people; `files` are in the order of reading. */
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
