/** Directories of workers of kind `llm`: a script in the place of the model, the ledger of its tools, and the journals. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer, Commands } from "../cli/support/commands.ts";

export interface Place {
  readonly dir: string;
  spawn(prompt: string, ...flags: string[]): Promise<Answer>;
  /** Ids of the calls that had their effect. */
  ledger(): readonly string[];
}

export type MakePlace = (answers: readonly object[], tools?: readonly object[]) => Place;

let places = 0;

export const placeOf = (
  commands: Commands,
  answers: readonly object[],
  tools: readonly object[] = [],
): Place => {
  places += 1;
  const dir = join(commands.home, "places", String(places));
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "script.json"), JSON.stringify({ answers, tools }));
  return {
    dir,
    spawn: (prompt, ...flags) =>
      commands.agent(
        ...["spawn", "llm", prompt, "--model", "scripted/script.json", "--cwd", dir],
        ...["--env", `HOLDFAST_ENGINE_HOME=${join(dir, "journals")}`, "--backoff", "0s..0s"],
        ...flags,
      ),
    ledger: () => readFileSync(join(dir, "ledger"), "utf8").trim().split("\n"),
  };
};
