/** The places of this machine's programs. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, relative } from "node:path";
import type { Env } from "../context.ts";
import { COMMAND_PROGRAM } from "../package.ts";

/** The path of a program, as the daemon would look for it: the variable, else PATH. */
export const findProgram = (name: string, env: Env): string | undefined => {
  const candidates = isAbsolute(name)
    ? [name]
    : (env.PATH ?? "")
        .split(delimiter)
        .filter(Boolean)
        .map((directory) => join(directory, name));
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
};

/** The names of this command. */
const NAMES = ["agent", "holdfast"];

/** The word that a person types here to run this command: a name, where PATH has it under one, else the path of the program. */
export const typedName = (env: Env, cwd: string): string => {
  const found = NAMES.find((name) => {
    const path = findProgram(name, env);
    return path !== undefined && realpathSync(path) === realpathSync(COMMAND_PROGRAM);
  });
  if (found !== undefined) return found;
  const path = relative(cwd, COMMAND_PROGRAM);
  return path.startsWith("..") ? COMMAND_PROGRAM : join(".", path);
};
