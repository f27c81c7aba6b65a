/** Which fault when, from one seed: the same seed and length make the same sequence. Pure. */
import { type Random, randomOf } from "../../sim/random.ts";

interface Kind {
  /** The share of this fault among all. */
  readonly weight: number;
  /** How long it lasts, in the mean; 0 is over at once. */
  readonly hold_ms: number;
  /** While it lasts nobody asks for progress: the daemon is not there, or may not write. */
  readonly isDisabling?: true;
}

/** The faults that can be done to the real daemon without its help (docs/explanation/chaos.md). */
export const FAULTS = {
  "kill-child": { weight: 20, hold_ms: 0 },
  "kill-launcher": { weight: 4, hold_ms: 0 },
  "stop-child": { weight: 4, hold_ms: 1_500 },
  "kill-daemon": { weight: 5, hold_ms: 0 },
  "stop-daemon": { weight: 1, hold_ms: 1_500, isDisabling: true },
  "fill-disk": { weight: 1, hold_ms: 1_500, isDisabling: true },
  "stop-on-full-disk": { weight: 1, hold_ms: 500, isDisabling: true },
  "kill-during-down": { weight: 1, hold_ms: 0 },
  "delete-socket": { weight: 1, hold_ms: 0 },
  "stall-watcher": { weight: 5, hold_ms: 3_000 },
  "flood-output": { weight: 3, hold_ms: 0 },
  "pause-worker": { weight: 3, hold_ms: 1_500 },
  "send-message": { weight: 6, hold_ms: 0 },
  "upgrade-daemon": { weight: 1, hold_ms: 0 },
  "collect-garbage": { weight: 2, hold_ms: 0 },
  "reconnect-storm": { weight: 2, hold_ms: 0 },
  "poison-run-directory": { weight: 1, hold_ms: 0 },
  "forge-identity": { weight: 1, hold_ms: 0 },
  none: { weight: 10, hold_ms: 0 },
} as const satisfies Record<string, Kind>;
export type FaultName = keyof typeof FAULTS;

export interface Fault {
  readonly at_ms: number;
  readonly name: FaultName;
  readonly hold_ms: number;
  /** In [0, 1): which of those that could be its victim. */
  readonly pick: number;
}

/** Between two faults, in the mean. */
const GAP_MS = 900;

const NAMES = Object.keys(FAULTS) as FaultName[];
const WEIGHTS = Object.fromEntries(NAMES.map((name) => [name, FAULTS[name].weight])) as Record<
  FaultName,
  number
>;

const shuffled = <T>(from: readonly T[], random: Random): T[] => {
  const left = [...from];
  return from.map(() => left.splice(random.below(left.length), 1)[0] as T);
};

/** Every kind is among them as soon as there is time for each; the others come by their weight. */
export const scheduleOf = (seed: number, minutes: number): readonly Fault[] => {
  const random = randomOf(seed);
  const owed = shuffled(NAMES, random);
  const faults: Fault[] = [];
  const end_ms = minutes * 60_000;
  for (let at_ms = random.about(GAP_MS); at_ms < end_ms || owed.length > 0; at_ms += random.about(GAP_MS)) {
    const name =
      faults.length % 2 === 0 || minutes < 1
        ? (owed.pop() ?? random.weighted(WEIGHTS))
        : random.weighted(WEIGHTS);
    const { hold_ms } = FAULTS[name];
    faults.push({ at_ms, name, hold_ms: hold_ms && random.about(hold_ms), pick: random.next() });
  }
  return faults;
};
