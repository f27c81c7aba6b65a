/** The means of a command: its call, a connection when it asks for one, the output, and the person's wish to stop. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { connectDaemon } from "../daemon/connect.ts";
import { readDaemonFile } from "../daemon/daemon-file.ts";
import { stateDirectory } from "../daemon/paths.ts";
import { readToken } from "../daemon/token.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { PageMeta } from "../protocol/response-envelope.ts";
import { type Client, makeClient } from "./client.ts";
import { DAEMON_PROGRAM, VERSION } from "./package.ts";
import type { Call } from "./parse.ts";
import type { Mode } from "./render/renderer.ts";
import type { Paint } from "./render/terminal.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** An outcome, and the exit code where it is not the one of its error: a child's own, a signal's. */
export type Result = Outcome<unknown> & { readonly exit?: number; readonly meta?: PageMeta };

/** The streams of the process, as far as a command writes to them. */
export interface Streams {
  /** Resolves when the reader has taken enough to be given more. */
  stdout(text: string | Uint8Array): void | Promise<void>;
  stderr(text: string): void;
  /** Opened when it is asked for. */
  stdin(): AsyncIterable<Uint8Array>;
  isStdinTerminal(): boolean;
  readonly isStdoutTerminal: boolean;
  readonly isStderrTerminal: boolean;
  /** Width of the terminal; undefined where stdout is none. */
  readonly columns?: number | undefined;
  /** Its height. */
  readonly rows?: number | undefined;
  /** Width of the terminal that stderr is. */
  readonly errorColumns?: number | undefined;
}

export interface Context extends Streams {
  readonly call: Call;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Env;
  readonly cwd: string;
  readonly stateDir: string;
  readonly mode: Mode;
  /** For stdout. */
  readonly paint: Paint;
  /** For stderr. */
  readonly errorPaint: Paint;
  /** The command's one connection, made anew where it has failed. Fails with SUPERVISOR_DOWN where no daemon runs, unless `start` is set. */
  connect(options?: { readonly start?: boolean }): Promise<Client>;
  /** Print one record of a stream. */
  record(record: LogRecord): void | Promise<void>;
  /** Print something else that a stream repeats, in the JSON modes. */
  line(value: object): void | Promise<void>;
  /** A worker's name, for the lines of text. */
  know(id: string, name: string | null): void;
  /** Kept for the envelope; also a line on stderr in text mode. */
  warn(text: string): void;
  readonly warnings: readonly string[];
  /** A line of advice on stderr, for people alone: now, or after the result. */
  hint(text: string, when?: "now" | "after"): void;
  /** Something to know at once: a line on stderr, and a warning of the envelope. */
  notice(text: string): void;
  /** Print the end of a command whose process is ended by something else: `daemon run`. */
  finish(result: Result): void;
  /** A moving line on stderr while something takes longer than a second. Returns the way to end it. */
  progress(text: string): () => void;
  /** Something was tried again that had failed: `meta.retries` counts it. */
  retried(): void;
  /** The work that goes on when the person stops this command, and how to end it too. */
  onInterrupt: { readonly workers?: readonly string[]; readonly sentence: string } | undefined;
  /** Run before the process ends, whatever happened. */
  readonly cleanups: (() => void | Promise<void>)[];
}

export type Handler = (context: Context) => Promise<Result>;

export const stateDirOf = (flags: Readonly<Record<string, unknown>>, env: Env, cwd: string): string =>
  typeof flags["state-dir"] === "string"
    ? resolve(cwd, flags["state-dir"])
    : stateDirectory(env, homedir(), cwd);

/** The beginning of the line in which the spinner moves. */
export const ERASE_LINE = "\r\x1b[K";
const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPINNER_AFTER_MS = 1_000;
const SPINNER_STEP_MS = 100;

export const spinner = (streams: Streams, paint: Paint, text: string): (() => void) => {
  if (!streams.isStderrTerminal) return () => {};
  const begun = performance.now();
  let shown = false;
  const timer = setInterval(() => {
    const elapsed = performance.now() - begun;
    if (elapsed < SPINNER_AFTER_MS) return;
    shown = true;
    const frame = SPINNER[Math.floor(elapsed / SPINNER_STEP_MS) % SPINNER.length]!;
    streams.stderr(
      `${ERASE_LINE}${paint("name", frame)} ${text} ${paint("dim", `${Math.floor(elapsed / 1000)}s`)}`,
    );
  }, SPINNER_STEP_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (shown) streams.stderr(ERASE_LINE);
    shown = false;
  };
};

export const versionProblem = (stateDir: string): string | undefined => {
  const daemon = readDaemonFile(stateDir);
  return daemon === undefined || daemon.version === VERSION
    ? undefined
    : `The daemon is version ${daemon.version} and this command is version ${VERSION}; bring it to this one with: agent daemon upgrade`;
};

/** One connection at a time; the next one is made when it is asked for after the last one broke. */
export const connector = (
  stateDir: string,
  env: Env,
  onConnect: () => void,
  cleanups: Context["cleanups"],
): Context["connect"] => {
  let client: Client | undefined;
  return async ({ start = false } = {}) => {
    if (client === undefined || client.isBroken()) {
      const socket = await connectDaemon({ stateDir, env, ...(start ? { bundle: DAEMON_PROGRAM } : {}) });
      const made = makeClient(socket, readToken(stateDir), env.HOLDFAST_RUN);
      cleanups.push(() => made.close());
      onConnect();
      client = made;
    }
    return client;
  };
};
