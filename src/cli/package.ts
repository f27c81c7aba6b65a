/** Facts about this package: its version, and where the daemon's program lies. */
import { fileURLToPath } from "node:url";
import packageJson from "../../package.json" with { type: "json" };

export const VERSION: string = packageJson.version;

/** Node runs the sources as they are; a build has one file for the daemon, beside the client's. */
const isSource = import.meta.url.endsWith(".ts");
/** The `agent` command itself, as it is installed. */
export const COMMAND_PROGRAM = fileURLToPath(
  new URL(isSource ? "../../bin/agent" : "../bin/agent", import.meta.url),
);
export const DAEMON_PROGRAM = fileURLToPath(
  new URL(isSource ? "../daemon/entry.ts" : "./daemon.js", import.meta.url),
);
