/** The program of the engine: a file of Holdfast, run by the same Node. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const PLACES: readonly (readonly [RegExp, string])[] = [
  // From sources, Node runs the file itself.
  [/\.ts$/, join(here, "../../../engine/child.ts")],
  // The library has its files below the bundles.
  [/\/kinds\/llm\/program\.js$/, join(here, "../../../../../engine.js")],
];

/** The words that start the engine. */
export const engineArguments = (): readonly string[] => {
  const [, program] = PLACES.find(([form]) => form.test(import.meta.url)) ?? [];
  return [process.execPath, "--disable-warning=ExperimentalWarning", program ?? join(here, "engine.js")];
};
