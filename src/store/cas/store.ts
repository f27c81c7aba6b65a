/**
 * The content-addressed store (protocol-v1.txt, Artifactization; decision 0026): bytes at the name of their SHA-256, once,
 * verified on each read. It is plain files, so the daemon, the command and any other program of the user use it beside each
 * other, and `agent cas` works where no daemon runs.
 *
 * A file that is put is fresh by its mtime, and a collection removes nothing fresh (`collect.ts`): who has put something has time to
 * name it in a record, or to pin it. It holds no secrets: whoever puts something has masked them.
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
import { digestOf, hexOf, layoutOf, namesIn, objectsIn, pinsIn } from "./layout.ts";

export interface Stored {
  readonly digest: string;
  readonly size_bytes: number;
  /** `noop` where it was there already. */
  readonly effect: "created" | "noop";
}

export interface ArtifactRow {
  readonly digest: string;
  readonly size_bytes: number;
  /** The newest time. */
  readonly put_at: string;
  readonly pinned: boolean;
}

export interface Artifacts {
  readonly directory: string;
  put(bytes: Uint8Array): Promise<Stored>;
  /** Fails with ARTIFACT_NOT_FOUND, or ARTIFACT_DAMAGED where the bytes are not those of the digest. */
  get(digest: string): Promise<Uint8Array>;
  /** A pinned artifact is never collected. */
  pin(digest: string): Promise<"created" | "noop">;
  unpin(digest: string): Promise<"deleted" | "noop">;
  list(): Promise<readonly ArtifactRow[]>;
}

export interface ArtifactOptions {
  /** `cas` in the state directory; made at the first put. */
  readonly directory: string;
  /** Free bytes of the disk that it is on; undefined where nobody can say. */
  readonly freeBytes: () => number | undefined;
  /** Nothing is put that would leave less. */
  readonly floor_bytes?: number | undefined;
  readonly now?: () => number;
  readonly bounds?: ArtifactBounds;
  /** Digests that records name. If it is given, a put that finds no room collects what nobody holds, and looks again. */
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

export const openArtifacts = (options: ArtifactOptions): Artifacts => {
  const {
    directory,
    freeBytes,
    floor_bytes = DISK_FREE_MIN_BYTES,
    now = Date.now,
    bounds = BOUNDS,
    referenced,
  } = options;
  const at = layoutOf(directory);
  const summed = async (): Promise<Sum> => {
    const sum = { objects: 0, bytes: 0 };
    for await (const { size } of objectsIn(at)) {
      sum.objects += 1;
      sum.bytes += size;
    }
    return sum;
  };
  /** One look at all of them, whoever asks meanwhile. */
  const count = remembered(summed, now);

  const collect = async (): Promise<void> => {
    if (referenced === undefined) return;
    // An object that cannot be collected stays, and the put is refused.
    const how = { directory, older_than_ms: CAS_FRESH_MS, dry_run: false, referenced, now };
    await collectArtifacts(how).catch(() => undefined);
    count.forget();
  };
  const makeRoom = remembered(collect, now);

  const hasRoom = ({ objects, bytes }: ArtifactBounds, size: number): boolean =>
    objects < bounds.objects && bytes + size <= bounds.bytes;

  /** Answers what there is, for who adds to it. */
  const makeSureOfRoom = async (size: number): Promise<Sum> => {
    const free = freeBytes();
    if (free !== undefined && free - size < floor_bytes)
      throw new HoldfastError(
        "DISK_FULL",
        `An artifact of ${formatSize(size)} would leave less than ${formatSize(floor_bytes)} free on the disk of the state directory.`,
      );
    let sum = await count.now();
    if (!hasRoom(sum, size)) {
      await makeRoom.now();
      sum = await count.now();
    }
    if (hasRoom(sum, size)) return sum;
    const { objects, bytes } = sum;
    throw new HoldfastError(
      "ARTIFACTS_FULL",
      `There is no room for another ${formatSize(size)}: there are ${objects} artifacts of ${formatSize(bytes)}, and at most ${bounds.objects} of ${formatSize(bounds.bytes)} are kept.`,
      { details: { objects, bytes, objects_max: bounds.objects, bytes_max: bounds.bytes } },
    );
  };

  /** It counts as put now. False where it is not there (any more): a collection may have taken it away just now. */
  const touch = async (hex: string): Promise<boolean> => {
    const time = new Date(now());
    try {
      await utimes(at.object(hex), time, time);
      return true;
    } catch (cause) {
      if (isMissing(cause)) return false;
      throw cause;
    }
  };

  /** True where these very bytes are there, and fresh now. A damaged file makes room for them, and is kept. */
  const has = async (hex: string, bytes: Uint8Array): Promise<boolean> => {
    const path = at.object(hex);
    const there = await readObject(path).catch((cause) => {
      if (isMissing(cause)) return null;
      throw cause;
    });
    if (there === null) return false;
    if (there?.equals(bytes) === true) return touch(hex);
    await makeDirectory(at.damaged);
    await rename(path, join(at.damaged, `${hex}.${now()}`));
    return false;
  };

  /** For a moment a collection may have it in the trash, and put it back. */
  const found = async (hex: string): Promise<string | undefined> => {
    const inTrash = async () => (await namesIn(at.trash)).find((name) => name.startsWith(hex));
    for (let look = 0; look < LOOKS; look += 1) {
      if ((await stat(at.object(hex)).catch(() => undefined)) !== undefined) return at.object(hex);
      const name = await inTrash();
      if (name !== undefined) return join(at.trash, name);
    }
    return undefined;
  };

  /** True when it is in its place: one that a collection has in the trash is put back, whatever becomes of the collection. */
  const isBack = async (hex: string): Promise<boolean> => {
    const path = await found(hex);
    if (path === undefined || path === at.object(hex)) return path !== undefined;
    return putBack(path, at.object(hex));
  };

  const read = async (digest: string): Promise<Uint8Array> => {
    const hex = hexOf(digest);
    for (let look = 0; look < LOOKS; look += 1) {
      const path = await found(hex);
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
  };

  const put = async (bytes: Uint8Array): Promise<Stored> => {
    const size_bytes = bytes.byteLength;
    if (size_bytes > CAS_OBJECT_MAX_BYTES)
      throw new HoldfastError(
        "REQUEST_TOO_LARGE",
        `An artifact has at most ${formatSize(CAS_OBJECT_MAX_BYTES)}; this one would have ${size_bytes} bytes.`,
        { suggestion: "Put it in parts." },
      );
    const hex = createHash("sha256").update(bytes).digest("hex");
    const digest = digestOf(hex);
    if (await has(hex, bytes)) return { digest, size_bytes, effect: "noop" };
    const sum = await makeSureOfRoom(size_bytes);
    await writeWhole(at.object(hex), bytes, at.temporary, new Date(now()));
    sum.objects += 1;
    sum.bytes += size_bytes;
    return { digest, size_bytes, effect: "created" };
  };

  const pin = async (digest: string): Promise<"created" | "noop"> => {
    const hex = hexOf(digest);
    if ((await pinsIn(at)).has(hex)) return "noop";
    if ((await found(hex)) === undefined) throw notFound(digest);
    // The pin comes first: a collection that has begun looks for it once more before it removes anything.
    await writeWhole(at.pin(hex), new Uint8Array(), at.temporary, new Date(now()));
    if (await isBack(hex)) return "created";
    await removeFile(at.pin(hex));
    throw notFound(digest);
  };

  const unpin = async (digest: string): Promise<"deleted" | "noop"> => {
    const hex = hexOf(digest);
    if ((await pinsIn(at)).has(hex)) {
      await removeFile(at.pin(hex));
      return "deleted";
    }
    if ((await found(hex)) === undefined) throw notFound(digest);
    return "noop";
  };

  const list = async (): Promise<readonly ArtifactRow[]> => {
    const pins = await pinsIn(at);
    const rows: ArtifactRow[] = [];
    for await (const { hex, size, mtime } of objectsIn(at)) {
      const put_at = mtime.toISOString();
      rows.push({ digest: digestOf(hex), size_bytes: size, put_at, pinned: pins.has(hex) });
    }
    return rows;
  };

  const told =
    <A extends readonly unknown[], R>(run: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      run(...args).catch((cause) => {
        throw artifactError(cause);
      });

  return {
    directory,
    put: told(put),
    get: told(read),
    pin: told(pin),
    unpin: told(unpin),
    list: told(list),
  };
};

/** The result of a slow look, for CAS_COUNTED_AGAIN_MS; a caller that asks while it is made waits for the same one. A look that fails is tried again. */
const remembered = <R>(look: () => Promise<R>, now: () => number) => {
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

/** A collection moves an artifact to the trash and back at most once; one look each, and one for what was read in between. */
const LOOKS = 3;
