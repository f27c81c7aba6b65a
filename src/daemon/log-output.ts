/** The output of the lines of daemon.log: stderr, or the descriptor of a file that was made again (`log-file.ts`). Also for the watchdog. */
import { fstatSync, writeSync } from "node:fs";

export interface LogOutput {
  readonly write: (line: string) => void;
  /** The descriptor, as one number of shared memory. */
  readonly place: Int32Array<SharedArrayBuffer>;
}

export const descriptorOf = (place: Int32Array): number => Atomics.load(place, 0);

/** `stream` is stderr: it takes the lines as long as they go there, unless it is a file, whose full disk would be an error of the stream. */
export const logOutput = (stream: { readonly fd: number; write(line: string): unknown }): LogOutput => {
  const place = new Int32Array(new SharedArrayBuffer(4)).fill(stream.fd);
  const takes = !isFile(stream.fd);
  return {
    place,
    write: (line) => {
      const fd = descriptorOf(place);
      if (takes && fd === stream.fd) stream.write(line);
      else tryToWrite(fd, line);
    },
  };
};

const isFile = (fd: number): boolean => {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
};

/** A log that cannot be written to must not end who writes it. */
export const tryToWrite = (fd: number, line: string): void => {
  try {
    writeSync(fd, line);
  } catch {
    // There is nowhere to tell it.
  }
};
