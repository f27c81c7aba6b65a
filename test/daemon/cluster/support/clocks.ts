/** A daemon whose wall clock is wrong. Only its own: its agents, its guard and the command have the right one. */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DAEMON_NODE_FLAGS } from "../../../../src/daemon/node-flags.ts";
import { type Commands, until } from "../../../cli/support/commands.ts";
import { COMPILED, DAEMON } from "../../../support/built.ts";

const SHIFTED = join(import.meta.dirname, "../../../fixtures/clocks/shifted.cjs");

/** `daemon start` then starts one with that clock, each time. */
export const withClock = <Machine extends Commands>(machine: Machine, shift_ms: number): Machine => {
  if (shift_ms === 0) return machine;
  const { home } = machine;
  const start = async (): Promise<void> => {
    mkdirSync(home, { recursive: true });
    const argv = ["--require", SHIFTED, ...DAEMON_NODE_FLAGS, DAEMON, "--state-dir", home];
    const env = { PATH: process.env.PATH, HOLDFAST_VALIDATE: "1", HOLDFAST_CLOCK_SHIFT_MS: String(shift_ms) };
    spawn(process.execPath, argv, {
      cwd: "/",
      detached: true,
      stdio: "ignore",
      env: { ...env, ...COMPILED },
    }).unref();
    await until(async () => (await machine.agent("daemon", "status")).exit === 0);
  };
  const agent: Commands["agent"] = async (...argv) => {
    if (argv[0] === "daemon" && argv[1] === "start") await start();
    return machine.agent(...argv);
  };
  return { ...machine, agent };
};
