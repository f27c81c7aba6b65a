/**
 * The watchdog's own thread (promise R37): it notices that the event loop is blocked, when nothing on that
 * loop can. It writes the facts to daemon.log and to `daemon.stalled`, which a client reads when no daemon
 * answers.
 */
import { readFileSync, rmSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { replaceFile } from "../base/files/replace-file.ts";
import { BEAT_PERIOD_MS, BEATS_MISSED_MAX, CLOCK_TICK_MS, TICKS_MISSED_MAX } from "../base/limits.ts";
import { descriptorOf, tryToWrite } from "./log-output.ts";
import type { WatchdogData } from "./loop-watcher.ts";
import type { StallReport } from "./watchdog.ts";

const { pid, file, beats, facts, log: output } = workerData as WatchdogData;
const times = new BigInt64Array(beats);
const words = new Uint8Array(facts);
/** In the order of `beats`. */
const WATCHED = [
  { what: "loop", late_ms: BEATS_MISSED_MAX * BEAT_PERIOD_MS },
  { what: "tick", late_ms: TICKS_MISSED_MAX * CLOCK_TICK_MS },
] as const;

const nowMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);
const ageMs = (place: number): number => nowMs() - Number(Atomics.load(times, place) / 1_000_000n);

const log = (level: "error" | "warn", message: string, told: object): void =>
  tryToWrite(
    descriptorOf(output),
    `${JSON.stringify({ ts: new Date().toISOString(), level, message, ...told })}\n`,
  );

/** The kernel's state of the main thread: R runs, D waits for a disk, S waits for something else. */
const mainThread = (): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/stat`, "latin1").split(") ").at(-1)?.[0];
  } catch {
    return undefined;
  }
};

const known = (): unknown => {
  try {
    // A copy, because a decoder does not accept shared memory.
    return JSON.parse(new TextDecoder().decode(words.slice()).replace(/\0+$/, ""));
  } catch {
    return undefined;
  }
};

const write = (stalled: StallReport): void => {
  try {
    replaceFile(file, `${JSON.stringify(stalled)}\n`);
  } catch {
    // The log has the report.
  }
};

let since: string | undefined;
let lastLook = nowMs();

const look = (): void => {
  const now = nowMs();
  const wasStopped = now - lastLook > BEATS_MISSED_MAX * BEAT_PERIOD_MS;
  lastLook = now;
  // No process could run, and neither could this thread: the next check decides.
  if (wasStopped) return;
  const place = WATCHED.findIndex(({ late_ms }, at) => ageMs(at) > late_ms);
  const late = WATCHED[place];
  if (late === undefined) {
    if (since === undefined) return;
    rmSync(file, { force: true });
    log("warn", "the daemon's loop runs again", { since });
    since = undefined;
    return;
  }
  const blocked_ms = ageMs(place);
  if (since === undefined) {
    since = new Date(Date.now() - blocked_ms).toISOString();
    log("error", late.what === "loop" ? "the event loop is blocked" : "the supervisor's tick has stopped", {
      blocked_ms,
      main_thread: mainThread(),
      memory: process.memoryUsage.rss(),
      before: known(),
    });
  }
  write({ pid, what: late.what, since });
};

setInterval(look, BEAT_PERIOD_MS);
