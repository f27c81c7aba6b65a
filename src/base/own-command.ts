/** The installed `agent` command. */
import { fileURLToPath } from "node:url";

const isSource = import.meta.url.endsWith(".ts");
/** Absolute path. */
export const COMMAND_PROGRAM = fileURLToPath(
  new URL(isSource ? "../../bin/agent" : "../bin/agent", import.meta.url),
);
