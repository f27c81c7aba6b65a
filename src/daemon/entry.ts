/** The daemon's program: `entry --state-dir DIR [--take-over]`, in the foreground. `agent daemon start` runs its bundle in the background. */
import "./close-inherited.ts";
import { parseArgs } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { armHere } from "../base/crash-point.ts";
import { openRuntime } from "../runtime/open.ts";
import { refuseWithoutRoom } from "./disk-room.ts";
import { COMPILE_CACHE_VARIABLE } from "./node-flags.ts";
import { checkReadable } from "./offline.ts";
import { runDaemonProcess } from "./process.ts";

const { values } = parseArgs({
  options: { "state-dir": { type: "string" }, "take-over": { type: "boolean" } },
});
const stateDir = values["state-dir"];
if (stateDir === undefined || !stateDir.startsWith("/")) {
  process.stderr.write("The daemon needs --state-dir with an absolute path.\n");
  process.exit(3);
}
// No process that the daemon starts may write there.
delete process.env[COMPILE_CACHE_VARIABLE];
armHere(process.env);
const takeOver = {
  check: () => {
    checkReadable(stateDir);
    refuseWithoutRoom(stateDir);
  },
};
await runDaemonProcess({
  stateDir,
  version: packageJson.version,
  openRuntime,
  takeOver: values["take-over"] === true ? takeOver : undefined,
});
