/**
 * The first process of a user's skill that declares hosts, inside its sandbox: it opens the tunnel, runs the skill's program
 * with its own stdin and stdout, and ends as it does.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { openTunnel } from "./tunnel.ts";

const [program = "", ...args] = process.argv.slice(2);

await openTunnel();
const child = spawn(program, args, { stdio: "inherit" });
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
child.once("error", (cause) => {
  process.stderr.write(`${cause.message}\n`);
  process.exitCode = 127;
});
child.once("exit", (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal!];
});
