/** The installed `agent` command. */
import { fileURLToPath } from "node:url";

/** From sources, this file is two levels below the package; a build has its bundles one level below it. */
const isSource = import.meta.url.endsWith(".ts");
/** Absolute path. */
export const COMMAND_PROGRAM = fileURLToPath(
  new URL(isSource ? "../../bin/agent" : "../bin/agent", import.meta.url),
);
