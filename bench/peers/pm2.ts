/** pm2, of the version in package-lock.json beside this file. One program, as many instances, restarted at once. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, minimalEnvironment, type Peer, run, untilGone } from "./peer.ts";

const BIN = join(import.meta.dirname, "node_modules/pm2/bin/pm2");

export const pm2: Peer = {
  name: "pm2",
  install: "npm ci --prefix bench/peers",
  isHere: () => existsSync(BIN),
  open: async (dir) => {
    const home = join(dir, "pm2");
    mkdirSync(home);
    const env = { ...minimalEnvironment(dir), PM2_HOME: home, PM2_DISABLE_VERSION_CHECK: "true" };
    const command = (...args: string[]): Command => ({ argv: [process.execPath, BIN, ...args], env });
    await run(command("ping"));
    const pid = Number(readFileSync(join(home, "pm2.pid"), "utf8"));
    return {
      pid: () => pid,
      prepare: async ([script, ...args], count) => {
        const file = join(dir, "ecosystem.config.json");
        const app = {
          name: "sleeper",
          script,
          args,
          interpreter: "none",
          exec_mode: "fork",
          instances: count,
          max_restarts: 1_000_000_000,
          vizion: false,
        };
        writeFileSync(file, JSON.stringify({ apps: [app] }));
        return async () => void (await run(command("start", file)));
      },
      status: command("list"),
      stop: async () => {
        await run(command("kill"));
        await untilGone([pid]);
      },
    };
  },
};
