/** The program of the engine: a file of Holdfast, run by the same Node. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
/** From sources, Node runs the file itself. */
const PROGRAM = join(here, import.meta.url.endsWith(".ts") ? "../../../engine/child.ts" : "engine.js");

/** The words that start the engine. */
export const engineArguments = (): readonly string[] => [
  process.execPath,
  "--disable-warning=ExperimentalWarning",
  PROGRAM,
];
