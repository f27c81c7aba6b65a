/** The context of a command: its call, a connection on demand, its output, and the user's wish to stop. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { NamedHost } from "../base/host-address.ts";
import { type Client, makeClient } from "../daemon/client.ts";
import { connectDaemon } from "../daemon/connect.ts";
import { readDaemonFile } from "../daemon/daemon-file.ts";
import { stateDirectory } from "../daemon/paths.ts";
import { readToken } from "../daemon/token.ts";
import type { StreamPlace } from "../protocol/host-places.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { PageMeta } from "../protocol/response-envelope.ts";
import { DAEMON_PROGRAM, VERSION } from "./package.ts";
import type { Call } from "./parse.ts";
import { presentedToken } from "./presented-token.ts";
import type { Mode } from "./render/renderer.ts";
import type { Paint } from "./render/terminal.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** The key that makes a repeat of the call safe. */
export const keyOf = ({ flags }: Pick<Call, "flags">): string | undefined =>
  flags["idempotency-key"] as string | undefined;

/** An outcome, and the exit code if it is not that of the error: a child's, or a signal's. */
export type CommandResult = Outcome<unknown> & { readonly exit?: number; readonly meta?: PageMeta };

/** The streams of the process that a command uses. */
export interface Streams {
  /** Resolves when the reader is ready for more. */
  stdout(text: string | Uint8Array): void | Promise<void>;
  stderr(text: string): void;
  /** Opened on demand. */
  stdin(): AsyncIterable<Uint8Array>;
  isStdinTerminal(): boolean;
  readonly isStdoutTerminal: boolean;
  readonly isStderrTerminal: boolean;
  /** Width of the terminal; undefined if stdout is not one. */
  readonly columns?: number | undefined;
  /** Its height. */
  readonly rows?: number | undefined;
  /** Width of the terminal of stderr. */
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
  /** The command's connection, renewed after a failure. Fails with SUPERVISOR_DOWN if no daemon runs, unless `start` is set. */
  connect(options?: { readonly start?: boolean }): Promise<Client>;
  /** The same for one of several hosts. */
  connectTo(host: NamedHost): Context["connect"];
  /** The name of the other host behind `connect`; undefined for this machine. */
  readonly host: string | undefined;
  /**
   * Tells where a stream of records stands: at its beginning, which waits until all hosts of the call are there, and before
   * each record.
   */
  at(place: StreamPlace): void | Promise<void>;
  /** The milliseconds for which the other hosts of the call were followed without this one. */
  late_ms(): number;
  /** Prints one record of a stream. */
  record(record: LogRecord): void | Promise<void>;
  /** Prints another item of a stream, in the JSON modes. */
  line(value: object): void | Promise<void>;
  /** Remembers a worker's name for the lines of text. */
  know(id: string, name: string | null): void;
  /** Adds a warning to the envelope; text mode also prints it on stderr. */
  warn(text: string): void;
  readonly warnings: readonly string[];
  /** Prints advice for people on stderr: now, or after the result. */
  hint(text: string, when?: "now" | "after"): void;
  /** Prints a notice on stderr now, and adds it as a warning to the envelope. */
  notice(text: string): void;
  /** Prints the end of a command whose process ends in another way: `daemon run`. */
  finish(result: CommandResult): void;
  /**
   * Shows a spinner on stderr if something takes longer than a second. `so_far` is asked at each look. Returns the function that
   * ends it.
   */
  progress(text: string, so_far?: () => string): () => void;
  /** Counts a retry in `meta.retries`. */
  retried(): void;
  /** The work that continues after the user stops this command, and how to end that too. */
  onInterrupt: { readonly workers?: readonly string[]; readonly sentence: string } | undefined;
  /** Run before the process ends, in every case. */
  readonly cleanups: (() => void | Promise<void>)[];
}

export type CommandHandler = (context: Context) => Promise<CommandResult>;

export const stateDirOf = (flags: Readonly<Record<string, unknown>>, env: Env, cwd: string): string =>
  typeof flags["state-dir"] === "string"
    ? resolve(cwd, flags["state-dir"])
    : stateDirectory(env, homedir(), cwd);

/** Erases the line of the spinner. */
export const ERASE_LINE = "\r\x1b[K";
const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPINNER_AFTER_MS = 1_000;
const SPINNER_STEP_MS = 100;

export const spinner = (streams: Streams, paint: Paint, text: () => string): (() => void) => {
  if (!streams.isStderrTerminal) return () => {};
  const begun = performance.now();
  let shown = false;
  const timer = setInterval(() => {
    const elapsed = performance.now() - begun;
    if (elapsed < SPINNER_AFTER_MS) return;
    shown = true;
    const frame = SPINNER[Math.floor(elapsed / SPINNER_STEP_MS) % SPINNER.length]!;
    streams.stderr(
      `${ERASE_LINE}${paint("name", frame)} ${text()} ${paint("dim", `${Math.floor(elapsed / 1000)}s`)}`,
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

/** Keeps one connection at a time. After it broke, the next one is made on demand. */
export const connector = (
  stateDir: string,
  env: Env,
  cwd: string,
  onConnect: () => void,
  cleanups: Context["cleanups"],
): Context["connect"] => {
  let client: Client | undefined;
  return async ({ start = false } = {}) => {
    if (client === undefined || client.isBroken()) {
      const presented = presentedToken(env, cwd);
      const socket = await connectDaemon({ stateDir, env, ...(start ? { bundle: DAEMON_PROGRAM } : {}) });
      const made = makeClient(socket, presented ?? readToken(stateDir), env.HOLDFAST_RUN);
      cleanups.push(() => made.close());
      onConnect();
      client = made;
    }
    return client;
  };
};
