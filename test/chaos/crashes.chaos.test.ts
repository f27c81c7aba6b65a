/** The daemon itself is killed, or stopped, under load: agents go on, and the next one knows all (promises R4, R9, R10). */
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LogRecord } from "../../src/protocol/records.ts";
import { figure, full } from "../support/figures.ts";
import { killIfThere } from "../support/kill-if-there.ts";
import {
  child,
  type Daemon,
  expectedSeqs,
  lives,
  makeCanary,
  makeLedger,
  sleep,
  startDaemon,
  temporaryDirectory,
  until,
} from "./support.ts";

const ROUNDS = full ? 100 : 20;
const COUNTERS = full ? 20 : 4;
/** Between two batches of 50 lines of a counter: 500 a second. */
const PAUSE_S = "0.1";
/** One crash a round, every other one while no daemon is there to see it: given up well before the last round. */
const MAX_RESTARTS = 7;
/** A daemon lives at most so long after its first answer. */
const LIFE_MAX_MS = 300;

/** The clients' knowledge of the log: the id of each record, by its seq. */
const watched = (told: Map<number, string>) => (line: string) => {
  const { seq, id } = (JSON.parse(line) as { data: { seq: number; id: string } }).data;
  const known = told.get(seq);
  if (known !== undefined && known !== id) throw new Error(`record ${seq} was ${known} and is ${id}`);
  told.set(seq, id);
};

/** The whole log as it is told now: it has what was told before, its seqs are dense, and every counter's lines are 1 to n, each once. */
const readWhole = async (daemon: Daemon, told: Map<number, string>, counters: ReadonlySet<string>) => {
  const before = told.size;
  const next = new Map<string, number>();
  const last = new Map<string, string>();
  const wrong: string[] = [];
  let expected = 1;
  const check = watched(told);
  const reading = await daemon.watchLines({ all: true, from: 0, follow: false }, (line) => {
    check(line);
    const { seq, type, worker_id, payload } = (JSON.parse(line) as { data: LogRecord }).data;
    if (seq !== expected++) wrong.push(`seq ${seq} where ${expected - 1} belongs`);
    if (type !== "agent.event" || worker_id === undefined || !counters.has(worker_id)) return;
    for (const text of (payload.text ?? "").split("\n").slice(0, -1)) {
      const number = next.get(worker_id) ?? 1;
      if (text === `counted ${number - 1}`) last.set(worker_id, text);
      else if (text !== String(number)) wrong.push(`${worker_id} says ${text} where ${number} belongs`);
      else next.set(worker_id, number + 1);
    }
  });
  await reading.over;
  expect(wrong.slice(0, 5)).toEqual([]);
  expect([...last.keys()].sort()).toEqual([...counters].sort());
  expect(told.size, "what was told and is not in the log").toBe(expected - 1);
  return { before, lines: [...next.values()].reduce((sum, n) => sum + n - 1, 0) };
};

const percentile = (sorted: readonly number[], part: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);

test(`a daemon killed ${ROUNDS} times under load: agents go on, output is whole, exits are known, windows are kept`, {
  timeout: 1_200_000,
}, async () => {
  const dir = temporaryDirectory();
  const canary = makeCanary(dir);
  let daemon: Daemon = await startDaemon();
  const { stateDir } = daemon;

  const counters = await Promise.all(
    Array.from({ length: COUNTERS }, async (_, n) => {
      const stop = join(dir, `stop-${n}`);
      return {
        stop: () => makeLedger(dir, `stop-${n}`),
        id: await daemon.spawn([
          "/bin/sh",
          "-c",
          'exec 9<>"$0"; exec "$@"',
          canary.path,
          child("counts.sh"),
          stop,
          PAUSE_S,
        ]),
      };
    }),
  );
  const ids = new Set(counters.map(({ id }) => id));
  const pidsOf = async (of: Daemon) =>
    (await of.list())
      .filter(({ id, state }) => ids.has(id) && state === "running")
      .map(({ id, pid }) => `${id} ${pid}`)
      .sort();
  await until("all counters run", async () => (await pidsOf(daemon)).length === COUNTERS);
  const pids = await pidsOf(daemon);
  const told = new Map<number, string>();
  const boots: number[] = [];
  const crasher = makeLedger(dir, "crasher");
  const crashing = await daemon.spawn([child("keeps-ledger.sh"), crasher.path, canary.path], {
    restart: "permanent",
    max_restarts: MAX_RESTARTS,
    restart_period_ms: 3_600_000,
  });
  const runs = makeLedger(dir, "runs");
  const short: { readonly name: string; readonly id: string }[] = [];

  for (let round = 1; round <= ROUNDS; round += 1) {
    const dying = daemon;
    // From where the last daemon's watch was cut off, as a client that resumes does.
    const watching = await dying.watchLines({ all: true, from: told.size }, watched(told));
    const ask = async (name: string): Promise<void> => {
      short.push({ name, id: await dying.spawn([child("notes-its-run.sh"), runs.path, name]) });
    };
    // The daemon must carry through what it acknowledged: one is certain, others are asked for at any moment of its life.
    await ask(`${round}-certain`);
    const asking = Promise.all(
      Array.from({ length: 3 }, async (_, n) => {
        await sleep(Math.random() * LIFE_MAX_MS);
        await ask(`${round}-${n}`).catch(() => undefined);
      }),
    );
    const started = crasher.all();
    const [, , victim, startTime] = started.at(-1) ?? [];
    const crash = (): void => {
      if (lives(Number(victim), startTime)) killIfThere(Number(victim));
    };
    await sleep(Math.random() * LIFE_MAX_MS);
    if (round % 2 === 0) crash();
    await dying.kill9();
    await Promise.all([asking, watching.over.catch(() => undefined)]);
    if (round % 2 === 1) crash();
    if (round === ROUNDS) for (const { stop } of counters.slice(1)) stop();
    const begun = performance.now();
    daemon = await startDaemon(stateDir);
    boots.push(performance.now() - begun);
    // Nobody is unsupervised: the same processes, adopted.
    if (round < ROUNDS) expect(await pidsOf(daemon)).toEqual(pids);
    await until(
      `the crash of round ${round} is answered`,
      async () => crasher.all().length > started.length || (await daemon.info(crashing)).state === "failed",
    );
  }

  // The crashes of all daemons together, and not one more restart.
  const incarnations = Array.from({ length: MAX_RESTARTS + 1 }, (_, n) => n + 1);
  expect(crasher.all().map(([, incarnation]) => Number(incarnation))).toEqual(incarnations);
  expect(crasher.all().map((line) => line.at(-1))).toEqual(["none", ...Array(MAX_RESTARTS).fill("dead")]);
  const ofCrasher = await daemon.history(
    ["worker_exited", "worker_failed", "worker_restart_scheduled", "supervisor_escalated", "worker_ended"],
    [crashing],
  );
  const incarnationsOf = (type: string) =>
    ofCrasher.filter((record) => record.type === type).map(({ incarnation }) => incarnation);
  expect(incarnationsOf("worker_exited")).toEqual(incarnations);
  expect(incarnationsOf("worker_failed")).toEqual(incarnations);
  expect(incarnationsOf("worker_restart_scheduled")).toEqual(incarnations.slice(0, -1));
  expect(incarnationsOf("supervisor_escalated")).toEqual([MAX_RESTARTS + 1]);
  expect(incarnationsOf("worker_ended")).toEqual([MAX_RESTARTS + 1]);

  counters[0]?.stop();
  await daemon.wait(counters.map(({ id }) => id));
  const exited = await daemon.history(["worker_exited"], [...ids]);
  expect(exited.map(({ incarnation, payload }) => [incarnation, payload.exit_code, payload.reason])).toEqual(
    counters.map(() => [1, 7, "exited"]),
  );

  const all = await daemon.list();
  await daemon.wait(all.map(({ id }) => id));
  const exits = await daemon.history(["worker_exited"]);
  let ran = 0;
  for (const { name, id } of short) {
    const ofRun = exits.filter(({ worker_id }) => worker_id === id);
    expect(
      ofRun.map(({ incarnation }) => incarnation),
      `the exits of ${name}`,
    ).toEqual(ofRun.map((_, n) => n + 1));
    // If the daemon died between the record of a start and the start itself, the next daemon starts it: it runs once.
    const last = ofRun.length;
    for (const lost of ofRun.slice(0, -1))
      expect(lost.payload).toMatchObject({ reason: "start_failed", error: { code: "WORKER_LOST" } });
    expect(ofRun.at(-1)?.payload, `the exit of ${name}`).toMatchObject({ exit_code: 3 });
    ran += 1;
    const lines = [
      ["start", name, String(last)],
      ["exit", name, String(last)],
    ];
    expect(
      runs.all().filter(([, of]) => of === name),
      `the ledger of ${name}`,
    ).toEqual(lines);
  }
  expect(ran).toBeGreaterThan(ROUNDS / 2);
  // A request that was not acknowledged was done once, or not at all.
  const starts = runs
    .all()
    .filter(([what]) => what === "start")
    .map(([, name]) => name);
  expect(new Set(starts).size).toBe(starts.length);
  expect(canary.isHeld()).toBe(false);

  const { before, lines } = await readWhole(daemon, told, ids);
  expect(before, "the watchers saw most of it").toBeGreaterThan(ROUNDS * COUNTERS);
  expect(await daemon.request("db/check", {})).toMatchObject({ ok: true });
  boots.sort((a, b) => a - b);
  figure("R10", {
    rounds: ROUNDS,
    failures: 0,
    p50_ms: percentile(boots, 0.5),
    p99_ms: percentile(boots, 0.99),
    note: `kill -9 of the daemon with ${COUNTERS} agents printing 500 numbered lines/s each: 0 of ${told.size} records and ${lines} lines lost or doubled; time until the next one answers`,
  });
});

const STOPPED_MS = 7_000;
const HALF = 17_000;
test("a daemon stopped for 7 s in the middle of a 200 KB reply: every byte arrives", {
  timeout: 600_000,
}, async () => {
  const daemon = await startDaemon();
  const dir = temporaryDirectory();
  const go = join(dir, "go");
  const id = await daemon.spawn([child("waits-in-the-middle.sh"), String(HALF), String(2 * HALF), go]);
  await until("the first half is being read", async () =>
    (await daemon.output(id).catch(() => "")).startsWith("1\n"),
  );
  const { pid } = await daemon.info(id);
  daemon.process.kill("SIGSTOP");
  try {
    makeLedger(dir, "go");
    await until("the agent has ended, unseen", () => !lives(pid as number));
    await sleep(STOPPED_MS);
  } finally {
    daemon.process.kill("SIGCONT");
  }
  await daemon.wait([id]);
  const whole = `${expectedSeqs(2 * HALF).join("\n")}\nthe end`;
  expect(whole.length).toBeGreaterThan(180_000);
  expect(await daemon.output(id)).toBe(whole);
  expect(await daemon.history(["worker_exited"], [id])).toMatchObject([
    { payload: { exit_code: 0, reason: "exited" } },
  ]);
});
