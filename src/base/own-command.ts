/** The installed `agent` command. */
import { fileURLToPath } from "node:url";

/** This file's place: from sources, in the library, which has a file for each of them, and in a bundle. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/\.ts$/, "../../bin/agent"],
  [/\/lib\/src\/base\/own-command\.js$/, "../../../../bin/agent"],
];
const [, program = "../bin/agent"] = PLACES.find(([form]) => form.test(import.meta.url)) ?? [];
/** Absolute path. */
export const COMMAND_PROGRAM = fileURLToPath(new URL(program, import.meta.url));
