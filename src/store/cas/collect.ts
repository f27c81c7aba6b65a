/**
 * Removes artifacts that nothing holds: they are not pinned, no record of the log names them, and they are old enough.
 *
 * A put or a pin at the same time wins. A put of an existing artifact renews its mtime; a pin is a file. A candidate is
 * first moved to the trash, where its mtime and its pin are checked again: one that was put or pinned before the move is put
 * back, and a put after the move does not find it and writes it anew. After a crash it is in the trash, and the next
 * collection puts it back before it begins.
 */
import { randomBytes } from "node:crypto";
import { rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { CAS_FRESH_MS } from "../../base/limits.ts";
import { artifactError, isMissing } from "./failure.ts";
import { makeDirectory, putBack } from "./files.ts";
import { digestOf, layoutOf, namesIn, type ObjectFile, objectsIn, pinsIn } from "./layout.ts";

export interface CollectOptions {
  readonly directory: string;
  readonly older_than_ms: number;
  /** Only report what would be removed. */
  readonly dry_run: boolean;
  /** Digests that records name. Called once the candidates are known. */
  readonly referenced: () => Promise<ReadonlySet<string>>;
  readonly now?: () => number;
  /** Called between two steps, for tests. */
  readonly between?: (step: "chosen" | "moved", hex: string) => Promise<void>;
}

export interface CollectReport {
  /** Removed objects; with `dry_run`, those that would be. */
  readonly objects: number;
  readonly bytes: number;
  /** Objects that are old enough but kept. */
  readonly pinned: number;
  readonly referenced: number;
}

export const collectArtifacts = (options: CollectOptions): Promise<CollectReport> =>
  collect(options).catch((cause) => {
    throw artifactError(cause);
  });

const collect = async (options: CollectOptions): Promise<CollectReport> => {
  const { directory, dry_run, referenced, now = Date.now, between = nothing } = options;
  const at = layoutOf(directory);
  // Keep fresh ones: a record that names one may still be on its way.
  const newest = now() - Math.max(options.older_than_ms, CAS_FRESH_MS);
  const leftover = now() - CAS_FRESH_MS;
  const isOld = ({ mtime }: { readonly mtime: Date }): boolean => mtime.getTime() <= newest;

  if (!dry_run) {
    for (const name of await namesIn(at.trash)) {
      const path = join(at.trash, name);
      // Leave out candidates of another collection that is running.
      const moved = (await stat(path).catch(() => undefined))?.ctimeMs ?? Number.POSITIVE_INFINITY;
      if (moved <= leftover) await putBack(path, at.object(name.slice(0, HEX_CHARS)));
    }
    for (const name of await namesIn(at.temporary)) {
      const path = join(at.temporary, name);
      const written = (await stat(path).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
      if (written <= leftover) await rm(path, { force: true });
    }
  }

  const candidates: ObjectFile[] = [];
  for await (const file of objectsIn(at)) if (isOld(file)) candidates.push(file);
  const report = { objects: 0, bytes: 0, pinned: 0, referenced: 0 };
  if (candidates.length === 0) return report;
  const pins = await pinsIn(at);
  const named = await referenced();

  /** True if it is gone. */
  const remove = async (hex: string): Promise<boolean> => {
    await between("chosen", hex);
    const aside = join(at.trash, `${hex}-${randomBytes(4).toString("hex")}`);
    try {
      await rename(at.object(hex), aside);
    } catch (cause) {
      if (isMissing(cause)) return false; // another collection has it
      throw cause;
    }
    await between("moved", hex);
    const moved = await stat(aside).catch(() => undefined);
    if (moved === undefined) return false; // another process has put it back
    const isWanted = !isOld(moved) || (await pinsIn(at)).has(hex);
    if (isWanted) await putBack(aside, at.object(hex));
    else await rm(aside, { force: true });
    return !isWanted;
  };

  if (!dry_run) await makeDirectory(at.trash);
  for (const { hex, size } of candidates) {
    if (pins.has(hex)) report.pinned += 1;
    else if (named.has(digestOf(hex))) report.referenced += 1;
    else if (dry_run || (await remove(hex))) {
      report.objects += 1;
      report.bytes += size;
    }
  }
  return report;
};

const HEX_CHARS = 64;
const nothing = async (): Promise<void> => undefined;
