/** Agents that tamper with their own run directories, and what must hold whatever they put there (docs/explanation/security.md). */
import { spawn } from "node:child_process";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readStat } from "../../../src/adapters/process/identity.ts";
import { lives, sleep, until } from "../client.ts";
import type { Fleet } from "../fleet.ts";
import { signal, type World } from "./world.ts";

const TAMPERER = resolve(import.meta.dirname, "../../fixtures/children/poisons-run-directory.sh");
/** On a busy machine too. */
const DONE_MAX_MS = 60_000;
const AGAIN_MS = 100;

const POISONED = ["exit", "pid", "claimed", "signals", "stdout", "stderr"] as const;
const POISONS = ["fifo", "zero", "directory"] as const;
const FORGED = ["pid", "claimed"] as const;

interface Deed {
  readonly file: string;
  readonly words: readonly string[];
  readonly found: ReadonlySet<string>;
}

const NOT_A_FILE = new Set(["not_a_file"]);
const OF_A_STRANGER = new Set(["forged", "contradicts_the_log"]);

/** One file of each of three runs: a FIFO, a link to /dev/zero, a directory. */
const poisons = (pick: number): readonly Deed[] => {
  const file = POISONED[Math.floor(pick * POISONED.length)] as string;
  return POISONS.map((poison) => ({ file, words: [poison], found: NOT_A_FILE }));
};

const forgeries = (name: string): readonly Deed[] =>
  FORGED.map((file) => ({ file, words: ["text", name], found: OF_A_STRANGER }));

interface Scene {
  readonly world: World;
  readonly fleet: Fleet;
  /** kill -9 of the daemon, and the next one. */
  readonly replace: () => Promise<void>;
  /** Told what does not hold. */
  readonly fail: (finding: string) => void;
}

/** Every other time the daemon is killed before its agents are. */
const isReplaced = (pick: number): boolean => Math.floor(pick * 1_000) % 2 === 0;

/** How many agents did it. */
export const poison = (scene: Scene, pick: number): Promise<number> =>
  tamper(scene, poisons(pick), isReplaced(pick));

/** A process that is named instead of the agents must live. */
export const forge = async (scene: Scene, pick: number): Promise<number> => {
  const stranger = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
  const pid = stranger.pid as number;
  const start = readStat(pid)?.start_time;
  try {
    return await tamper(scene, forgeries(`${pid} ${start}`), isReplaced(pick));
  } finally {
    if (!lives(pid, start)) scene.fail(`a stranger whom an agent named as itself was killed: pid ${pid}`);
    stranger.kill("SIGKILL");
  }
};

const tamper = async (scene: Scene, deeds: readonly Deed[], replaced: boolean): Promise<number> => {
  const begun = await Promise.all(deeds.map((deed) => begin(scene, deed)));
  const wasFull = isFull(scene);
  if (replaced) await scene.replace();
  await served(scene);
  for (const one of begun) if (one !== undefined) await end(scene, one, wasFull);
  return begun.filter((one) => one !== undefined).length;
};

interface Tampered {
  readonly id: string;
  readonly deed: Deed;
}

const begin = async (scene: Scene, deed: Deed): Promise<Tampered | undefined> => {
  const { world, fleet, fail } = scene;
  const { daemon, stateDir } = world;
  const runs = join(stateDir, "runs");
  const id = await accepted(scene, () => fleet.spawn(daemon, [TAMPERER, runs, deed.file, ...deed.words]));
  if (id === undefined) return undefined;
  const path = join(runs, id, "1", deed.file);
  const isKnown = async () => (await daemon.info(id)).pid !== null;
  await until("its file is replaced", async () => isDone(path, deed) && (await isKnown()), DONE_MAX_MS).catch(
    ({ message }: Error) => fail(`an agent that tampers with ${deed.file}: ${message}`),
  );
  return { id, deed };
};

const isDone = (path: string, { words: [how, text] }: Deed): boolean => {
  const [made, there] = [`${path}.made`, path].map((one) => lstatSync(one, { throwIfNoEntry: false }));
  if (made !== undefined || there === undefined) return false;
  return how === "text" ? there.isFile() && readFileSync(path, "utf8") === `${text}\n` : !there.isFile();
};

/** A refusal, of a disk that was full a moment ago, is asked again. Undefined where it lasts. */
const accepted = async <T>({ fail }: Scene, ask: () => Promise<T>): Promise<T | undefined> => {
  const deadline = performance.now() + DONE_MAX_MS;
  for (;;) {
    try {
      return await ask();
    } catch (cause) {
      if (performance.now() > deadline)
        return void fail(`beside tampered run directories nobody is served: ${String(cause)}`);
      await sleep(AGAIN_MS);
    }
  }
};

const served = (scene: Scene): Promise<unknown> => {
  const { world, fleet } = scene;
  return accepted(scene, async () => world.daemon.wait([await fleet.job(world.daemon, ["true"])]));
};

const end = async (scene: Scene, { id, deed }: Tampered, wasFull: boolean): Promise<void> => {
  const { world, fleet, fail } = scene;
  const what = `worker ${id}, which tampered with ${deed.file} (${deed.words[0]}),`;
  const { daemon } = world;
  await fleet.kill(daemon, id).catch(({ message }: Error) => fail(`${what} cannot be killed: ${message}`));
  const left = world.processes().filter((one) => one.worker_id === id);
  if (left.length > 0) fail(`${what} was killed, and has ${left.length} processes`);
  for (const one of left) signal(one, "SIGKILL");
  // A finding that could not be recorded on a full disk is told in daemon.log alone.
  if (wasFull || isFull(scene)) return;
  const isOnRecord = async () =>
    (await daemon.history(["worker_run_finding"], [id])).some(
      ({ payload }) => payload.file === deed.file && deed.found.has(payload.what),
    );
  await until("it is on record", isOnRecord, DONE_MAX_MS).catch(() =>
    fail(`${what} has no finding on record`),
  );
};

const isFull = ({ world }: Scene): boolean =>
  readdirSync(world.stateDir).some((name) => name.startsWith("ballast"));
