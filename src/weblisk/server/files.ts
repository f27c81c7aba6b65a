/**
 * Files of a Weblisk server below `weblisk/` of the state directory, for their owner alone. Each is written whole. The end
 * of a task is in the daemon's log; a signed result is kept here, since a signature is made once.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { crashPoint } from "../../base/crash-point.ts";
import { readRegular, statRegular } from "../../base/files/regular-file.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { syncPath } from "../../base/files/sync-path.ts";
import { writeOnce } from "../../base/files/write-once.ts";
import { WEBLISK_FILE_MAX_BYTES } from "../../base/limits.ts";

type Folder =
  | "agents"
  | "channels"
  | "federation"
  | "forwards"
  | "grants"
  | "nonces"
  | "orchestrators"
  | "requests"
  | "results"
  | "turns";

/** Agreements with somebody else outlast a machine that loses its power. */
const AGREED: ReadonlySet<Folder> = new Set(["agents", "federation", "grants", "orchestrators"]);

export interface TidyRule {
  readonly keep_ms: number;
  readonly every_ms: number;
}

/** The names in it are ids of the wire and names of agents, whose forms hold no dot and no slash. */
const NAME = /^([a-z0-9-]{1,64})\.json$/;

export class ServerFiles {
  private readonly directory: string;
  /** When each folder is looked through again, in epoch milliseconds. */
  private readonly nextTidy = new Map<Folder, number>();

  constructor(stateDir: string) {
    this.directory = join(stateDir, "weblisk");
  }

  names(folder: Folder): readonly string[] {
    return this.filesOf(folder).flatMap((file) => NAME.exec(file)?.[1] ?? []);
  }

  /** Undefined if it is missing, or is no JSON. */
  read<T>(folder: Folder, name: string): T | undefined {
    const bytes = readRegular(this.pathOf(folder, name), WEBLISK_FILE_MAX_BYTES);
    if (bytes === undefined) return undefined;
    try {
      return JSON.parse(bytes.toString("utf8")) as T;
    } catch {
      return undefined;
    }
  }

  write(folder: Folder, name: string, value: object): void {
    this.make(folder);
    const path = this.pathOf(folder, name);
    replaceFile(path, `${JSON.stringify(value)}\n`);
    if (AGREED.has(folder)) {
      syncPath(path);
      syncPath(dirname(path));
    }
    crashPoint("weblisk-step");
  }

  /** Writes it if it is not there, whole from its first moment. The value that is there then. */
  writeOnce<T extends object>(folder: Folder, name: string, value: T, draft: string): T {
    this.make(folder);
    const path = this.pathOf(folder, name);
    if (writeOnce(path, `${JSON.stringify(value)}\n`, draft)) return value;
    return this.read<T>(folder, name) ?? value;
  }

  /** Makes an empty file of this time, in epoch milliseconds. False if it is there, whoever has made it. */
  mark(folder: Folder, name: string, now: number): boolean {
    this.make(folder);
    const path = this.pathOf(folder, name);
    try {
      writeFileSync(path, "", { mode: 0o600, flag: "wx" });
      utimesSync(path, now / 1_000, now / 1_000);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
      return false;
    }
    syncPath(dirname(path));
    crashPoint("weblisk-step");
    return true;
  }

  remove(folder: Folder, name: string): void {
    rmSync(this.pathOf(folder, name), { force: true });
  }

  /** Removes files that were last written before this time, in epoch milliseconds. */
  removeOlder(folder: Folder, before: number): void {
    for (const file of this.filesOf(folder)) {
      const path = join(this.directory, folder, file);
      if ((statRegular(path)?.mtimeMs ?? before) < before) rmSync(path, { force: true });
    }
  }

  /** Removes files that were last written over `keep_ms` ago; looks at most once in `every_ms`. Whether it has looked. */
  tidy(folder: Folder, now: number, { keep_ms, every_ms }: TidyRule): boolean {
    if (now < (this.nextTidy.get(folder) ?? 0)) return false;
    this.nextTidy.set(folder, now + every_ms);
    this.removeOlder(folder, now - keep_ms);
    return true;
  }

  private filesOf(folder: Folder): readonly string[] {
    const directory = join(this.directory, folder);
    return existsSync(directory) ? readdirSync(directory) : [];
  }

  private make(folder: Folder): void {
    mkdirSync(join(this.directory, folder), { recursive: true, mode: 0o700 });
  }

  private pathOf(folder: Folder, name: string): string {
    return join(this.directory, folder, `${name}.json`);
  }
}
