/** Runs a whole command on another host: one that sends its directory and variables, or is about the machine on which it runs. */
import { type ExecFileException, execFile, spawn } from "node:child_process";
import { constants } from "node:os";
import { promisify } from "node:util";
import { type HostAddress, relayArgv } from "../base/host-address.ts";
import { HOST_ANSWER_MAX_MS, REPLY_MAX_BYTES } from "../base/limits.ts";
import { commandLine } from "../base/shell.ts";
import type { ResponseEnvelope } from "../protocol/envelope-schemas.ts";
import { ERROR_CATALOGUE, type ErrorCode, HoldfastError } from "../protocol/errors.ts";
import type { CommandResult } from "./context.ts";
import { type Call, wordsWithout } from "./parse.ts";
import { LIST_MEMBER } from "./render/json.ts";
import type { Mode } from "./render/renderer.ts";

/** By ssh's own manual, an error of ssh itself. */
const SSH_FAILED = 255;

const unreached = (host: HostAddress, words: readonly string[], said = ""): HoldfastError =>
  new HoldfastError(
    "UNAVAILABLE",
    `The host ${host.text} cannot be reached${said === "" ? "" : `: ${said.replace(/\.$/, "")}`}.`,
    { suggestion: `Try it by hand: ${commandLine(words)}` },
  );

/** The answer of a command that reads, as it was run there. Fails with UNAVAILABLE where the host gives none. */
export const answerThere = async (host: HostAddress, call: Call): Promise<CommandResult> => {
  const asked = wordsWithout(call, ["host", "output", "envelope"]);
  const words = relayArgv(host, ["agent", "--output", "json", ...asked]);
  const [program = "", ...args] = words;
  // It ends with another code than 0 where it answers with an error.
  const { stdout, stderr, ...failed } = await promisify(execFile)(program, args, {
    maxBuffer: REPLY_MAX_BYTES,
    timeout: HOST_ANSWER_MAX_MS,
  }).catch((cause: ExecFileException) => ({ stdout: "", stderr: "", ...cause, message: cause.message }));
  const envelope = envelopeIn(stdout);
  if (envelope === undefined) {
    // A program that ran has said why; one that did not run has a reason of the system.
    const isRun = !("message" in failed) || typeof failed.code === "number" || failed.killed;
    const said = isRun ? stderr.trim().split("\n").at(-1) : failed.message;
    throw unreached(host, words, said);
  }
  const { data, error, warnings } = envelope;
  const member = LIST_MEMBER[call.command.command];
  const value = data === null ? undefined : member === undefined ? data : { [member]: data };
  if (error === null) return { ok: true, value, warnings };
  const { code, message, suggestion } = error;
  // Another version may have other codes.
  const known = Object.hasOwn(ERROR_CATALOGUE, code) ? (code as ErrorCode) : "INTERNAL";
  return { ok: false, error: new HoldfastError(known, message, { suggestion }), value, warnings };
};

const envelopeIn = (stdout: string): ResponseEnvelope | undefined => {
  try {
    const said = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as ResponseEnvelope | null;
    return typeof said?.ok === "boolean" && "data" in said ? said : undefined;
  } catch {
    return undefined;
  }
};

/**
 * The exit code of the command there, whose stdio are those of this process; or the error if it could not be run. `mode`: how
 * it prints, since it does not see the terminal.
 */
export const runThere = (
  host: HostAddress,
  call: Call,
  mode: Mode | undefined,
): Promise<number | HoldfastError> => {
  const printing = mode === undefined ? [] : ["--output", mode];
  const words = relayArgv(host, ["agent", ...printing, ...wordsWithout(call, ["host"])]);
  const [program = "", ...args] = words;
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "inherit" });
    child.on("error", (cause) => resolve(unreached(host, words, cause.message)));
    child.on("close", (code, signal) => {
      if (host.isShell && code === SSH_FAILED) resolve(unreached(host, words));
      else resolve(code ?? 128 + constants.signals[signal!]);
    });
    // The terminal tells the program of Ctrl-C too, and its end is awaited.
    process.on("SIGINT", () => undefined);
    for (const name of ["SIGTERM", "SIGHUP"] as const) process.on(name, () => child.kill(name));
  });
};
