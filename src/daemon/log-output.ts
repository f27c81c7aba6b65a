/**
 * The output of daemon.log: stderr, or the descriptor of a file that was made again (`log-file.ts`).
 * The watchdog uses it too.
 */
import { fstatSync, writeSync } from "node:fs";

export interface LogOutput {
  readonly write: (line: string) => void;
  /** The descriptor, as one number in shared memory. */
  readonly place: Int32Array<SharedArrayBuffer>;
}

export const descriptorOf = (place: Int32Array): number => Atomics.load(place, 0);

/**
 * `stream` is stderr. Lines go through the stream while stderr is the output, unless it is a file, because a
 * full disk would cause an error of the stream.
 */
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

/** Never throws: a log that cannot be written must not end its process. */
export const tryToWrite = (fd: number, line: string): void => {
  try {
    writeSync(fd, line);
  } catch {
    // There is no other place to report it.
  }
};
