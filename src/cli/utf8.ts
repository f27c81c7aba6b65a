/**
 * Finds arguments, variables and a directory that are not UTF-8. Node replaces each invalid byte by U+FFFD, so a child would
 * silently get another argument than the user typed. If that character occurs, the kernel's own copy shows the original
 * bytes.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { HoldfastError } from "../protocol/errors.ts";

/** The bytes as the kernel has them; undefined if it does not show them. */
export interface RawProcess {
  /** Each ends with a NUL. */
  readonly arguments: () => Buffer | undefined;
  readonly environment: () => Buffer | undefined;
  readonly directory: () => Buffer | undefined;
}

const REPLACED = "\uFFFD";

const told = (read: () => Buffer) => (): Buffer | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

export const thisProcess: RawProcess = {
  arguments: told(() => readFileSync("/proc/self/cmdline")),
  environment: told(() => readFileSync("/proc/self/environ")),
  directory: told(() => readlinkSync("/proc/self/cwd", { encoding: "buffer" })),
};

const isUtf8 = (bytes: Buffer): boolean => process.getBuiltinModule("node:buffer").isUtf8(bytes);

const piecesOf = (bytes: Buffer): readonly Buffer[] => {
  const pieces: Buffer[] = [];
  for (let from = 0, to = bytes.indexOf(0); to !== -1; from = to + 1, to = bytes.indexOf(0, from))
    pieces.push(bytes.subarray(from, to));
  return pieces;
};

/** One sentence for each argument that is not UTF-8. */
export const badArguments = (argv: readonly string[], raw: RawProcess): readonly string[] => {
  if (!argv.some((text) => text.includes(REPLACED))) return [];
  return piecesOf(raw.arguments() ?? Buffer.alloc(0)).flatMap((bytes) =>
    isUtf8(bytes) ? [] : [`the argument ${JSON.stringify(bytes.toString("utf8"))} is not valid UTF-8`],
  );
};

/** One sentence for each of these variables whose value is not UTF-8. */
export const badVariables = (env: Readonly<Record<string, string>>, raw: RawProcess): readonly string[] => {
  const suspects = Object.entries(env).flatMap(([name, value]) => (value.includes(REPLACED) ? [name] : []));
  if (suspects.length === 0) return [];
  const bad = piecesOf(raw.environment() ?? Buffer.alloc(0)).filter((bytes) => !isUtf8(bytes));
  const names = new Set(bad.map((bytes) => bytes.subarray(0, bytes.indexOf("=")).toString("utf8")));
  return suspects
    .filter((name) => names.has(name))
    .map((name) => `the value of the variable ${name} is not valid UTF-8`);
};

export const badDirectory = (cwd: string, raw: RawProcess): readonly string[] => {
  const bytes = cwd.includes(REPLACED) ? raw.directory() : undefined;
  return bytes === undefined || isUtf8(bytes)
    ? []
    : [`the name of the current directory ${JSON.stringify(cwd)} is not valid UTF-8`];
};

/** The error for such texts: the call is refused, since it would pass on something else than the user meant. */
export const notUtf8 = (problems: readonly string[]): HoldfastError | undefined => {
  const [first] = problems;
  if (first === undefined) return undefined;
  const all = problems.length === 1 ? first : `${problems.length} texts are not valid UTF-8`;
  return new HoldfastError("PARSE_ERROR", `${all.charAt(0).toUpperCase()}${all.slice(1)}.`, {
    problems,
    phase: "validation",
    suggestion: "Pass text in UTF-8; what has a name in other bytes is reached by a link with another name.",
  });
};
