/**
 * Processor time of a restart and bytes a worker: spawn → crash → decide → append → respawn through the real fibers, over a
 * log in memory and agents that are objects. The floor of the time is a real start: `true`, by the real spawner, waited for.
 * Beside it, for comparison: as many bare Effect fibers, each of which forks a child, awaits its failure and forks it again,
 * and, where `erl` is installed, OTP's own supervisors. Each side runs in a fresh process; they take turns, and the best
 * of each counts.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeProcessSpawner } from "../src/adapters/process/spawner.ts";
import { childrenMs, environment, type Result, root } from "./support.ts";

const SIZES = [
  { workers: 10_000, rounds: 20, turns: 3 },
  { workers: 100_000, rounds: 3, turns: 2 },
];
/** Supervision of a restart, of the processor time of a real start. */
const PART_OF_START_MAX = 0.05;
const BYTES_MAX = 8 * 1024;
const STARTS = 100;

interface Side {
  readonly restarts_per_s: number;
  /** OTP's does not tell. */
  readonly processor_us?: number;
  readonly bytes_per_worker: number;
}
type Run = (workers: number, rounds: number) => Side;

const node =
  (file: string): Run =>
  (workers, rounds) =>
    JSON.parse(
      execFileSync(
        process.execPath,
        ["--expose-gc", join(root, "bench", file), String(workers), String(rounds)],
        { encoding: "utf8" },
      ),
    ) as Side;

/** Undefined where there is no Erlang. */
const otp = (dir: string): Run | undefined => {
  const source = join(root, "bench/supervisor-otp.erl");
  const compile = `{ok, _} = compile:file("${source}", [{outdir, "${dir}"}]), halt().`;
  if (spawnSync("erl", ["-noshell", "-eval", compile], { stdio: "ignore" }).status !== 0) return undefined;
  return (workers, rounds) => {
    const args = ["-noshell", "-pa", dir, "+P", "1000000", "-run", "supervisor-otp", "main"];
    return JSON.parse(
      execFileSync("erl", [...args, String(workers), String(rounds)], { encoding: "utf8" }),
    ) as Side;
  };
};

const best = (sides: readonly Side[]): Side => ({
  restarts_per_s: Math.max(...sides.map((side) => side.restarts_per_s)),
  processor_us: Math.min(...sides.map((side) => side.processor_us ?? Number.POSITIVE_INFINITY)),
  bytes_per_worker: Math.min(...sides.map((side) => side.bytes_per_worker)),
});

const rate = ({ restarts_per_s }: Side): string => `${Math.round(restarts_per_s).toLocaleString("en")}/s`;
const size = ({ bytes_per_worker }: Side): string => `${(bytes_per_worker / 1024).toFixed(1)} KB`;
const time = ({ processor_us = Number.NaN }: Side): string => `${processor_us.toFixed(0)} µs`;

/** Microseconds of processor of a real start and its exit, ours and that of all processes that were waited for. */
const realStart = async (dir: string): Promise<number> => {
  const spawner = makeProcessSpawner({ runsDir: join(dir, "runs"), storeId: "bench", hasForkServer: true });
  const start = async (incarnation: number): Promise<void> => {
    const stdin = { kind: "empty" } as const;
    const run = await spawner.launch({
      worker_id: "floor",
      incarnation,
      argv: ["true"],
      cwd: "/",
      env: environment(),
      stdin,
    });
    await run.exited;
    run.dispose();
  };
  await start(1);
  const [children, own] = [childrenMs(), process.cpuUsage()];
  for (let n = 2; n < STARTS + 2; n += 1) await start(n);
  const { user, system } = process.cpuUsage(own);
  const total = (childrenMs() - children) * 1_000 + user + system;
  await spawner.close();
  return total / STARTS;
};

export const supervisor = async (): Promise<readonly Result[]> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const erlang = otp(dir);
  if (erlang === undefined) process.stderr.write("OTP's supervisor is left out: `erl` is not installed.\n");
  const start_us = await realStart(dir);
  const results = SIZES.flatMap(({ workers, rounds, turns: length }) => {
    const turns = Array.from({ length }, () => ({
      fibers: node("supervisor-floor.ts")(workers, rounds),
      ours: node("supervisor-ours.ts")(workers, rounds),
      otp: erlang?.(workers, rounds),
    }));
    const fibers = best(turns.map((turn) => turn.fibers));
    const ours = best(turns.map((turn) => turn.ours));
    const theirs = erlang && best(turns.flatMap((turn) => (turn.otp === undefined ? [] : [turn.otp])));
    const beside = (shown: (side: Side) => string): string =>
      `bare fibers: ${shown(fibers)}${theirs === undefined ? "" : `; OTP: ${shown(theirs)}`}`;
    const of = `${workers.toLocaleString("en")} workers in memory`;
    const part = (ours.processor_us ?? Number.NaN) / start_us;
    return [
      {
        name: `crash → restarted, ${of}`,
        measured: `${time(ours)}, ${rate(ours)}`,
        floor: `a real start: ${(start_us / 1_000).toFixed(1)} ms; bare fibers: ${time(fibers)}, ${beside(rate)}`,
        value: `${(part * 100).toFixed(1)} %`,
        threshold: `≤ ${PART_OF_START_MAX * 100} % of a real start`,
        ok: part <= PART_OF_START_MAX,
      },
      {
        name: `memory of a supervised worker, ${of}`,
        measured: size(ours),
        floor: beside(size),
        value: size(ours),
        threshold: `≤ ${BYTES_MAX / 1024} KB`,
        ok: ours.bytes_per_worker <= BYTES_MAX,
      },
    ];
  });
  rmSync(dir, { recursive: true, force: true });
  return results;
};
