/** The process table: it lives on when the daemon dies, and forgets everything when the machine does. */
import { type RunExit, UNKNOWN_EXIT } from "../../src/protocol/incarnation.ts";
import type { Timeline } from "./clock.ts";
import type { Random } from "./random.ts";

const STUBBORN_MS = 600_000;
const SLOW_KILL_MS = 3_000;
const PAUSED_LOOK_MS = 60_000;

export interface Temper {
  /** Mean of its life. */
  readonly life_ms: number;
  /** It ends well by itself. */
  readonly works: boolean;
}

export class Process {
  readonly id: string;
  readonly incarnation: number;
  alive = true;
  /** It stands still. */
  paused = false;
  ended_ms = 0;
  /** The text of its exit file; undefined: nobody saw its end. */
  exit: RunExit | undefined;
  /** The daemon that watches it now. */
  onExit: (() => void) | undefined;

  constructor(id: string, incarnation: number) {
    this.id = id;
    this.incarnation = incarnation;
  }
}

export const exitOf = (code: number | null, signal: string | null = null): RunExit => ({
  exit_code: code,
  signal,
  signal_inferred: false,
  raw_status: code,
  reason: code === null ? "signalled" : "exited",
});

export class ProcessTable {
  /** The newest process of each worker. */
  readonly of = new Map<string, Process>();
  readonly #timeline: Timeline;
  readonly #random: Random;
  /** No more faults: what runs goes on running, what is told to stop stops. */
  calm = false;
  faults = 0;
  /** A second agent was made while the first one lived. */
  doubles: string | undefined;

  constructor(timeline: Timeline, random: Random) {
    this.#timeline = timeline;
    this.#random = random;
  }

  make(id: string, incarnation: number, temper: Temper): Process {
    const before = this.of.get(id);
    if (before?.alive === true) this.doubles ??= `${id}: ${incarnation} beside ${before.incarnation}`;
    const process = new Process(id, incarnation);
    this.of.set(id, process);
    const random = this.#random;
    this.#live(process, random.about(temper.life_ms), () => {
      const good = temper.works && random.chance(0.7);
      if (!good) this.faults++;
      this.end(
        process,
        good ? exitOf(0) : random.chance(0.5) ? exitOf(1 + random.below(3)) : exitOf(null, "SIGSEGV"),
      );
    });
    return process;
  }

  /** It ends by itself after so long, but not while it stands still. */
  #live(process: Process, life_ms: number, end: () => void): void {
    this.#timeline.after(
      life_ms,
      () => process.alive && !this.calm,
      () => (process.paused ? this.#live(process, PAUSED_LOOK_MS, end) : end()),
    );
  }

  end(process: Process, exit: RunExit) {
    if (!process.alive) return;
    process.alive = false;
    process.ended_ms = this.#timeline.now_ms;
    // Once in a while the launcher dies too, and nobody saw the end.
    const seen = this.calm || !this.#random.chance(0.03);
    if (!seen) this.faults++;
    process.exit = seen ? exit : undefined;
    process.onExit?.();
  }

  exitOf(process: Process): RunExit {
    return process.exit ?? UNKNOWN_EXIT;
  }

  signal(process: Process, signal: string) {
    if (!process.alive) return;
    process.paused = false;
    const random = this.#random;
    const after = (delay: number, exit: RunExit) =>
      this.#timeline.after(
        delay,
        () => process.alive,
        () => this.end(process, exit),
      );
    if (signal === "SIGKILL") {
      const slow = !this.calm && random.chance(0.05);
      return after(slow ? SLOW_KILL_MS : random.below(20), exitOf(null, "SIGKILL"));
    }
    if (!this.calm && random.chance(0.15)) {
      this.faults++;
      return after(STUBBORN_MS, exitOf(null, signal));
    }
    after(random.about(200), random.chance(0.5) ? exitOf(0) : exitOf(null, signal));
  }

  /** The machine goes down: nobody saw how anything ended. */
  reboot(): void {
    for (const process of this.of.values()) {
      if (process.alive) process.ended_ms = this.#timeline.now_ms;
      process.alive = false;
      process.exit = undefined;
      process.onExit = undefined;
    }
  }
}
