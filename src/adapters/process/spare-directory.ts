/**
 * Keeps one run directory ready, with the files that every run has. A start then renames it, and does not wait
 * until four new files are made; nor does the event loop (docs/decisions/0036). It is made in threads, after the
 * start before it.
 */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { statAt } from "../../base/files/regular-file.ts";
import { DIRECTORY_MODE, FILE_MODE } from "./run-directory.ts";

const FILES = ["run.json", "stdout", "stderr"] as const;

export class SpareDirectory {
  private readonly home: string;
  private ready: string | undefined;
  private making: Promise<void> | undefined;
  private isClosed = false;
  private made = 0;

  constructor(runsDir: string) {
    this.home = join(runsDir, ".spare");
  }

  get isReady(): boolean {
    return this.ready !== undefined;
  }

  /** Moves the spare to `dir`. False if there is none, or none that can be used: the caller makes the directory. */
  take(dir: string): boolean {
    const { ready } = this;
    this.ready = undefined;
    if (ready === undefined || existsSync(dir) || !isUntouched(ready)) return false;
    try {
      if (!existsSync(dirname(dir))) mkdirSync(dirname(dir), { recursive: true, mode: DIRECTORY_MODE });
      renameSync(ready, dir);
      return true;
    } catch {
      return false;
    }
  }

  /** Begins to make the next one. If that fails, the next start makes its own, and tells why it cannot. */
  prepare(): void {
    if (this.making !== undefined || this.isClosed || this.isReady) return;
    const over = (): void => {
      this.making = undefined;
    };
    this.making = this.make().then(over, over);
  }

  /** Waits for what is being made: a directory cannot be removed while files are added to it. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.making;
    await rm(this.home, { recursive: true, force: true });
  }

  private async make(): Promise<void> {
    // A daemon that was killed has left its own.
    if (this.made === 0) await rm(this.home, { recursive: true, force: true });
    this.made += 1;
    const dir = join(this.home, `run-${process.pid}-${this.made}`);
    await mkdir(dir, { recursive: true, mode: DIRECTORY_MODE });
    await Promise.all(FILES.map((name) => writeFile(join(dir, name), "", { mode: FILE_MODE, flag: "wx" })));
    this.ready = dir;
  }
}

/** An agent can write here, as in every run directory. */
const isUntouched = (dir: string): boolean =>
  statAt(dir)?.isDirectory() === true &&
  FILES.every((name) => {
    const stats = statAt(join(dir, name));
    return stats?.isFile() === true && stats.size === 0 && stats.nlink === 1;
  });
