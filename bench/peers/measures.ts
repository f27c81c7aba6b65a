/** The measures of each supervisor. All of them take turns: a function of this file is one turn of one supervisor, or all kills in turns. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { command, exchangeOver } from "../support.ts";
import { type Child, makeChild, msSince, now } from "./child.ts";
import { openHoldfast } from "./holdfast.ts";
import {
  idleCpuOf,
  minimalEnvironment,
  type Peer,
  pssMb,
  run,
  type Supervisor,
  untilGone,
  withHelpers,
} from "./peer.ts";

/** `HOLDFAST_QUICK=1` tries whether all of it runs; its figures say nothing. */
const isQuick = process.env.HOLDFAST_QUICK === "1";

export const SIZES = isQuick
  ? { turns: 1, few: 4, fleet: 20, crowd: 40, idle_ms: 2_000, paced: 3, rapid: 5, looks: 3 }
  : { turns: 3, few: 10, fleet: 200, crowd: 1_000, idle_ms: 20_000, paced: 100, rapid: 500, looks: 20 };
/** Between two kills of the same child: longer than the second in which runit and supervisord call a child unstable. */
const PACE_MS = 1_250;
/** Rapid kills go on for so long at most, since runit starts a child once a second. */
const RAPID_TURN_MAX_MS = 5_000;
const RAPID_PER_TURN = 25;
const SETTLE_MS = isQuick ? 500 : 5_000;
const SIDE_BY_SIDE = 16;

/** Samples of one supervisor; a measure that it does not have stays empty. */
export interface Samples {
  readonly paced_ms: number[];
  readonly rapid_ms: number[];
  readonly start_s: number[];
  readonly idle_percent: number[];
  readonly pss_mb: number[];
  readonly daemon_pss_mb: number[];
  /** Times `node -e 0`, in turns with it. */
  readonly status_few: number[];
  readonly status_fleet: number[];
  readonly spawned_per_s: number[];
  readonly kill_all_s: number[];
}
export const noSamples = (): Samples => ({
  paced_ms: [],
  rapid_ms: [],
  start_s: [],
  idle_percent: [],
  pss_mb: [],
  daemon_pss_mb: [],
  status_few: [],
  status_fleet: [],
  spawned_per_s: [],
  kill_all_s: [],
});

interface Place<S extends Supervisor> {
  readonly dir: string;
  readonly child: Child;
  readonly supervisor: S;
  close(): Promise<void>;
}

const open = new Set<Place<Supervisor>>();
/** Ends all that was opened: after a failure, and at Ctrl-C. */
export const closeAll = async (): Promise<void> => {
  await Promise.allSettled([...open].map((place) => place.close()));
};

let places = 0;

/** A supervisor in a directory of its own. After its end nothing of it is left, or this throws. */
const openPlace = async <S extends Supervisor>(
  base: string,
  opened: (dir: string) => Promise<S>,
): Promise<Place<S>> => {
  const dir = join(base, String(++places));
  mkdirSync(dir);
  const child = makeChild(dir);
  const supervisor = await opened(dir);
  const end = async (): Promise<void> => {
    await supervisor.stop();
    const left = child.living();
    for (const pid of left) process.kill(pid, "SIGKILL");
    child.close();
    rmSync(dir, { recursive: true, force: true });
    open.delete(place);
    if (left.length > 0) process.stderr.write(`${left.length} children outlived their supervisor\n`);
  };
  let ending: Promise<void> | undefined;
  const place: Place<S> = {
    dir,
    child,
    supervisor,
    close: () => {
      ending ??= end();
      return ending;
    },
  };
  open.add(place);
  return place;
};

const started = async ({ supervisor, child }: Place<Supervisor>, count: number): Promise<number> => {
  const start = await supervisor.prepare(child.argv, count);
  const all = child.lines(count);
  const began = now();
  const [last] = await Promise.all([all, start()]);
  return msSince(began, last) / 1_000;
};

/** One child each, all at the same time; kills go round, so that all see the same machine. */
export const restarts = async (base: string, peers: readonly (readonly [Peer, Samples])[]): Promise<void> => {
  const rounds: { place: Place<Supervisor>; samples: Samples; pid: number }[] = [];
  for (const [peer, samples] of peers) {
    const place = await openPlace(base, peer.open);
    await started(place, 1);
    rounds.push({ place, samples, pid: place.child.living()[0] as number });
  }
  const kill = async (round: (typeof rounds)[number]): Promise<number> => {
    const line = round.place.child.next();
    const killed = now();
    process.kill(round.pid, "SIGKILL");
    const { pid, at } = await line;
    round.pid = pid;
    return msSince(killed, at);
  };
  await sleep(PACE_MS);
  for (let n = 0; n < SIZES.paced; n += 1)
    for (const round of rounds) {
      await sleep(PACE_MS / rounds.length);
      round.samples.paced_ms.push(await kill(round));
    }
  for (let left = SIZES.rapid; left > 0; left -= RAPID_PER_TURN)
    for (const round of rounds) {
      const until = performance.now() + RAPID_TURN_MAX_MS;
      for (let n = 0; n < Math.min(left, RAPID_PER_TURN) && performance.now() < until; n += 1)
        round.samples.rapid_ms.push(await kill(round));
    }
  for (const { place } of rounds) await place.close();
};

/** Times `node -e 0`; the first look, which writes caches, does not count. */
const looks = async ({ supervisor, dir }: Place<Supervisor>): Promise<readonly number[]> => {
  const status = supervisor.status;
  if (status === undefined) return [];
  const timed = async (what: typeof status): Promise<number> => {
    const began = now();
    await run(what);
    return msSince(began);
  };
  const nothing = { argv: [process.execPath, "-e", "0"], env: minimalEnvironment(dir) };
  await timed(status);
  const pairs: { floor: number; looked: number }[] = [];
  for (let n = 0; n < SIZES.looks; n += 1)
    pairs.push({ floor: await timed(nothing), looked: await timed(status) });
  return pairs.map(({ floor, looked }) => looked / floor);
};

/** A few children for the status command, then a fleet: its start, its rest, its memory, its status. */
export const fleets = async (base: string, peer: Peer, samples: Samples): Promise<void> => {
  const few = await openPlace(base, peer.open);
  await started(few, SIZES.few);
  samples.status_few.push(...(await looks(few)));
  await few.close();
  const place = await openPlace(base, peer.open);
  samples.start_s.push(await started(place, SIZES.fleet));
  await sleep(SETTLE_MS);
  const pid = place.supervisor.pid();
  const all = withHelpers(pid, place.child.living());
  samples.idle_percent.push(await idleCpuOf(all, SIZES.idle_ms));
  samples.pss_mb.push(pssMb(all));
  samples.daemon_pss_mb.push(pssMb([pid]));
  samples.status_fleet.push(...(await looks(place)));
  await place.close();
};

/** Requests over the socket, a few at a time, until the last child runs; then all of them are killed. */
export const crowdOfOurs = async (base: string, samples: Samples): Promise<void> => {
  const place = await openPlace(base, openHoldfast);
  const { child, supervisor, dir } = place;
  const request = exchangeOver(join(supervisor.home, "agent.sock"));
  const spec = command(child.argv, { client_env: minimalEnvironment(dir) });
  const all = child.lines(SIZES.crowd);
  let left = SIZES.crowd;
  const began = now();
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await request("agent/spawn", spec);
    }
  };
  const [last] = await Promise.all([all, ...Array.from({ length: SIDE_BY_SIDE }, client)]);
  samples.spawned_per_s.push((SIZES.crowd * 1_000) / msSince(began, last));
  const pids = child.living();
  const killed = now();
  await run(supervisor.command("kill", "--all"));
  await untilGone(pids);
  samples.kill_all_s.push(msSince(killed) / 1_000);
  await place.close();
};

export const crowdOfBare = async (base: string, bare: Peer, samples: Samples): Promise<void> => {
  const place = await openPlace(base, bare.open);
  samples.spawned_per_s.push(SIZES.crowd / (await started(place, SIZES.crowd)));
  const pids = place.child.living();
  const killed = now();
  await place.supervisor.stop();
  await untilGone(pids);
  samples.kill_all_s.push(msSince(killed) / 1_000);
  await place.close();
};
