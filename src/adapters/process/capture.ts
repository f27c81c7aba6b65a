/**
 * Runs a program to its end and keeps the first of what it prints (agent-event notes A.5, MCP management). It is for short commands that
 * nobody supervises: when the time is up it is killed with all that it has started, and nothing of its output is given back. A process that it
 * leaves is ended with it.
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
  /** Zero fails at once; undefined is no bound. */
  readonly timeout_ms: number | undefined;
}

export interface CapturedProcess {
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly stdout: CapturedText;
  readonly stderr: CapturedText;
}

/** Its exit is told, whatever its code. Rejects where it could not be started, or took too long. */
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
      // Nobody is left of it.
    }
  };
  // Ctrl-C of whoever asked: it is in a group of its own.
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
    // The program went away meanwhile, or this is its own exit code.
    if (code !== null && code === command.not_found) preflight({ argv, cwd, env });
    // A process that it has left behind may hold its pipes open, where no keeper ends it.
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
