/**
 * Runs a program to its end and keeps the beginning of its output (agent-event notes A.5, MCP management). It
 * is for short commands without a supervisor. After the time limit the program and everything that it started
 * are killed, and no output is returned. Processes that the program leaves behind are ended too.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { CAPTURE_DRAIN_MS } from "../../base/limits.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { type CapturedText, makeCapture } from "../decoding/mcp-output.ts";
import { preflight } from "./preflight.ts";
import { kept } from "./reaper.ts";

export interface CaptureRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds. Zero fails at once; undefined is no limit. */
  readonly timeout_ms: number | undefined;
}

export interface CapturedProcess {
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly stdout: CapturedText;
  readonly stderr: CapturedText;
}

/**
 * Resolves with the exit, whatever its code. Rejects if the program cannot be started or exceeds its time.
 */
export const runCaptured = async ({
  argv,
  cwd,
  env,
  timeout_ms,
}: CaptureRequest): Promise<CapturedProcess> => {
  if (timeout_ms === 0) throw late(0);
  preflight({ argv, cwd, env });
  const [program, ...args] = argv;
  const command = kept(program!, args, env);
  const child = spawn(command.program, command.args, {
    cwd,
    env: command.env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = [makeCapture(), makeCapture()];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, command.last);
    } catch {
      // No process of the group is left.
    }
  };
  // Ctrl-C does not reach the program, because it has a process group of its own.
  process.once("exit", end);
  let isLate = false;
  const timer =
    timeout_ms === undefined
      ? undefined
      : setTimeout(() => {
          isLate = true;
          end();
        }, timeout_ms);
  const closed = once(child, "close").catch(() => undefined);
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    if (isLate) throw late(timeout_ms!);
    // Either the program disappeared after the check, or this is its own exit code.
    if (code !== null && code === command.not_found) preflight({ argv, cwd, env });
    // Without a keeper, a process that the program left behind may hold the pipes open.
    const drained = setTimeout(() => child.stdout.destroy() && child.stderr.destroy(), CAPTURE_DRAIN_MS);
    await closed;
    clearTimeout(drained);
    return { exit_code: code, signal, stdout: stdout.end(), stderr: stderr.end() };
  } catch (cause) {
    throw cause instanceof HoldfastError ? cause : startError(argv[0]!, cause);
  } finally {
    clearTimeout(timer);
    process.removeListener("exit", end);
    end();
  }
};

const late = (timeout_ms: number): HoldfastError =>
  new HoldfastError("TIMEOUT", `It did not end within ${timeout_ms} ms.`);

const startError = (program: string, cause: unknown): HoldfastError => {
  const { code, message } = asHoldfastError(cause);
  return code === "INTERNAL"
    ? new HoldfastError("EXEC_FAILED", `${program} could not be executed.`, { cause })
    : new HoldfastError(code, message, { cause });
};
