/** Where the programs of this machine lie. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Env } from "../context.ts";

/** Where a program is found, as the daemon would look for it: the variable, else PATH. */
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
