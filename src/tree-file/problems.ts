/** The mistakes of a file: collected, told at once, in the order of the text. */
import { HoldfastError } from "../protocol/errors.ts";
import { TREE_PROBLEMS_MAX } from "../protocol/limits.ts";
import type { Place } from "./located.ts";

export interface Problem {
  /** Without one it is about what was typed, not about a file. */
  readonly place: Place | undefined;
  /** Of the node that it is about, `crew/fixer`; empty for what stands above the tree. */
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

/** `display` makes of an absolute path what a person reads; `files` in the order in which they were read. */
export const problemsError = (
  problems: readonly Problem[],
  files: readonly string[],
  display: (file: string) => string,
): HoldfastError => {
  const sorted = problems.toSorted((a, b) => inOrder(files, a.place, b.place));
  const told = sorted.slice(0, TREE_PROBLEMS_MAX);
  const rest = sorted.length - told.length;
  const lines = told.map(({ place, message }) =>
    place === undefined
      ? sentence(message)
      : `${display(place.file)}:${place.line}:${place.column}: ${sentence(message)}`,
  );
  if (rest > 0) lines.push(`There are ${rest} more.`);
  const mistakes = told.map(({ place, path, message }) => ({
    ...(place === undefined ? {} : { file: place.file, line: place.line, column: place.column }),
    path,
    message: sentence(message),
  }));
  const where = display(files[0] ?? "");
  return new HoldfastError(
    "INVALID_REQUEST",
    sorted.length === 1 ? lines[0]! : `${sorted.length} mistakes in ${where}:\n${lines.join("\n")}`,
    {
      problems: lines,
      phase: "validation",
      suggestion: "Correct the file and run this again; docs/tree.md has its keys.",
      details: { ...mistakes[0], mistakes },
    },
  );
};
