/**
 * Detects that a run may have changed: by file events of its directory (one watch covers stdout, stderr, pid
 * and exit), and by the end of a launcher that is our child.
 */
import { type FSWatcher, watch } from "node:fs";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { LauncherListener } from "./fork-server.ts";
import { isAlive } from "./identity.ts";

/** The name of the changed file, LAUNCHER_ENDED, or null if the system did not name the file. */
export type ChangedFileName = string | null;

export const LAUNCHER_ENDED = "(launcher ended)";

/** `fs.watch`, which throws if the machine has no inotify instances or watches left. */
export type WatchFiles = (
  dir: string,
  options: { readonly persistent: false },
  listener: (event: string, file: string | null) => void,
) => FSWatcher;

const ignore = (): void => undefined;

export class ChangeWatch implements LauncherListener {
  listener: (notice: ChangedFileName) => void = ignore;
  /** True from start to end of a launcher that this daemon started. */
  launcherRuns = false;
  /** The launcher's parent is gone, so only `look` can find its end. */
  private isOrphan = false;
  /** The launcher's exit code; null before its end, and if a signal ended it. */
  launcherCode: number | null = null;
  private watcher: FSWatcher | undefined;
  /** Resolves the promise of a caller that waits for the launcher's end. */
  private leave: () => void = ignore;

  constructor(dir: string, watchFiles: WatchFiles = watch) {
    try {
      this.watcher = watchFiles(dir, { persistent: false }, (_event, file) => this.listener(file));
      this.watcher.on("error", () => this.unwatch());
    } catch {
      // No watches left, or the directory is gone: the poller takes over.
    }
  }

  /** False: no file events arrive, so the run must be polled. */
  get isWatching(): boolean {
    return this.watcher !== undefined;
  }

  ended(code: number | null): void {
    this.launcherRuns = false;
    this.launcherCode = code;
    this.leave();
    this.listener(LAUNCHER_ENDED);
  }

  /** Resolves when the launcher has ended, or after `most_ms` milliseconds. */
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

  /** Checks whether an orphaned launcher has ended, because no parent reports it. */
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
