/**
 * The layout of `cas/` in the state directory: `objects/ab/cd/abcd…` holds the bytes, `pins/abcd…` pins them, `tmp` has files
 * being written, `trash` candidates of a collection, and `damaged` files that were replaced by correct ones. There is no other
 * index: the files are the index, and all processes of the user may use them at once.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "./failure.ts";

const PREFIX = "sha256:";
const HEX = /^[0-9a-f]{64}$/;

export const hexOf = (digest: string): string => digest.slice(PREFIX.length);
export const digestOf = (hex: string): string => PREFIX + hex;

export const layoutOf = (directory: string) => ({
  objects: join(directory, "objects"),
  pins: join(directory, "pins"),
  temporary: join(directory, "tmp"),
  trash: join(directory, "trash"),
  damaged: join(directory, "damaged"),
  object: (hex: string) => join(directory, "objects", hex.slice(0, 2), hex.slice(2, 4), hex),
  pin: (hex: string) => join(directory, "pins", hex),
});
export type CasLayout = ReturnType<typeof layoutOf>;

/** The names in a directory; empty if it does not exist. */
export const namesIn = (directory: string): Promise<string[]> =>
  readdir(directory).catch((cause) => {
    if (isMissing(cause)) return [];
    throw cause;
  });

export interface ObjectFile {
  readonly hex: string;
  readonly size: number;
  readonly mtime: Date;
}

/** Every object, in order. The objects of one first-level directory are read together. */
export async function* objectsIn({ objects, object }: CasLayout): AsyncGenerator<ObjectFile> {
  for (const first of (await namesIn(objects)).sort()) {
    const directories = (await namesIn(join(objects, first))).sort();
    const names = await Promise.all(directories.map((second) => namesIn(join(objects, first, second))));
    const found = names.flat().filter((name) => HEX.test(name));
    const files = await Promise.all(found.sort().map((hex) => fileAt(hex, object(hex))));
    for (const file of files) if (file !== undefined) yield file;
  }
}

/** Undefined if a collection has just moved it. */
const fileAt = (hex: string, path: string): Promise<ObjectFile | undefined> =>
  stat(path).then(
    ({ size, mtime }) => ({ hex, size, mtime }),
    () => undefined,
  );

export const pinsIn = async ({ pins }: CasLayout): Promise<ReadonlySet<string>> =>
  new Set(await namesIn(pins));
