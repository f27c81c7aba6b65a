/**
 * Files of a Weblisk server below `weblisk/` of the state directory, for their owner alone. Each is written whole. The end
 * of a task is in the daemon's log; a signed result is kept here, since a signature is made once.
 */
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readRegular, statRegular } from "../../base/files/regular-file.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { WEBLISK_FILE_MAX_BYTES } from "../../base/limits.ts";

type Folder = "agents" | "answers" | "channels" | "federation" | "grants" | "results";

/** The names in it are ids of the wire and names of agents, whose forms hold no dot and no slash. */
const NAME = /^([a-z0-9-]{1,64})\.json$/;

export class ServerFiles {
  private readonly directory: string;

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
    replaceFile(this.pathOf(folder, name), `${JSON.stringify(value)}\n`);
  }

  /** Writes it if it is not there, whole from its first moment. The value that is there then. */
  writeOnce<T extends object>(folder: Folder, name: string, value: T, draft: string): T {
    this.make(folder);
    const path = this.pathOf(folder, name);
    const next = `${path}.${draft}`;
    writeFileSync(next, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: "wx", flush: true });
    try {
      linkSync(next, path);
      return value;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
      return this.read<T>(folder, name) ?? value;
    } finally {
      rmSync(next, { force: true });
    }
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
