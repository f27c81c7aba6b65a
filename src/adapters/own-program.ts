/** Programs of Holdfast that run agents, by the same Node. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** The words that start one. `source`: its file below `src`, which Node runs itself; `built`: its name in a build. */
export const ownProgram = (source: string, built: string): readonly string[] => [
  process.execPath,
  "--disable-warning=ExperimentalWarning",
  join(here, ...(import.meta.url.endsWith(".ts") ? ["..", source] : [built])),
];
