/** The log of a daemon that runs for months. */
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { Effect, Fiber } from "effect";
import { expect, it, onTestFinished } from "vitest";
import { keepInPlace } from "../../src/daemon/keeping.ts";
import { keptLog } from "../../src/daemon/log-file.ts";
import { descriptorOf, logOutput } from "../../src/daemon/log-output.ts";
import { startPulse } from "../../src/daemon/pulse.ts";
import { temporaryDirectory } from "../adapters/process/support.ts";
import { until } from "./support/wire.ts";

const BOUND = 100;
const long = `${"x".repeat(BOUND)}\n`;

/** A daemon whose stderr is a file of this name. */
const daemon = (name = "daemon.log") => {
  const dir = temporaryDirectory();
  const path = join(dir, name);
  const fd = openSync(path, "a");
  onTestFinished(() => closeSync(fd));
  const output = logOutput({ fd, write: (line) => writeSync(fd, line) });
  const kept = keptLog(dir, output, BOUND);
  /** True when it had to be made again. */
  const keep = () => kept.map((one) => Effect.runSync(one.keep)).includes(true);
  return { dir, path, fd, output, kept, keep, said: () => readFileSync(path, "utf8") };
};

it("is put aside once over its bound, and the next line begins a new one", () => {
  const { path, output, keep, said } = daemon();
  output.write("short\n");
  keep();
  expect(said()).toBe("short\n");
  output.write(long);
  expect(keep()).toBe(false);
  output.write("next\n");
  expect(said()).toBe("next\n");
  expect(readFileSync(`${path}.1`, "utf8")).toBe(`short\n${long}`);
});

it("is not touched where the daemon writes elsewhere", () => {
  const { output, keep, said } = daemon("of-somebody");
  output.write(long);
  keep();
  expect(said()).toBe(long);
});

it("that was deleted is made again, private, as often as it is; what was deleted gives its space back", () => {
  const { path, fd, output, keep, said } = daemon();
  output.write("lost\n");
  for (const round of ["one\n", "two\n"]) {
    rmSync(path);
    expect(keep()).toBe(true);
    expect(keep()).toBe(false);
    output.write(round);
    expect(said()).toBe(round);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
  expect(fstatSync(fd).size).toBe(0);
  expect(descriptorOf(output.place)).not.toBe(fd);
  output.write(long);
  keep();
  output.write("bounded\n");
  expect(said()).toBe("bounded\n");
});

it("that was moved away, with another one in its place or none, is followed by its name", () => {
  const { path, output, keep, said } = daemon();
  output.write("old\n");
  renameSync(path, `${path}.old`);
  writeFileSync(path, "rotated\n", { mode: 0o600 });
  expect(keep()).toBe(true);
  output.write("new\n");
  expect(said()).toBe("rotated\nnew\n");
  expect(readFileSync(`${path}.old`, "utf8")).toBe("old\n");
});

it("that cannot be put aside says so, once, and when it could", async () => {
  const { dir, path, output, kept } = daemon();
  output.write(long);
  mkdirSync(`${path}.1`);
  const told: string[] = [];
  const lock = { keep: () => false, release: () => undefined };
  const log = (level: string, message: string) => void told.push(`${level} ${message}`);
  const keeping = Effect.runFork(
    Effect.scoped(
      Effect.gen(function* () {
        yield* keepInPlace(yield* startPulse, dir, lock, kept, log, () => Effect.void);
        return yield* Effect.never;
      }),
    ),
  );
  await until("it says so", () => told.length > 0);
  rmdirSync(`${path}.1`);
  await until("it could", () => told.length > 1);
  await Effect.runPromise(Fiber.interrupt(keeping));
  expect(told).toEqual([
    "error daemon.log is over its bound and cannot be put aside",
    "warn daemon.log is within its bound again",
  ]);
});
