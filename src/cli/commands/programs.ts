/** Finds programs on this machine. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, relative } from "node:path";
import { COMMAND_PROGRAM } from "../../base/own-command.ts";
import type { Env } from "../context.ts";

/** The path of a program as the daemon would find it: from the variable, else on PATH. */
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

/** The word that a person types to run this command: its name, if PATH has it, else its path. */
export const typedName = (env: Env, cwd: string): string => {
  const found = NAMES.find((name) => {
    const path = findProgram(name, env);
    return path !== undefined && realpathSync(path) === realpathSync(COMMAND_PROGRAM);
  });
  if (found !== undefined) return found;
  const path = relative(cwd, COMMAND_PROGRAM);
  return path.startsWith("..") ? COMMAND_PROGRAM : join(".", path);
};
