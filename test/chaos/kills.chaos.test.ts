/**
 * Promises R1 and R7: a thousand SIGKILLs, and the log agrees with the ledger that the agents wrote themselves. The test
 * finds its victims in the ledger alone, so nothing that the daemon says is taken for granted.
 */
import { expect, test } from "vitest";
import { figure } from "../support/figures.ts";
import {
  child,
  expectedSeqs,
  lives,
  makeCanary,
  makeLedger,
  startDaemon,
  temporaryDirectory,
  until,
} from "./support.ts";

const KILLS = 1_000;
const WORKERS = 10;
/** A launcher alone is killed so long before its agent: a supervisor that takes it for the agent's end starts another. */
const EXPOSED_MS = 20;

type Victim = "agent" | "launcher" | "group";
const VICTIMS: readonly Victim[] = ["agent", "launcher", "group"];

interface Started {
  readonly incarnation: number;
  readonly pid: number;
  readonly startTime: string;
  readonly launcher: number;
  readonly before: string;
}

const startOf = ([, incarnation, pid, startTime, launcher, before]: readonly string[]): Started => ({
  incarnation: Number(incarnation),
  pid: Number(pid),
  startTime: startTime ?? "",
  launcher: Number(launcher),
  before: before ?? "",
});

const end = async (victim: Victim, { pid, launcher }: Started): Promise<void> => {
  if (victim === "agent") process.kill(pid, "SIGKILL");
  else if (victim === "group") process.kill(-launcher, "SIGKILL");
  else {
    process.kill(launcher, "SIGKILL");
    await new Promise((done) => setTimeout(done, EXPOSED_MS));
    process.kill(pid, "SIGKILL");
  }
};

/** How an end that the launcher saw is told, and one that nobody saw. */
const TOLD = {
  agent: { exit_code: 137, signal: "SIGKILL", signal_inferred: true, raw_status: 137, reason: "signalled" },
  group: { exit_code: null, signal: null, signal_inferred: false, raw_status: null, reason: "unknown" },
  launcher: { exit_code: null, signal: null, signal_inferred: false, raw_status: null, reason: "unknown" },
} as const;

test(`${KILLS} SIGKILLs to agents, launchers and groups: each exit is recorded once, each is followed by one restart`, {
  timeout: 600_000,
}, async () => {
  const daemon = await startDaemon();
  const dir = temporaryDirectory();
  const canary = makeCanary(dir);
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, async (_, n) => {
      const ledger = makeLedger(dir, `ledger-${n}`);
      const id = await daemon.spawn([child("keeps-ledger.sh"), ledger.path, canary.path], {
        restart: "permanent",
        max_restarts: KILLS,
      });
      return { id, ledger, killed: [] as Victim[] };
    }),
  );

  let kills = 0;
  const hunt = async ({ ledger, killed }: (typeof workers)[number]): Promise<void> => {
    for (;;) {
      await until(
        `incarnation ${killed.length + 1} has written its start`,
        () => ledger.all().length > killed.length,
      );
      if (kills >= KILLS) return;
      const victim = VICTIMS[kills++ % VICTIMS.length] as Victim;
      await end(victim, startOf(ledger.all().at(-1) as string[]));
      killed.push(victim);
    }
  };
  await Promise.all(workers.map(hunt));
  expect(workers.reduce((sum, { killed }) => sum + killed.length, 0)).toBe(KILLS);

  await daemon.request("agent/kill", { all: true, grace_ms: 200 });
  expect(canary.isHeld()).toBe(false);

  const lifecycle = await daemon.history([
    "worker_exited",
    "worker_restart_scheduled",
    "worker_failed",
    "worker_cancelled",
    "worker_completed",
    "worker_ended",
  ]);
  for (const { id, ledger, killed } of workers) {
    const started = ledger.all().map(startOf);
    const ofWorker = lifecycle.filter(({ worker_id }) => worker_id === id);
    const ofType = (type: string) => ofWorker.filter((record) => record.type === type);
    const numbers = started.map((_, n) => n + 1);

    expect(started.map(({ incarnation }) => incarnation)).toEqual(numbers);
    expect(started.map(({ before }) => before)).toEqual(numbers.map((n) => (n === 1 ? "none" : "dead")));
    expect(started.filter(({ pid, startTime }) => lives(pid, startTime))).toEqual([]);

    expect(ofType("worker_exited").map(({ incarnation }) => incarnation)).toEqual(numbers);
    for (const [n, victim] of killed.entries())
      expect(ofType("worker_exited")[n]?.payload, `incarnation ${n + 1}, ${victim}`).toMatchObject(
        TOLD[victim],
      );
    expect(ofType("worker_failed").map(({ incarnation }) => incarnation)).toEqual(numbers.slice(0, -1));
    expect(ofType("worker_restart_scheduled").map(({ incarnation }) => incarnation)).toEqual(
      numbers.slice(0, -1),
    );
    expect(ofType("worker_cancelled").map(({ incarnation }) => incarnation)).toEqual(numbers.slice(-1));
    expect(ofType("worker_completed")).toEqual([]);
    expect(ofType("worker_ended")).toHaveLength(1);
  }
  const all = await daemon.history([]);
  expect(all.map(({ seq }) => seq)).toEqual(expectedSeqs(all.length));
  figure("R1", { rounds: KILLS, failures: 0, note: "SIGKILLs to agents, launchers and groups" });
});
