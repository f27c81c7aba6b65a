/** The scripts of a launch plan as they are written, with their references read. */
import { join } from "node:path";
import { commandLine } from "../../base/shell.ts";
import type { LaunchPlan, LaunchScript } from "../adapter.ts";
import { type EnvironmentSource, readReferences } from "./environment.ts";

/** The directory of the scripts, which all incarnations of a worker share. */
export const launchScriptsIn = (workerDir: string): string => join(workerDir, "launch");

/** The texts by name, and the secrets in them. Rejects with SECRET_UNAVAILABLE if a reference cannot be read. */
export const launchScripts = async (
  planned: NonNullable<LaunchPlan["scripts"]>,
  source: Pick<EnvironmentSource, "spec" | "readFile">,
): Promise<{ readonly texts: Readonly<Record<string, string>>; readonly secrets: readonly string[] }> => {
  const texts: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [name, script] of Object.entries(planned)) {
    const read = await readReferences(script.env, source);
    secrets.push(...read.secrets);
    texts[name] = textOf({ ...script, env: read.values });
  }
  return { texts, secrets };
};

/** For a POSIX shell, which becomes the program. */
const textOf = ({ argv, env }: LaunchScript): string =>
  [
    ...Object.entries(env).map(([name, value]) => `export ${name}=${commandLine([value])}`),
    `exec ${commandLine(argv)}`,
    "",
  ].join("\n");
