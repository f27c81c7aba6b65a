/** A daemon with a wall clock of its own, which its agents, its guard and the command do not have, or with a network of its own. */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DAEMON_NODE_FLAGS } from "../../../../src/daemon/node-flags.ts";
import { type Commands, until } from "../../../cli/support/commands.ts";
import { COMPILED, DAEMON } from "../../../support/built.ts";

const SHIFTED = join(import.meta.dirname, "../../../fixtures/clocks/shifted.cjs");

export interface OwnDaemon {
  /** Its wall clock is so far ahead. */
  readonly shift_ms?: number;
  /** The words before its program. */
  readonly enter?: readonly string[];
}

/** `daemon start` then starts such a one, each time. */
export const withDaemon = <Machine extends Commands>(
  machine: Machine,
  { shift_ms = 0, enter = [] }: OwnDaemon,
): Machine => {
  if (shift_ms === 0 && enter.length === 0) return machine;
  const { home } = machine;
  const start = async (): Promise<void> => {
    mkdirSync(home, { recursive: true });
    const shifted = shift_ms === 0 ? [] : ["--require", SHIFTED];
    const node = [process.execPath, ...shifted, ...DAEMON_NODE_FLAGS, DAEMON, "--state-dir", home];
    const [program, ...argv] = [...enter, ...node];
    const env = { PATH: process.env.PATH, HOLDFAST_VALIDATE: "1", HOLDFAST_CLOCK_SHIFT_MS: String(shift_ms) };
    spawn(program!, argv, {
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
