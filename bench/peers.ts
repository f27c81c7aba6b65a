/**
 * Holdfast as it is shipped beside a bare Node loop, pm2, supervisord and runit, in turns, as one table. A peer that is not installed is a row that
 * says how to install it. `HOLDFAST_QUICK=1` tries it with small numbers.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bare } from "./peers/bare.ts";
import { hasCompiler } from "./peers/child.ts";
import { holdfast } from "./peers/holdfast.ts";
import {
  closeAll,
  crowdOfBare,
  crowdOfOurs,
  fleets,
  noSamples,
  restarts,
  type Samples,
  SIZES,
} from "./peers/measures.ts";
import type { Peer } from "./peers/peer.ts";
import { pm2 } from "./peers/pm2.ts";
import { runit } from "./peers/runit.ts";
import { supervisord } from "./peers/supervisord.ts";
import { ascending, percentile, type Table } from "./support.ts";

/** In the order of the columns. */
export const PEERS: readonly Peer[] = [bare, pm2, supervisord, runit, holdfast];

interface Measure {
  readonly name: string;
  readonly key: keyof Samples;
  readonly digits: number;
  /** Also its p99. */
  readonly isSpread?: true;
  readonly asked: string;
  /** Undefined where the peer that it is asked against is not here. */
  isMet(ours: Figure, of: (peer: Peer) => Figure): boolean | undefined;
}
interface Figure {
  readonly p50: number;
  readonly p99: number;
}

/** Undefined where a bound is that of a peer that is not here. */
const areAtMost = (...pairs: readonly (readonly [value: number, bound: number])[]): boolean | undefined =>
  pairs.some(([, bound]) => Number.isNaN(bound))
    ? undefined
    : pairs.every(([value, bound]) => value <= bound);

const restart = (name: string, key: keyof Samples): Measure => ({
  name: `SIGKILL → first line of the next incarnation, ${hasCompiler() ? "C" : "sh"} child, ${name}, p50 / p99 ms`,
  key,
  digits: 1,
  isSpread: true,
  asked: "p50 ≤ pm2's, p99 ≤ 3 times pm2's",
  isMet: ({ p50, p99 }, of) => areAtMost([p50, of(pm2).p50], [p99, 3 * of(pm2).p99]),
});
const status = (children: number, key: keyof Samples): Measure => ({
  name: `status command with ${children} children, × \`node -e 0\``,
  key,
  digits: 2,
  asked: "≤ 0.33 times pm2's",
  isMet: ({ p50 }, of) => areAtMost([p50, 0.33 * of(pm2).p50]),
});
const bounded = (name: string, key: keyof Samples, digits: number, most: number, unit = ""): Measure => ({
  name,
  key,
  digits,
  asked: `≤ ${most}${unit}`,
  isMet: ({ p50 }) => p50 <= most,
});

const MEASURES: readonly Measure[] = [
  restart(`${SIZES.paced} kills, one a second`, "paced_ms"),
  restart(`${SIZES.rapid} at most back to back`, "rapid_ms"),
  {
    name: `start of ${SIZES.fleet} sleepers until the last one runs, s`,
    key: "start_s",
    digits: 2,
    asked: "≤ 0.6 times pm2's, ≤ 2.5 times the loop's",
    isMet: ({ p50 }, of) => areAtMost([p50, 0.6 * of(pm2).p50], [p50, 2.5 * of(bare).p50]),
  },
  {
    name: `starts a second, ${SIZES.crowd} requests, 16 in flight`,
    key: "spawned_per_s",
    digits: 0,
    asked: "≥ 300",
    isMet: ({ p50 }) => p50 >= 300,
  },
  bounded(
    `idle CPU with ${SIZES.fleet}, over ${SIZES.idle_ms / 1_000} s, % of a core`,
    "idle_percent",
    2,
    0.2,
  ),
  bounded(`memory with ${SIZES.fleet}, supervisor and helpers, PSS MB`, "pss_mb", 1, 90),
  bounded("memory of the supervisor alone, PSS MB", "daemon_pss_mb", 1, 60),
  status(SIZES.few, "status_few"),
  status(SIZES.fleet, "status_fleet"),
  bounded(`\`kill --all\` of ${SIZES.crowd} sleepers, s`, "kill_all_s", 2, 5),
];

const figureOf = (samples: readonly number[] = []): Figure => {
  const sorted = ascending(samples);
  return { p50: percentile(sorted, 50), p99: percentile(sorted, 99) };
};

const measured = async (here: readonly Peer[]): Promise<ReadonlyMap<Peer, Samples>> => {
  const base = mkdtempSync(join(tmpdir(), "holdfast-peers-"));
  const samples = new Map(here.map((peer) => [peer, noSamples()]));
  const end = async (): Promise<void> => {
    await closeAll();
    rmSync(base, { recursive: true, force: true });
  };
  let isInterrupted = false;
  const interrupt = (): void => {
    isInterrupted = true;
    void end().then(() => process.exit(130));
  };
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    await restarts(base, [...samples]);
    for (let turn = 0; turn < SIZES.turns; turn += 1) {
      for (const [peer, into] of samples) await fleets(base, peer, into);
      await crowdOfBare(base, bare, samples.get(bare)!);
      await crowdOfOurs(base, samples.get(holdfast)!);
    }
  } finally {
    // The turn that was interrupted fails; the interrupt itself ends the process.
    if (isInterrupted) await new Promise<never>(() => undefined);
    await end();
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
  return samples;
};

/** Exported for its test: `samples` has the peers that are here. */
export const tableOf = (samples: ReadonlyMap<Peer, Samples>): Table => {
  const of = (key: keyof Samples) => (peer: Peer) => figureOf(samples.get(peer)?.[key]);
  const cell = ({ key, digits, isSpread }: Measure, peer: Peer): string => {
    const { p50, p99 } = of(key)(peer);
    if (Number.isNaN(p50)) return "–";
    return isSpread ? `${p50.toFixed(digits)} / ${p99.toFixed(digits)}` : p50.toFixed(digits);
  };
  const verdicts = MEASURES.map(({ key, isMet }) => isMet(of(key)(holdfast), of(key)));
  const rows = MEASURES.map((measure, at) => [
    measure.name,
    ...PEERS.map((peer) => cell(measure, peer)),
    measure.asked,
    { true: "ok", false: "MISSED", undefined: "–" }[`${verdicts[at]}`],
  ]);
  const absent = PEERS.filter((peer) => !samples.has(peer)).map((peer) => [
    peer.name,
    `not installed: \`${peer.install}\``,
    ...PEERS.slice(1).map(() => ""),
    "",
    "",
  ]);
  return {
    head: ["measure", ...PEERS.map(({ name }) => name), "asked", ""],
    rows: [...rows, ...absent],
    missed: verdicts.filter((verdict) => verdict === false).length,
  };
};

export const peers = async (): Promise<Table> =>
  tableOf(await measured(PEERS.filter((peer) => peer.isHere())));
