/** Runs the `agent` command in this process, with streams of a test's own. */
import type { Streams } from "../../../src/cli/context.ts";
import { clientRun } from "../../support/client.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

export interface Ran {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface AgentOptions {
  readonly env?: Record<string, string>;
  readonly stdin?: string;
  /** The lines that a person types at the terminal. */
  readonly typed?: string;
  readonly terminal?: boolean;
  /** Width of the terminal. */
  readonly columns?: number;
  readonly onStdout?: (text: string) => void;
  readonly onStderr?: (text: string) => void;
}

export const agent = async (
  argv: readonly string[],
  { env = {}, stdin, typed, terminal = false, columns, onStdout, onStderr }: AgentOptions = {},
): Promise<Ran> => {
  let [stdout, stderr] = ["", ""];
  const streams: Streams = {
    stdout: (text) => {
      stdout += Buffer.from(text).toString();
      onStdout?.(Buffer.from(text).toString());
    },
    stderr: (text) => {
      stderr += text;
      onStderr?.(text);
    },
    stdin: async function* () {
      const given = typed ?? stdin;
      if (given !== undefined) yield Buffer.from(given);
    },
    isStdinTerminal: () => stdin === undefined,
    isStdoutTerminal: terminal,
    isStderrTerminal: terminal,
    columns,
    errorColumns: columns,
  };
  const others = SIGNALS.map((signal) => new Set(process.listeners(signal)));
  const exit = await clientRun()(
    argv,
    streams,
    { PATH: process.env.PATH, HOLDFAST_VALIDATE: "1", ...env },
    performance.now(),
  );
  // A command listens until its process ends, but this process goes on.
  for (const [at, signal] of SIGNALS.entries())
    for (const listener of process.listeners(signal))
      if (!others[at]!.has(listener)) process.removeListener(signal, listener);
  return { exit, stdout, stderr };
};
