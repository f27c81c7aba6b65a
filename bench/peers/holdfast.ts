/** Holdfast as it is shipped: `bin/agent` and the daemon that it starts, in a state directory of its own. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentBin } from "../support.ts";
import { type Command, minimalEnvironment, type Peer, run, type Supervisor, untilGone } from "./peer.ts";

export interface Holdfast extends Supervisor {
  readonly home: string;
  command(...args: readonly string[]): Command;
}

export const openHoldfast = async (dir: string): Promise<Holdfast> => {
  const home = join(dir, "state");
  mkdirSync(home);
  const env = { ...minimalEnvironment(dir), HOLDFAST_HOME: home };
  const command = (...args: readonly string[]): Command => ({
    argv: [process.execPath, agentBin, ...args],
    env,
  });
  await run(command("daemon", "start"));
  const { pid } = JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")) as { pid: number };
  return {
    home,
    command,
    pid: () => pid,
    prepare: async (argv, count) => {
      const file = join(dir, "holdfast.yaml");
      const children = Array.from({ length: count }, (_, n) => ({
        name: `sleeper-${n}`,
        argv,
        restart: "permanent",
        backoff: "0s..0s",
      }));
      const tree = { intensity: "1000000/1s", children };
      writeFileSync(file, JSON.stringify({ version: 1, name: "fleet", tree }));
      return async () => void (await run(command("up", "-f", file)));
    },
    status: command("list"),
    stop: async () => {
      await run(command("daemon", "stop", "--kill-agents"));
      await untilGone([pid]);
    },
  };
};

export const holdfast: Peer = { name: "Holdfast", isHere: () => true, open: openHoldfast };
