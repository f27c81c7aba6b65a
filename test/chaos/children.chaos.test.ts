/** Children that behave badly: each ends once, leaves nothing, and harms nobody beside it. */
import { describe, expect, test } from "vitest";
import { figure, full } from "../support/figures.ts";
import {
  child,
  type Daemon,
  makeCanary,
  peakMiB,
  startDaemon,
  temporaryDirectory,
  until,
} from "./support.ts";

/** Promise R17. */
const RSS_MAX_MIB = 150;

/** Runs a script that knows no canary with one held, in every process that it makes. */
const holding = (canary: string, ...argv: readonly string[]): readonly string[] => [
  "/bin/sh",
  "-c",
  'exec 9<>"$0"; exec "$@"',
  canary,
  ...argv,
];

const hasSaid = async (daemon: Daemon, id: string, line: string): Promise<void> =>
  until(`worker ${id} says "${line}"`, async () => (await daemon.output(id).catch(() => "")).includes(line));

const endsOf = async (daemon: Daemon, id: string) =>
  daemon.history(
    ["worker_exited", "worker_completed", "worker_failed", "worker_cancelled", "worker_ended"],
    [id],
  );

describe("a kill leaves nothing of a child that", () => {
  test.each([
    ["ignores TERM, INT and HUP", "ignores-term.sh"],
    ["forks", "forks.sh"],
    ["forks into a new session", "new-session.sh"],
    ["forks twice, into a new session", "double-fork.sh"],
    ["starts another without its environment, in a new session", "hides-environment.sh"],
    ["starts another whose first thread ends", "ends-its-first-thread.sh"],
  ])("%s", async (_sin, script) => {
    const daemon = await startDaemon();
    const canary = makeCanary(temporaryDirectory());
    const id = await daemon.spawn(holding(canary.path, child(script), canary.path), { restart: "permanent" });
    await hasSaid(daemon, id, "ready\n");
    expect(canary.isHeld()).toBe(true);
    await daemon.kill([id]);
    expect(canary.isHeld()).toBe(false);
    const ends = await endsOf(daemon, id);
    expect(ends.map(({ type }) => type)).toEqual(["worker_exited", "worker_cancelled", "worker_ended"]);
    expect(ends[0]?.payload).toMatchObject({
      reason: "signalled",
      signal_inferred: false,
      sweep: { survivors: [] },
    });
  });
});

test("a child that ends well and leaves one that holds its stdout has ended, with nothing left", async () => {
  const daemon = await startDaemon();
  const canary = makeCanary(temporaryDirectory());
  const id = await daemon.spawn([child("leaves-child.sh"), canary.path]);
  await daemon.wait([id]);
  expect(canary.isHeld()).toBe(false);
  const ends = await endsOf(daemon, id);
  expect(ends.map(({ type }) => type)).toEqual(["worker_exited", "worker_completed", "worker_ended"]);
  expect(ends[0]?.payload).toMatchObject({ exit_code: 0, sweep: { survivors: [] } });
  expect(await daemon.output(id)).toBe("bye\n");
});

const BYTES = (full ? 1024 : 64) * 1024 * 1024;
test(`${BYTES / 2 ** 20} MiB without a line end are one record with their count, and the next line is read`, {
  timeout: 600_000,
}, async () => {
  const daemon = await startDaemon();
  const id = await daemon.spawn([child("no-newline-then-line.sh"), String(BYTES)], { output_quota_bytes: 0 });
  await daemon.wait([id]);
  expect(await daemon.output(id)).toBe("after it\n");
  const chunks = await daemon.history(["worker_log_chunk"], [id]);
  expect(chunks.map(({ payload }) => payload)).toEqual([
    expect.objectContaining({ reason: "line_too_long", bytes: BYTES }),
  ]);
  const peak = peakMiB(daemon.pid);
  figure("R17", {
    rounds: 1,
    failures: peak < RSS_MAX_MIB ? 0 : 1,
    note: `${BYTES / 2 ** 20} MiB without a line end; the daemon's memory peaked at ${Math.round(peak)} MiB`,
  });
  expect(peak).toBeLessThan(RSS_MAX_MIB);
});

const LINES = full ? 1_000_000 : 500_000;
/** By then the daemon's heap has its size; that takes some 200,000 lines, and more on a busy machine. */
const SETTLED_LINES = LINES * 0.6;
/** Held up by the flood, the other's lines would come at its end. */
const LATE_MAX_PART = 0.1;
/** From there to the end of the flood: memory does not follow what was printed, or it would be 60 MiB at least. */
const FLOOD_GROWTH_MAX_MIB = 32;
test(`a flood of ${LINES} lines is in the log once, line by line, and another worker's lines are not held up`, {
  timeout: 600_000,
}, async () => {
  const daemon = await startDaemon();
  const clock = await daemon.spawn([child("tells-time.sh")]);
  const delays: number[] = [];
  const ticking = await daemon.watchLines({ ids: [clock], kinds: ["TextOutput"] }, (line) =>
    delays.push(Date.now() - Number(/"text":"(\d+)/.exec(line)?.[1])),
  );
  await until("the clock ticks", () => delays.length > 0);
  delays.length = 0;

  const flood = await daemon.spawn(["seq", String(LINES)]);
  let seen = 0;
  let wrong: string | undefined;
  let settled = 0;
  const flooding = await daemon.watchLines(
    { ids: [flood], from: 0, kinds: ["TextOutput"], types: ["agent.event"], follow: false },
    (line) => {
      seen += 1;
      if (seen === SETTLED_LINES) settled = peakMiB(daemon.pid);
      if (!line.includes(`"text":"${seen}\\n"`)) wrong ??= `line ${seen}: ${line}`;
    },
  );
  const begun = performance.now();
  await flooding.over;
  const took = performance.now() - begun;
  ticking.stop();
  expect(wrong).toBeUndefined();
  expect(seen).toBe(LINES);
  expect(peakMiB(daemon.pid) - settled).toBeLessThan(FLOOD_GROWTH_MAX_MIB);
  delays.sort((a, b) => a - b);
  expect(delays.length).toBeGreaterThan(20);
  const at = (part: number) => delays[Math.floor(delays.length * part)] as number;
  figure("R18", {
    rounds: delays.length,
    failures: 0,
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    note: `lines of another worker, written to watched, during a flood of ${LINES} lines in ${Math.round(took)} ms`,
  });
  expect(delays[Math.floor(delays.length * 0.99)]).toBeLessThan(took * LATE_MAX_PART);
});
