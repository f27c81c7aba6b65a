/**
 * The daemon dies at every named point of its code (promises R9, R1, R4, R7): agents go on, and of what was acknowledged
 * nothing is lost and nothing is done twice. Each daemon of a chain dies at its own point and finds what the one before
 * left; the last one does not die, and the history checker reads all of it.
 */
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { CRASH_POINTS, type CrashPoint } from "../../src/base/crash-point.ts";
import { figure, full } from "../support/figures.ts";
import type { Daemon } from "./client.ts";
import { type Crash, dieAt, nameOf } from "./dying.ts";
import { Fleet } from "./fleet.ts";
import { checkHistory } from "./history.ts";
import { startDaemon, temporaryDirectory } from "./support.ts";

/** Passed so often at most in the life of a daemon: once, or once for each worker that the last one left. */
const PASSAGES_MAX: Partial<Record<CrashPoint, number>> = {
  migration: 1,
  "boot-before-log": 1,
  "boot-worker": 3,
  "boot-adoption": 3,
  "boot-before-socket": 1,
  rebuild: 1,
  "release-before-punch": 1,
  shutdown: 1,
  "take-over-ready": 1,
  "lock-before-name": 1,
  "lifeline-before-hold": 1,
  "gc-mid-vacuum": 1,
  reopen: 1,
  "write-back-whole": 1,
  "write-back-before-name": 1,
  "lock-before-release": 1,
  "lock-released": 1,
  "upgrade-before-stop": 1,
  "upgrade-after-stop": 1,
};
const PASSAGES = full ? [1, 2, 3, 5, 8, 13, 21] : [1];
/** Points of one chain: few enough to tell by which one a finding comes. */
const CHAIN = full ? 1 : 13;
/** Between two batches of 50 lines of a counter. Every daemon of a chain reads them: more lines would only cost time. */
const COUNTER_PAUSE_S = 0.25;

/**
 * Those of a bridge are passed by its runs alone (bridge-crashes.chaos.test.ts), those of the outbox where there is a target
 * (notifications.chaos.test.ts), and that of a hub by other processes (federation-steps.chaos.test.ts).
 */
const OWN_POINTS = CRASH_POINTS.filter((point) => !/^(bridge|notify|weblisk)-/.test(point));
const crashes: readonly Crash[] = PASSAGES.flatMap((passage) =>
  OWN_POINTS.filter((point) => passage <= (PASSAGES_MAX[point] ?? Number.POSITIVE_INFINITY)).map((point) => ({
    point,
    passage,
  })),
);
const chains = Array.from({ length: Math.ceil(crashes.length / CHAIN) }, (_, n) =>
  crashes.slice(n * CHAIN, (n + 1) * CHAIN),
);

const epochOf = async (daemon: Daemon): Promise<string> =>
  (await daemon.request<{ epoch: string }>("daemon/status", {})).epoch;

describe("a daemon that dies at", () => {
  test.each(chains.map((chain) => ({ points: chain.map(nameOf).join(" "), chain })))(
    "$points leaves nothing undone and nothing done twice",
    { timeout: 600_000 },
    async ({ chain }) => {
      const dir = temporaryDirectory();
      const stateDir = join(dir, "state");
      const fleet = new Fleet(dir);
      onTestFinished(() => fleet.close());

      const [first, ...others] = chain;
      // On a database that is being made there is nobody yet.
      if (first?.point === "migration") await dieAt(stateDir, fleet, first);
      const founder = await startDaemon(stateDir);
      const epoch = await epochOf(founder);
      for (let n = 0; n < 2; n += 1) await fleet.counter(founder, COUNTER_PAUSE_S);
      const crashing = await fleet.crasher(founder);
      await fleet.apply(founder, "shop");
      await fleet.dying(founder);
      await fleet.stubborn(founder);
      for (let n = 0; n < 3; n += 1) await fleet.turn(founder);
      await fleet.talker(founder);
      await founder.kill9();
      for (const crash of first?.point === "migration" ? others : chain) await dieAt(stateDir, fleet, crash);

      const last = await startDaemon(stateDir);
      expect(await epochOf(last), "nobody put another log in the place of this one").toBe(epoch);
      await fleet.unpause(last);
      await fleet.workedOff(last);
      await fleet.kill(last, crashing);
      await fleet.down(last, "shop");
      await fleet.stopCounting(last);
      const minimum = { records: 100, acknowledged: 10, ends: 5, lines: 100 };
      expect(checkHistory(await fleet.history(last, minimum))).toEqual([]);
      await last.request("agent/kill", { all: true, grace_ms: 100 });
      expect(checkHistory(await fleet.history(last, minimum, true))).toEqual([]);
      expect(await last.request("db/check", {})).toMatchObject({ ok: true });
      figure("R9", { rounds: chain.length, failures: 0, note: "crash points, each with its passages" });
    },
  );
});
