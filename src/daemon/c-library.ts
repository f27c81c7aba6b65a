/**
 * Functions of the C library that Node has no call for, by way of `koffi`. It may be missing, as a function may be: then this throws. It is
 * loaded at the first question.
 */
import { createRequire } from "node:module";

interface CLibrary {
  func(signature: string): (...args: unknown[]) => number;
}

interface Koffi {
  load(path: string | null): CLibrary;
}

let library: CLibrary | undefined;

/** `signature`: as C declares it. */
export const cFunction = (signature: string): ((...args: unknown[]) => number) => {
  // null is this program with all that it is linked to: the C library, whatever it is called here.
  library ??= (createRequire(import.meta.url)("koffi") as Koffi).load(null);
  return library.func(signature);
};
