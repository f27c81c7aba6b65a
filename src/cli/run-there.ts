/** Runs a whole command on another host: one that sends its directory and variables, or is about the machine on which it runs. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { type HostAddress, relayArgv } from "../base/host-address.ts";
import { commandLine } from "../base/shell.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { Mode } from "./render/renderer.ts";

/** By ssh's own manual, an error of ssh itself. */
const SSH_FAILED = 255;

/** The words without `--host`, up to the words of a program after `--`. */
const withoutHost = (argv: readonly string[]): readonly string[] => {
  const end = argv.indexOf("--");
  const [own, rest] = end === -1 ? [argv, []] : [argv.slice(0, end), argv.slice(end)];
  const isValue = (at: number): boolean => own[at - 1] === "--host";
  return [...own.filter((word, at) => !isValue(at) && !/^--host(=|$)/.test(word)), ...rest];
};

/**
 * The exit code of the command there, whose stdio are those of this process; or the error if it could not be run. `mode`: how
 * it prints, since it does not see the terminal.
 */
export const runThere = (
  host: HostAddress,
  argv: readonly string[],
  mode: Mode | undefined,
): Promise<number | HoldfastError> => {
  const printing = mode === undefined ? [] : ["--output", mode];
  const words = relayArgv(host, ["agent", ...printing, ...withoutHost(argv)]);
  const [program = "", ...args] = words;
  const unreached = (cause?: Error): HoldfastError =>
    new HoldfastError(
      "UNAVAILABLE",
      `The host ${host.text} cannot be reached${cause === undefined ? "" : `: ${cause.message}`}.`,
      { ...(cause && { cause }), suggestion: `Try it by hand: ${commandLine(words)}` },
    );
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "inherit" });
    child.on("error", (cause) => resolve(unreached(cause)));
    child.on("close", (code, signal) => {
      if (host.isShell && code === SSH_FAILED) resolve(unreached());
      else resolve(code ?? 128 + constants.signals[signal!]);
    });
    // The terminal tells the program of Ctrl-C too, and its end is awaited.
    process.on("SIGINT", () => undefined);
    for (const name of ["SIGTERM", "SIGHUP"] as const) process.on(name, () => child.kill(name));
  });
};
