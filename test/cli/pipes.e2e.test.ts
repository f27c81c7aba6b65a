/** Files that are pipes: nobody may ever write to them, or much more than can be taken. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, createWriteStream, openSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AGENT } from "../support/built.ts";
import { makeCommands, until } from "./support/commands.ts";

const setUp = () => {
  const commands = makeCommands();
  onTestFinished(() => commands.close());
  const pipe = join(commands.home, "pipe");
  expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
  const calls: Record<string, readonly string[]> = {
    "cas put": ["cas", "put", pipe],
    "proto validate": ["proto", "validate", "--input", pipe],
    "spawn --prompt-file": ["spawn", "claude", "--prompt-file", pipe],
  };
  /** The program of the kind is looked for before its prompt is read. */
  const start = (call: string) => {
    const running = commands.start(calls[call]!, { CLAUDE_BINARY: process.execPath });
    onTestFinished(() => void running.child.kill("SIGKILL"));
    return running;
  };
  return { commands, pipe, start };
};

const hasOpened = (pid: number, path: string): boolean =>
  readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });

test.each([
  ["cas put", "SIGINT", 130],
  ["cas put", "SIGTERM", 143],
  ["proto validate", "SIGINT", 130],
  ["spawn --prompt-file", "SIGINT", 130],
] as const)("agent %s of a pipe to which nobody writes is ended by %s", async (call, signal, exit) => {
  const { pipe, start } = setUp();
  const { child, ended } = start(call);
  await until(() => hasOpened(child.pid!, pipe));
  child.kill(signal);
  expect((await ended).exit).toBe(exit);
});

test("a failed write to stdout ends the command with a sentence", () => {
  const full = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(full));
  const { status, stderr } = spawnSync(process.execPath, [AGENT, "--help"], {
    stdio: ["ignore", full, "pipe"],
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^write error: .*ENOSPC.*\n$/),
  });
});

test("a pipe is read to its end", async () => {
  const { commands, pipe } = setUp();
  const writing = spawn("sh", ["-c", 'printf he >"$1"', "sh", pipe], {
    stdio: "ignore",
  });
  onTestFinished(() => void writing.kill());
  expect(await commands.agent("cas", "put", pipe)).toMatchObject({ exit: 0, data: { size_bytes: 2 } });
});

test("of a pipe that has too much the rest is not read", async () => {
  const { pipe, start } = setUp();
  const { ended } = start("spawn --prompt-file");
  const writer = createWriteStream(pipe);
  const refused = once(writer, "error");
  const more = Buffer.alloc(1 << 20, "x");
  const write = (): void => {
    while (!writer.destroyed && writer.write(more));
  };
  writer.on("drain", write);
  write();
  expect((await refused)[0]).toMatchObject({ code: "EPIPE" });
  expect(await ended).toMatchObject({
    exit: 3,
    stdout: expect.stringMatching(/--prompt-file .* is over \d+ bytes/),
  });
});
