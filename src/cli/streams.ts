/**
 * The process's own streams. If the reader goes away (EPIPE), the command ends quietly with 0 (requirements F-014); on a
 * full disk, with a message.
 */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { asHoldfastError } from "../protocol/errors.ts";
import { redactText } from "../protocol/redact.ts";
import type { Streams } from "./context.ts";

export const processStreams = (): Streams => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EPIPE" && stream === process.stdout) tellWriteError(cause);
      process.exit(cause.code === "EPIPE" ? 0 : 1);
    });
  }
  return {
    stdout: (text) => {
      if (process.stdout.write(text)) return undefined;
      return new Promise((resolve) => process.stdout.once("drain", resolve));
    },
    stderr: (text) => void process.stderr.write(text),
    stdin: () => process.stdin,
    isStdinTerminal: () => isatty(0),
    isStdoutTerminal: isatty(1),
    isStderrTerminal: isatty(2),
    columns: isatty(1) ? process.stdout.columns : undefined,
    rows: isatty(1) ? process.stdout.rows : undefined,
    errorColumns: isatty(2) ? process.stderr.columns : undefined,
  };
};

/** Synchronous, because the process ends with the next call. */
const tellWriteError = ({ message }: Error): void => {
  try {
    writeSync(2, `write error: ${message}\n`);
  } catch {
    // stderr cannot be written either.
  }
};

/** Ends the process once all output is written. */
export const exitAfterWriting = (code: number): void => {
  process.exitCode = code;
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
};

/** Reports an error that no command handled, such as a deleted working directory: one sentence instead of a stack. */
export const endUnforeseen = (cause: unknown): void => {
  process.stderr.write(`error: ${redactText(asHoldfastError(cause).message)}\n`);
  exitAfterWriting(1);
};
