/**
 * Restarts a second and bytes a worker: spawn → crash → decide → append → respawn through the real shell, over a log in
 * memory and agents that are objects. The floor is as many bare Effect fibers, each of which forks a child, awaits its
 * failure and forks it again; where `erl` is installed, OTP's own supervisors run the same. Each side runs in a fresh
 * process; they take turns, and the best of each counts.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Result, root } from "./support.ts";

const SIZES = [
  { workers: 10_000, rounds: 20, turns: 3 },
  { workers: 100_000, rounds: 3, turns: 2 },
];
const TIMES_MAX = 3;

interface Side {
  readonly restarts_per_s: number;
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
  bytes_per_worker: Math.min(...sides.map((side) => side.bytes_per_worker)),
});

const rate = ({ restarts_per_s }: Side): string => `${Math.round(restarts_per_s).toLocaleString("en")}/s`;
const size = ({ bytes_per_worker }: Side): string => `${(bytes_per_worker / 1024).toFixed(1)} KB`;

export const supervisor = async (): Promise<readonly Result[]> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-otp-"));
  const erlang = otp(dir);
  if (erlang === undefined) process.stderr.write("OTP's supervisor is left out: `erl` is not installed.\n");
  const results = SIZES.flatMap(({ workers, rounds, turns: length }) => {
    const turns = Array.from({ length }, () => ({
      floor: node("supervisor-floor.ts")(workers, rounds),
      ours: node("supervisor-ours.ts")(workers, rounds),
      otp: erlang?.(workers, rounds),
    }));
    const floor = best(turns.map((turn) => turn.floor));
    const ours = best(turns.map((turn) => turn.ours));
    const theirs = erlang && best(turns.flatMap((turn) => (turn.otp === undefined ? [] : [turn.otp])));
    const row = (
      what: string,
      shown: (side: Side) => string,
      times: number,
      othersTimes: number | undefined,
    ): Result => ({
      name: `${what}, ${workers.toLocaleString("en")} workers in memory`,
      measured: shown(ours),
      floor: `bare fibers: ${shown(floor)}${theirs === undefined ? "" : `; OTP: ${shown(theirs)}`}`,
      value: `${times.toFixed(2)} times${othersTimes === undefined ? "" : ` (OTP's ${othersTimes.toFixed(2)})`}`,
      threshold: `≤ ${TIMES_MAX} times`,
      ok: times <= TIMES_MAX,
    });
    return [
      row(
        "crash → restarted",
        rate,
        floor.restarts_per_s / ours.restarts_per_s,
        theirs && theirs.restarts_per_s / ours.restarts_per_s,
      ),
      row(
        "memory of a supervised worker",
        size,
        ours.bytes_per_worker / floor.bytes_per_worker,
        theirs && ours.bytes_per_worker / theirs.bytes_per_worker,
      ),
    ];
  });
  rmSync(dir, { recursive: true, force: true });
  return results;
};
