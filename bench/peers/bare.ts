/** The floor: a Node program that spawns children, writes each exit to disk (fdatasync) and spawns the child again. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { minimalEnvironment, type Peer, untilGone } from "./peer.ts";

const LOOP = join(import.meta.dirname, "bare-loop.ts");

export const bare: Peer = {
  name: "bare Node loop",
  isHere: () => true,
  open: async (dir) => {
    const loop = spawn(process.execPath, [LOOP, join(dir, "exits")], {
      env: minimalEnvironment(dir),
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
    });
    const answers = createInterface({ input: loop.stdout })[Symbol.asyncIterator]();
    const ask = async (request: object): Promise<void> => {
      loop.stdin.write(`${JSON.stringify(request)}\n`);
      await answers.next();
    };
    await answers.next();
    return {
      pid: () => loop.pid as number,
      prepare: async (argv, count) => () => ask({ argv, count }),
      stop: async () => {
        loop.stdin.end();
        await untilGone([loop.pid as number]);
      },
    };
  },
};
