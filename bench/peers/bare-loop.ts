/** The process of `bare.ts`. Each line of its stdin is a fleet to start; the end of stdin ends all children, and then this. */
import { type ChildProcess, spawn } from "node:child_process";
import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const exits = openSync(process.argv[2] as string, "a");
const children = new Set<ChildProcess>();
let isEnding = false;

const start = ([program = "", ...args]: readonly string[]): Promise<void> =>
  new Promise((done) => {
    const child = spawn(program, args, { stdio: "ignore" });
    children.add(child);
    child.once("spawn", done);
    child.once("exit", (code, signal) => {
      children.delete(child);
      if (isEnding) return;
      writeSync(exits, `${child.pid} ${code} ${signal}\n`);
      fdatasyncSync(exits);
      void start([program, ...args]);
    });
  });

process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { argv, count } = JSON.parse(line) as { argv: string[]; count: number };
  for (let n = 0; n < count; n += 1) await start(argv);
  process.stdout.write("done\n");
}
isEnding = true;
for (const child of children) child.kill("SIGTERM");
