/**
 * Calls functions of the C library that Node does not offer, by `koffi`. Throws if koffi or the function is
 * missing. koffi is loaded at the first call.
 */
import { createRequire } from "node:module";

interface CLibrary {
  func(signature: string): (...args: unknown[]) => number;
}

interface Koffi {
  load(path: string | null): CLibrary;
}

let library: CLibrary | undefined;

/** `signature`: the declaration in C. */
export const cFunction = (signature: string): ((...args: unknown[]) => number) => {
  // null is this program with its linked libraries, which include the C library under any name.
  library ??= (createRequire(import.meta.url)("koffi") as Koffi).load(null);
  return library.func(signature);
};
