/** `agent list` on a running daemon, the whole command; the floor is `node -e 0`. Alternating, so that both see the same machine. */
import { spawnSync } from "node:child_process";
import { agentBin, ascending, environment, ms, percentile, type Result, startDaemon } from "./support.ts";

const ROUNDS = 40;

const timed = (args: readonly string[], env: Record<string, string>): number => {
  const before = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  if (status !== 0) throw new Error(String(stderr));
  return performance.now() - before;
};

export const startup = async (): Promise<Result> => {
  const daemon = await startDaemon();
  const env = { ...environment(), HOLDFAST_HOME: daemon.dir };
  const floor: number[] = [];
  const ours: number[] = [];
  // The first call writes the compile cache.
  timed([agentBin, "list"], env);
  for (let round = 0; round < ROUNDS; round += 1) {
    floor.push(timed(["-e", "0"], env));
    ours.push(timed([agentBin, "list"], env));
  }
  await daemon.stop();
  const p50 = { floor: percentile(ascending(floor), 50), ours: percentile(ascending(ours), 50) };
  const ratio = p50.ours / p50.floor;
  return {
    name: "`agent list`, whole command",
    measured: `p50 ${ms(p50.ours)}`,
    floor: `node -e 0: p50 ${ms(p50.floor)}`,
    value: `${ratio.toFixed(2)} times`,
    threshold: "≤ 2.5 times",
    ok: ratio <= 2.5,
  };
};
