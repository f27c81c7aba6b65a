/** The daemon itself is killed, or stopped, under load: agents go on, and the next one knows all (promises R4, R9, R10). */
import { join } from "node:path";
import { expect, test } from "vitest";
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

const ROUNDS = 20;
const COUNTERS = 3;
/** One crash a round, every other one while no daemon is there to see it: given up well before the last round. */
const MAX_RESTARTS = 7;
/** A daemon lives at most so long after its first answer. */
const LIFE_MAX_MS = 300;

/** Lines 1 to n, each once and in order, and the last word of `counts.sh`. */
const isCount = (text: string): boolean => {
  const lines = text.split("\n").slice(0, -1);
  const last = lines.pop();
  return last === `counted ${lines.length}` && lines.every((line, n) => line === String(n + 1));
};

test(`a daemon killed ${ROUNDS} times under load: agents go on, output is whole, exits are known, windows are kept`, {
  timeout: 600_000,
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
        ]),
      };
    }),
  );
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
    const ask = async (name: string): Promise<void> => {
      short.push({ name, id: await dying.spawn([child("notes-its-run.sh"), runs.path, name]) });
    };
    // What the daemon acknowledged it must carry through: one is certain, others are asked for at any moment of its life.
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
      if (lives(Number(victim), startTime)) process.kill(Number(victim), "SIGKILL");
    };
    await sleep(Math.random() * LIFE_MAX_MS);
    if (round % 2 === 0) crash();
    await dying.kill9();
    await asking;
    if (round % 2 === 1) crash();
    if (round === ROUNDS - 1) for (const { stop } of counters.slice(1)) stop();
    daemon = await startDaemon(stateDir);
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
  const told = (type: string) =>
    ofCrasher.filter((record) => record.type === type).map(({ incarnation }) => incarnation);
  expect(told("worker_exited")).toEqual(incarnations);
  expect(told("worker_failed")).toEqual(incarnations);
  expect(told("worker_restart_scheduled")).toEqual(incarnations.slice(0, -1));
  expect(told("supervisor_escalated")).toEqual([MAX_RESTARTS + 1]);
  expect(told("worker_ended")).toEqual([MAX_RESTARTS + 1]);

  counters[0]?.stop();
  await daemon.wait(counters.map(({ id }) => id));
  for (const { id } of counters) {
    expect(isCount(await daemon.output(id)), `the lines of ${id}`).toBe(true);
    expect(await daemon.history(["worker_exited"], [id])).toMatchObject([
      { incarnation: 1, payload: { exit_code: 7, reason: "exited" } },
    ]);
  }

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
    // Where the daemon died between the record of a start and the start itself, the next daemon starts it: it runs once.
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
  // What was asked for and not acknowledged was done once, or not at all.
  const starts = runs
    .all()
    .filter(([what]) => what === "start")
    .map(([, name]) => name);
  expect(new Set(starts).size).toBe(starts.length);
  expect(canary.isHeld()).toBe(false);

  const log = await daemon.history([]);
  expect(log.map(({ seq }) => seq)).toEqual(expectedSeqs(log.length));
  expect(await daemon.request("db/check", {})).toMatchObject({ ok: true });
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
