/**
 * Where artifacts lie below `cas/` of the state directory: `objects/ab/cd/abcd…` holds the bytes, `pins/abcd…` says that they stay,
 * `tmp` has what is being written, `trash` what a collection looks at once more, `damaged` what was replaced by what it should have been.
 * Nothing else knows of an artifact: the files are the index, and any process of the user may use them beside any other.
 */
import { readdir } from "node:fs/promises";
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
export type Layout = ReturnType<typeof layoutOf>;

/** What lies in a directory; nothing where it is not there. */
export const namesIn = (directory: string): Promise<string[]> =>
  readdir(directory).catch((cause) => {
    if (isMissing(cause)) return [];
    throw cause;
  });

/** The hex of every object, in order. */
export async function* objectsIn({ objects }: Layout): AsyncGenerator<string> {
  for (const first of (await namesIn(objects)).sort())
    for (const second of (await namesIn(join(objects, first))).sort())
      for (const name of (await namesIn(join(objects, first, second))).sort()) if (HEX.test(name)) yield name;
}

export const pinsIn = async ({ pins }: Layout): Promise<ReadonlySet<string>> => new Set(await namesIn(pins));
