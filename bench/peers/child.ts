/**
 * The program that every peer supervises, and the pipe by which it tells that it runs. The program says so in its first instructions, with the
 * time of the clock that all processes share, and sleeps. So the supervisor under test has no part in the measurement.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";

const C = `
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) {
  struct timespec now;
  char line[64];
  clock_gettime(CLOCK_MONOTONIC, &now);
  int size = snprintf(line, sizeof line, "%d %lld\\n", getpid(), now.tv_sec * 1000000000LL + now.tv_nsec);
  int pipe = open(argv[1], O_WRONLY | O_CLOEXEC);
  if (pipe < 0 || write(pipe, line, size) != size || write(1, line, size) != size) return 1;
  close(pipe);
  for (;;) pause();
}
`;
/** A shell has no such clock: the line counts from its arrival. It waits for a writer that never comes. */
const SH = `#!/bin/sh
echo "$$ 0" >"$1" && echo "$$" && read -r _ <"$1.never"
`;

/** Nanoseconds of CLOCK_MONOTONIC, as the C program tells them. */
export const now = (): bigint => process.hrtime.bigint();
export const msSince = (since: bigint, until: bigint = now()): number => Number(until - since) / 1e6;

interface Line {
  readonly pid: number;
  readonly at: bigint;
}

export interface Child {
  readonly argv: readonly [string, string];
  /** The next line; lines that came before this call are over. */
  next(): Promise<Line>;
  /** Resolves when so many lines have come since this call, with the time of the last. */
  lines(count: number): Promise<bigint>;
  /** The children of this program that live, by their command line. */
  living(): readonly number[];
  close(): void;
}

/** Without one the child is a shell script. */
export const hasCompiler = (): boolean => spawnSync("cc", ["--version"], { stdio: "ignore" }).status === 0;

const WAIT_MAX_MS = 120_000;

const within = async <T>(work: Promise<T>, what: string): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`${what} within ${WAIT_MAX_MS / 1_000} s`)), WAIT_MAX_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};

export const makeChild = (dir: string): Child => {
  const program = join(dir, "child");
  const pipe = join(dir, "lines");
  execFileSync("mkfifo", [pipe, `${pipe}.never`]);
  if (hasCompiler()) {
    writeFileSync(`${program}.c`, C);
    execFileSync("cc", ["-O2", "-o", program, `${program}.c`]);
  } else writeFileSync(program, SH, { mode: 0o755 });
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const socket = new Socket({ fd, readable: true, writable: false });
  const seen = new Set<number>();
  let listener: (line: Line) => void = () => undefined;
  let rest = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    const whole = (rest + text).split("\n");
    rest = whole.pop() ?? "";
    for (const [pid, at] of whole.map((line) => line.split(" "))) {
      seen.add(Number(pid));
      listener({ pid: Number(pid), at: at === "0" ? now() : BigInt(at ?? 0) });
    }
  });
  const isOurs = (pid: number): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(pipe);
    } catch {
      return false;
    }
  };
  return {
    argv: [program, pipe],
    next: () =>
      within(
        new Promise((done) => {
          listener = done;
        }),
        "no line of the next incarnation",
      ),
    lines: (count) => {
      let left = count;
      return within(
        new Promise((done) => {
          listener = ({ at }) => {
            left -= 1;
            if (left === 0) done(at);
          };
        }),
        `fewer than ${count} children have told that they run`,
      );
    },
    living: () => [...seen].filter(isOurs),
    close: () => {
      socket.destroy();
      try {
        closeSync(fd);
      } catch {
        // The socket has closed it.
      }
    },
  };
};
