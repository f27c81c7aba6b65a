/**
 * Signs that a run may have changed: file events of its directory (one watch serves stdout, stderr, pid and exit),
 * and the end of a launcher that is our child.
 */
import type { ChildProcess } from "node:child_process";
import { type FSWatcher, watch } from "node:fs";

/** The name of the file that changed, LAUNCHER_ENDED, or null where the system did not say. */
export type Notice = string | null;

export const LAUNCHER_ENDED = "(launcher ended)";

/** `fs.watch`, which throws where the machine has no inotify instances or watches left. */
export type WatchFiles = (
  dir: string,
  options: { readonly persistent: false },
  listener: (event: string, file: string | null) => void,
) => FSWatcher;

const ignore = (): void => undefined;

export class Notices {
  listener: (notice: Notice) => void = ignore;
  /** True from the spawn to the end of a launcher that is our child. */
  launcherRuns = false;
  /** Exit code of that launcher; null before its end, and when a signal ended it. */
  launcherCode: number | null = null;
  private watcher: FSWatcher | undefined;

  constructor(dir: string, watchFiles: WatchFiles = watch) {
    try {
      this.watcher = watchFiles(dir, { persistent: false }, (_event, file) => this.listener(file));
      this.watcher.on("error", () => this.unwatch());
    } catch {
      // No watches left, or the directory is gone: the poller looks instead.
    }
  }

  /** False: nothing tells of file changes. */
  get isWatching(): boolean {
    return this.watcher !== undefined;
  }

  follow(child: ChildProcess): void {
    this.launcherRuns = true;
    child.on("exit", (code) => {
      this.launcherRuns = false;
      this.launcherCode = code;
      this.listener(LAUNCHER_ENDED);
    });
  }

  close(): void {
    this.listener = ignore;
    this.unwatch();
  }

  private unwatch(): void {
    this.watcher?.close();
    this.watcher = undefined;
  }
}
