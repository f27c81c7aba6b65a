/**
 * Keeps some run directories ready, with the files that every run has. A start then renames one, and waits for no new
 * file; nor does the event loop (docs/decisions/0036). The fork server makes them, one after another, once a start is over.
 */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { statAt } from "../../base/files/regular-file.ts";
import { SPARE_DIRECTORIES_MAX } from "../../base/limits.ts";
import { DIRECTORY_MODE, SPARE_CLAIM } from "./run-directory.ts";

/** The last one becomes `claimed` by the launcher that claims the run. */
export const SPARE_FILES = ["run.json", "stdout", "stderr", "pid", "exit", SPARE_CLAIM] as const;

/** Makes a directory with empty files, both for this user alone. False if it could not. */
export type MakeFiles = (dir: string, names: readonly string[]) => Promise<boolean>;

export class SpareDirectories {
  private readonly home: string;
  private readonly makeFiles: MakeFiles;
  private readonly ready: string[] = [];
  /** So many are kept ready: one more after each start that found none. */
  private wanted = 1;
  private making: Promise<void> | undefined;
  private isClosed = false;
  private made = 0;

  constructor(runsDir: string, makeFiles: MakeFiles) {
    this.home = join(runsDir, ".spare");
    this.makeFiles = makeFiles;
  }

  get isReady(): boolean {
    return this.ready.length > 0;
  }

  /** Moves a spare to `dir`. False if there is none, or none that can be used: the caller makes the directory. */
  take(dir: string): boolean {
    const ready = this.ready.pop();
    // The first start of a daemon finds none.
    if (ready === undefined && this.made > 0) this.wanted = Math.min(this.wanted + 1, SPARE_DIRECTORIES_MAX);
    if (ready === undefined || existsSync(dir) || !isUntouched(ready)) return false;
    try {
      if (!existsSync(dirname(dir))) mkdirSync(dirname(dir), { recursive: true, mode: DIRECTORY_MODE });
      renameSync(ready, dir);
      return true;
    } catch {
      return false;
    }
  }

  /** Begins to make what is missing. If that fails, the next start makes its own, and tells why it cannot. */
  prepare(): void {
    if (this.making !== undefined || this.isClosed || this.ready.length >= this.wanted) return;
    const over = (isMade: boolean): void => {
      this.making = undefined;
      if (isMade) this.prepare();
    };
    this.making = this.make().then(over, () => over(false));
  }

  /** Waits for what is being made: a directory cannot be removed while files are added to it. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.making;
    await this.clear();
  }

  /** The next daemon removes what this one cannot: the fork server of one that was killed may still make some. */
  private async clear(): Promise<void> {
    await rm(this.home, { recursive: true, force: true }).catch(() => undefined);
  }

  private async make(): Promise<boolean> {
    // A daemon that was killed has left its own.
    if (this.made === 0) {
      await this.clear();
      await mkdir(this.home, { recursive: true, mode: DIRECTORY_MODE });
    }
    this.made += 1;
    const dir = join(this.home, `run-${process.pid}-${this.made}`);
    const isMade = await this.makeFiles(dir, SPARE_FILES);
    if (isMade) this.ready.push(dir);
    return isMade;
  }
}

/** An agent can write here, as in every run directory. */
const isUntouched = (dir: string): boolean =>
  statAt(dir)?.isDirectory() === true &&
  SPARE_FILES.every((name) => {
    const stats = statAt(join(dir, name));
    return stats?.isFile() === true && stats.size === 0 && stats.nlink === 1;
  });
