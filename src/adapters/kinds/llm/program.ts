/** The program of the engine. */
import { ownProgram } from "../../own-program.ts";

/** The words that start the engine. */
export const engineArguments = (): readonly string[] => ownProgram("engine/child.ts", "engine.js");
