/**
 * The content-addressed store (protocol-v1.txt, Artifactization; decision 0026): each content is stored once, under its
 * SHA-256, and verified on each read. It consists of plain files, so that the daemon, the command and other programs of the
 * user can use it at once, and `agent cas` works without a daemon.
 *
 * A file that was just put is fresh by its mtime, and a collection removes no fresh file (`collect.ts`), so that the caller
 * has time to name it in a record or to pin it. The store holds no secrets: callers mask them before a put.
 */
import { createHash } from "node:crypto";
import { rename, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { formatSize } from "../../base/durations.ts";
import {
  CAS_COUNTED_AGAIN_MS,
  CAS_FRESH_MS,
  CAS_MAX_BYTES,
  CAS_OBJECT_MAX_BYTES,
  CAS_OBJECTS_MAX,
  DISK_FREE_MIN_BYTES,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { collectArtifacts } from "./collect.ts";
import { artifactError, damaged, isMissing, notFound } from "./failure.ts";
import { makeDirectory, putBack, readObject, removeFile, writeWhole } from "./files.ts";
import { type CasLayout, digestOf, hexOf, layoutOf, namesIn, objectsIn, pinsIn } from "./layout.ts";

export interface StoredArtifact {
  readonly digest: string;
  readonly size_bytes: number;
  /** `noop`: it existed already. */
  readonly effect: "created" | "noop";
}

export interface ArtifactRow {
  readonly digest: string;
  readonly size_bytes: number;
  /** The time of the newest put. */
  readonly put_at: string;
  readonly pinned: boolean;
}

export interface Artifacts {
  readonly directory: string;
  put(bytes: Uint8Array): Promise<StoredArtifact>;
  /** Fails with ARTIFACT_NOT_FOUND, or with ARTIFACT_DAMAGED if the bytes do not match the digest. */
  get(digest: string): Promise<Uint8Array>;
  /** A pinned artifact is never collected. */
  pin(digest: string): Promise<"created" | "noop">;
  unpin(digest: string): Promise<"deleted" | "noop">;
  /** Makes it count as put now, so that the caller has time to name it. Fails with ARTIFACT_NOT_FOUND. */
  freshen(digest: string): Promise<void>;
  list(): Promise<readonly ArtifactRow[]>;
}

export interface ArtifactOptions {
  /** `cas` in the state directory. Created at the first put. */
  readonly directory: string;
  /** Free bytes of its disk; undefined if unknown. */
  readonly freeBytes: () => number | undefined;
  /** A put that would leave fewer free bytes is refused. */
  readonly floor_bytes?: number | undefined;
  readonly now?: () => number;
  readonly bounds?: ArtifactBounds;
  /** Digests that records name. If given, a put that finds no room first collects unused artifacts. */
  readonly referenced?: (() => Promise<ReadonlySet<string>>) | undefined;
}

export interface ArtifactBounds {
  readonly objects: number;
  readonly bytes: number;
}

interface Sum {
  objects: number;
  bytes: number;
}

const BOUNDS: ArtifactBounds = { objects: CAS_OBJECTS_MAX, bytes: CAS_MAX_BYTES };

export const openArtifacts = (options: ArtifactOptions): Artifacts => new ArtifactStore(options);

const told =
  <A extends readonly unknown[], R>(run: (...args: A) => Promise<R>) =>
  (...args: A): Promise<R> =>
    run(...args).catch((cause) => {
      throw artifactError(cause);
    });

class ArtifactStore implements Artifacts {
  readonly directory: string;
  private readonly at: CasLayout;
  private readonly now: () => number;
  private readonly options: ArtifactOptions;
  /** The sum over all objects, computed once for concurrent callers. */
  private readonly count: Memo<Sum>;
  private readonly makeRoom: Memo<void>;

  constructor(options: ArtifactOptions) {
    const { directory, now = Date.now } = options;
    this.options = options;
    this.directory = directory;
    this.now = now;
    this.at = layoutOf(directory);
    this.count = remembered(() => this.summed(), now);
    this.makeRoom = remembered(() => this.collect(), now);
  }

  readonly put = told((bytes: Uint8Array) => this.putWhole(bytes));
  readonly get = told((digest: string) => this.read(digest));
  readonly pin = told((digest: string) => this.keep(digest));
  readonly unpin = told((digest: string) => this.letGo(digest));
  readonly freshen = told((digest: string) => this.makeFresh(digest));
  readonly list = told(() => this.rows());

  private async summed(): Promise<Sum> {
    const sum = { objects: 0, bytes: 0 };
    for await (const { size } of objectsIn(this.at)) {
      sum.objects += 1;
      sum.bytes += size;
    }
    return sum;
  }

  private async collect(): Promise<void> {
    const { directory, now } = this;
    const { referenced } = this.options;
    if (referenced === undefined) return;
    // If the collection fails, the objects stay and the put is refused.
    const how = { directory, older_than_ms: CAS_FRESH_MS, dry_run: false, referenced, now };
    await collectArtifacts(how).catch(() => undefined);
    this.count.forget();
  }

  /** Fails if there is no room for `size` bytes. Returns the current sum. */
  private async makeSureOfRoom(size: number): Promise<Sum> {
    const { freeBytes, floor_bytes = DISK_FREE_MIN_BYTES, bounds = BOUNDS } = this.options;
    const free = freeBytes();
    if (free !== undefined && free - size < floor_bytes)
      throw new HoldfastError(
        "DISK_FULL",
        `An artifact of ${formatSize(size)} would leave less than ${formatSize(floor_bytes)} free on the disk of the state directory.`,
      );
    const hasRoom = (sum: Sum): boolean => sum.objects < bounds.objects && sum.bytes + size <= bounds.bytes;
    let sum = await this.count.now();
    if (!hasRoom(sum)) {
      await this.makeRoom.now();
      sum = await this.count.now();
    }
    if (hasRoom(sum)) return sum;
    const { objects, bytes } = sum;
    throw new HoldfastError(
      "ARTIFACTS_FULL",
      `There is no room for another ${formatSize(size)}: there are ${objects} artifacts of ${formatSize(bytes)}, and at most ${bounds.objects} of ${formatSize(bounds.bytes)} are kept.`,
      { details: { objects, bytes, objects_max: bounds.objects, bytes_max: bounds.bytes } },
    );
  }

  /** Makes it count as put now. False if it does not exist: a collection may have just moved it. */
  private async touch(hex: string): Promise<boolean> {
    const time = new Date(this.now());
    try {
      await utimes(this.at.object(hex), time, time);
      return true;
    } catch (cause) {
      if (isMissing(cause)) return false;
      throw cause;
    }
  }

  /** True if exactly these bytes exist; they are fresh then. A damaged file is moved aside and kept. */
  private async has(hex: string, bytes: Uint8Array): Promise<boolean> {
    const { at } = this;
    const path = at.object(hex);
    const there = await readObject(path).catch((cause) => {
      if (isMissing(cause)) return null;
      throw cause;
    });
    if (there === null) return false;
    if (there?.equals(bytes) === true) return this.touch(hex);
    await makeDirectory(at.damaged);
    await rename(path, join(at.damaged, `${hex}.${this.now()}`));
    return false;
  }

  /** The path of an object. A collection may have it in the trash for a moment. */
  private async found(hex: string): Promise<string | undefined> {
    const { at } = this;
    const inTrash = async () => (await namesIn(at.trash)).find((name) => name.startsWith(hex));
    for (let look = 0; look < LOOKS; look += 1) {
      if ((await stat(at.object(hex)).catch(() => undefined)) !== undefined) return at.object(hex);
      const name = await inTrash();
      if (name !== undefined) return join(at.trash, name);
    }
    return undefined;
  }

  /** True if the object is in its place. If a collection has it in the trash, it is put back first. */
  private async isBack(hex: string): Promise<boolean> {
    const path = await this.found(hex);
    if (path === undefined || path === this.at.object(hex)) return path !== undefined;
    return putBack(path, this.at.object(hex));
  }

  private async read(digest: string): Promise<Uint8Array> {
    const hex = hexOf(digest);
    for (let look = 0; look < LOOKS; look += 1) {
      const path = await this.found(hex);
      if (path === undefined) break;
      try {
        const bytes = await readObject(path);
        if (bytes !== undefined && createHash("sha256").update(bytes).digest("hex") === hex) return bytes;
        throw damaged(digest, path);
      } catch (cause) {
        if (!isMissing(cause)) throw cause;
      }
    }
    throw notFound(digest);
  }

  private async putWhole(bytes: Uint8Array): Promise<StoredArtifact> {
    const size_bytes = bytes.byteLength;
    if (size_bytes > CAS_OBJECT_MAX_BYTES)
      throw new HoldfastError(
        "REQUEST_TOO_LARGE",
        `An artifact has at most ${formatSize(CAS_OBJECT_MAX_BYTES)}; this one would have ${size_bytes} bytes.`,
        { suggestion: "Put it in parts." },
      );
    const hex = createHash("sha256").update(bytes).digest("hex");
    const digest = digestOf(hex);
    if (await this.has(hex, bytes)) return { digest, size_bytes, effect: "noop" };
    const sum = await this.makeSureOfRoom(size_bytes);
    await writeWhole(this.at.object(hex), bytes, this.at.temporary, new Date(this.now()));
    sum.objects += 1;
    sum.bytes += size_bytes;
    return { digest, size_bytes, effect: "created" };
  }

  private async keep(digest: string): Promise<"created" | "noop"> {
    const { at } = this;
    const hex = hexOf(digest);
    if ((await pinsIn(at)).has(hex)) return "noop";
    if ((await this.found(hex)) === undefined) throw notFound(digest);
    // Pin first: a collection under way checks for the pin again before it removes anything.
    await writeWhole(at.pin(hex), new Uint8Array(), at.temporary, new Date(this.now()));
    if (await this.isBack(hex)) return "created";
    await removeFile(at.pin(hex));
    throw notFound(digest);
  }

  private async letGo(digest: string): Promise<"deleted" | "noop"> {
    const hex = hexOf(digest);
    if ((await pinsIn(this.at)).has(hex)) {
      await removeFile(this.at.pin(hex));
      return "deleted";
    }
    if ((await this.found(hex)) === undefined) throw notFound(digest);
    return "noop";
  }

  private async makeFresh(digest: string): Promise<void> {
    const hex = hexOf(digest);
    if (await this.touch(hex)) return;
    if (!(await this.isBack(hex)) || !(await this.touch(hex))) throw notFound(digest);
  }

  private async rows(): Promise<readonly ArtifactRow[]> {
    const pins = await pinsIn(this.at);
    const rows: ArtifactRow[] = [];
    for await (const { hex, size, mtime } of objectsIn(this.at)) {
      const put_at = mtime.toISOString();
      rows.push({ digest: digestOf(hex), size_bytes: size, put_at, pinned: pins.has(hex) });
    }
    return rows;
  }
}

interface Memo<R> {
  forget(): void;
  now(): Promise<R>;
}

/**
 * Remembers the result of a slow computation for CAS_COUNTED_AGAIN_MS. Concurrent callers share one computation. A failed
 * one is not remembered.
 */
const remembered = <R>(look: () => Promise<R>, now: () => number): Memo<R> => {
  let last: { readonly at_ms: number; readonly came: Promise<R> } | undefined;
  const forget = (): void => {
    last = undefined;
  };
  return {
    forget,
    now: (): Promise<R> => {
      if (last !== undefined && now() - last.at_ms < CAS_COUNTED_AGAIN_MS) return last.came;
      const came = look();
      came.catch(forget);
      last = { at_ms: now(), came };
      return came;
    },
  };
};

/**
 * A collection moves an artifact to the trash and back at most once: one look for each place, and one for a move in
 * between.
 */
const LOOKS = 3;
