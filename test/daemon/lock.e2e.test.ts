/** The lock of a state directory, taken by many programs in the same moment (promise R12). */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { removeDirectory, temporaryDirectory } from "./support/wire.ts";

const program = fileURLToPath(new URL("./support/takes-lock.ts", import.meta.url));
const PROGRAMS = 24;
/** Until all have read when to begin. */
const HEAD_START_MS = 100;

const begin = (stateDir: string) => {
  const child = spawn(process.execPath, [program, stateDir], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    next: async (): Promise<string | undefined> => (await lines.next()).value,
    tell: (line: unknown) => child.stdin.write(`${line}\n`),
  };
};

test.each([
  ["is not there", undefined],
  ["was written over", "no database"],
])("a lock that %s is taken by one of many, who goes on to hold it", async (_, content) => {
  const stateDir = await temporaryDirectory();
  onTestFinished(() => removeDirectory(stateDir));
  if (content !== undefined) writeFileSync(join(stateDir, "daemon.lock"), content);
  const programs = Array.from({ length: PROGRAMS }, () => begin(stateDir));
  const told = () => Promise.all(programs.map(({ next }) => next()));
  await told();
  const instant = Date.now() + HEAD_START_MS;
  for (const { tell } of programs) tell(instant);
  expect((await told()).toSorted()).toEqual([...Array(PROGRAMS - 1).fill("lost"), "won"]);
  for (const { tell } of programs) tell("keep");
  expect((await told()).toSorted()).toEqual(["false", ...Array(PROGRAMS - 1).fill("nothing")]);
});
