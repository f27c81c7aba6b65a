/** One seed: a fleet, some steps of chaos, then peace, in which it must settle. And a smaller run that fails in the same way. */
import { decideTree } from "../../src/supervisor/tree/decide.ts";
import { ACTS, type Act, unleash } from "./chaos.ts";
import { Coverage } from "./coverage.ts";
import { Daemon, Violation } from "./daemon.ts";
import { unsettled } from "./invariants.ts";

/** Longer than the longest delay, grace, wait and stubborn agent of a generated tree. */
const PEACE_MS = 2 * 3_600_000;
const SECONDS_PER_HOUR = 3_600_000;

export interface Scenario {
  readonly seed: number;
  /** Events of simulated time before peace. */
  readonly steps: number;
  /** Acts of chaos that are left out. */
  readonly without: readonly string[];
}

export interface Outcome {
  readonly scenario: Scenario;
  readonly inputs: number;
  readonly faults: number;
  readonly hours: number;
  /** Events that were carried out before it ended or failed. */
  readonly steps: number;
  readonly failure: string | undefined;
  /** A digest of all that was written. */
  readonly digest: string;
}

export const simulate = (scenario: Scenario, coverage = new Coverage()): Outcome => {
  const daemon = new Daemon(scenario.seed, coverage);
  let steps = 0;
  let failure: string | undefined;
  try {
    daemon.boot();
    daemon.apply();
    unleash(daemon, new Set(scenario.without));
    while (steps < scenario.steps && daemon.timeline.step()) steps++;
    settle(daemon);
  } catch (error) {
    failure = error instanceof Violation ? error.message : `a throw: ${(error as Error).stack}`;
  }
  return {
    scenario,
    inputs: daemon.inputs,
    faults: daemon.faults + daemon.processes.faults,
    hours: daemon.timeline.now_ms / SECONDS_PER_HOUR,
    steps,
    failure,
    digest: digestOf(daemon),
  };
};

/** The faults stop. Within the longest of all delays the tree is as it should be, or over, and nothing is left to do. */
const settle = (daemon: Daemon): void => {
  daemon.calm = true;
  daemon.dies_in = undefined;
  daemon.processes.calm = true;
  rest(daemon);
  // A person who has paused somebody comes back: who stands still for ever is not at peace.
  for (const id of daemon.tree.members.keys())
    daemon.input({ type: "worker", worker_id: id, input: { type: "unpause", by: "user" } });
  rest(daemon);
  const stuck = unsettled(daemon.tree);
  if (stuck !== undefined) throw new Violation(`L1 settled: ${stuck}`);
  const { events } = decideTree(daemon.tree, { type: "plan" }, daemon.now(), daemon.specOf);
  if (events.length > 0) throw new Violation(`L2 idempotent: a steady tree makes ${events[0]?.type}`);
};

const rest = (daemon: Daemon): void => {
  const until = daemon.timeline.now_ms + PEACE_MS;
  while (daemon.timeline.step(until)) {
    // Until then.
  }
};

/** FNV-1a over the records. */
const digestOf = (daemon: Daemon): string => {
  let hash = 0x811c9dc5;
  for (const { draft, wall_ms } of daemon.disk.records.slice(-DIGESTED_MAX))
    for (const char of `${wall_ms}${JSON.stringify(draft)}`)
      hash = Math.imul(hash ^ (char.codePointAt(0) as number), 0x01000193) >>> 0;
  return `${daemon.disk.records.length}-${hash.toString(16)}`;
};
/** The newest say what the older ones led to. */
const DIGESTED_MAX = 20;

const kindOf = ({ failure }: Outcome): string | undefined => failure?.split(" ", 1)[0];

/** Fewer acts and fewer steps with which it still fails. */
export const shrink = (failed: Outcome): Outcome => {
  let best = failed;
  const better = (scenario: Scenario): boolean => {
    const outcome = simulate(scenario);
    if (kindOf(outcome) !== kindOf(failed)) return false;
    best = outcome;
    return true;
  };
  for (const act of ACTS as readonly Act[])
    better({ ...best.scenario, without: [...best.scenario.without, act] });
  for (let part = 0.5; part > 0.001; part /= 2)
    while (
      best.scenario.steps > 1 &&
      better({ ...best.scenario, steps: Math.floor(best.scenario.steps * (1 - part)) })
    ) {
      // As long as it helps.
    }
  return best;
};

export const commandOf = ({ seed, steps, without }: Scenario): string =>
  `npm run sim -- --seed ${seed} --steps ${steps}${without.length > 0 ? ` --without ${without.join(",")}` : ""}`;
