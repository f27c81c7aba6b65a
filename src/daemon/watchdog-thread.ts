/**
 * The watchdog's own thread (promise R37): it sees that the event loop does not run, when nothing on that loop can. It
 * writes what it knows to daemon.log and to `daemon.stalled`, which a client reads when nobody answers it.
 */
import { readFileSync, rmSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { replaceFile } from "../base/files/replace-file.ts";
import { BEAT_PERIOD_MS, BEATS_MISSED_MAX, CLOCK_TICK_MS } from "../base/limits.ts";
import { descriptorOf, tryToWrite } from "./log-output.ts";
import type { WatchdogData } from "./loop-watcher.ts";
import type { StallReport } from "./watchdog.ts";

const { pid, file, beats, facts, log: output } = workerData as WatchdogData;
const times = new BigInt64Array(beats);
const words = new Uint8Array(facts);
/** By place in `beats`. */
const WATCHED = [
  { what: "loop", late_ms: BEATS_MISSED_MAX * BEAT_PERIOD_MS },
  { what: "tick", late_ms: BEATS_MISSED_MAX * CLOCK_TICK_MS },
] as const;

const nowMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);
const ageMs = (place: number): number => nowMs() - Number(Atomics.load(times, place) / 1_000_000n);

const log = (level: "error" | "warn", message: string, told: object): void =>
  tryToWrite(
    descriptorOf(output),
    `${JSON.stringify({ ts: new Date().toISOString(), level, message, ...told })}\n`,
  );

/** The state of the main thread, as the kernel sees it: R is at work, D waits for a disk, S for something else. */
const mainThread = (): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/stat`, "latin1").split(") ").at(-1)?.[0];
  } catch {
    return undefined;
  }
};

const known = (): unknown => {
  try {
    // A copy: a decoder takes no shared memory.
    return JSON.parse(new TextDecoder().decode(words.slice()).replace(/\0+$/, ""));
  } catch {
    return undefined;
  }
};

const write = (stalled: StallReport): void => {
  try {
    replaceFile(file, `${JSON.stringify(stalled)}\n`);
  } catch {
    // The log has been told.
  }
};

let since: string | undefined;
let lastLook = nowMs();

const look = (): void => {
  const now = nowMs();
  const wasStopped = now - lastLook > BEATS_MISSED_MAX * BEAT_PERIOD_MS;
  lastLook = now;
  // Nobody could run, this thread neither: the next look tells.
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
