/**
 * Signs that a run may have changed: file events of its directory (one watch serves stdout, stderr, pid and exit),
 * and the end of a launcher that is our child.
 */
import { type FSWatcher, watch } from "node:fs";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { LauncherListener } from "./fork-server.ts";
import { isAlive } from "./identity.ts";

/** The name of the file that changed, LAUNCHER_ENDED, or null where the system did not say. */
export type ChangedFileName = string | null;

export const LAUNCHER_ENDED = "(launcher ended)";

/** `fs.watch`, which throws where the machine has no inotify instances or watches left. */
export type WatchFiles = (
  dir: string,
  options: { readonly persistent: false },
  listener: (event: string, file: string | null) => void,
) => FSWatcher;

const ignore = (): void => undefined;

export class ChangeWatch implements LauncherListener {
  listener: (notice: ChangedFileName) => void = ignore;
  /** True from the start to the end of a launcher that this daemon has started. */
  launcherRuns = false;
  /** Its parent is gone: only a look tells of its end. */
  private isOrphan = false;
  /** Exit code of that launcher; null before its end, and when a signal ended it. */
  launcherCode: number | null = null;
  private watcher: FSWatcher | undefined;
  /** For who waits for the end of the launcher. */
  private leave: () => void = ignore;

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

  ended(code: number | null): void {
    this.launcherRuns = false;
    this.launcherCode = code;
    this.leave();
    this.listener(LAUNCHER_ENDED);
  }

  /** Resolves when the launcher has ended, or after `most_ms`. */
  untilEnded(most_ms: number): Promise<void> {
    if (!this.launcherRuns) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, most_ms);
    this.leave = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  }

  orphaned(): void {
    this.isOrphan = true;
  }

  /** Finds the end of a launcher of which nobody tells. */
  look(launcher: ProcessIdentity): void {
    if (this.isOrphan && this.launcherRuns && !isAlive(launcher)) this.ended(null);
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
