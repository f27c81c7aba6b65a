/** Facts about this package: its version, and the path of the daemon's program. */
import { fileURLToPath } from "node:url";
import packageJson from "../../package.json" with { type: "json" };

export const VERSION: string = packageJson.version;

/** From sources, Node runs the files directly; a build has one file for the daemon beside the client's. */
const isSource = import.meta.url.endsWith(".ts");
export const DAEMON_PROGRAM = fileURLToPath(
  new URL(isSource ? "../daemon/entry.ts" : "./daemon.js", import.meta.url),
);
