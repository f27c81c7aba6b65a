/**
 * Gives memory back once the daemon has come to rest (docs/decisions/0041). V8 collects what was made while it worked only when as much has
 * come again, and keeps the pages; and the GNU C library keeps what is freed for the next who asks: V8 alone frees 20 MB when it has compiled
 * the daemon. Other C libraries give it back by themselves, or have no call for it.
 */
import { REST_COLLECT_HEAP_MAX_BYTES, REST_COLLECT_MIN_BYTES } from "../base/limits.ts";
import { cFunction } from "./c-library.ts";

interface TrimParts {
  readonly load: typeof cFunction;
  /** Undefined where Node was started without `--expose-gc`. */
  readonly collect: (() => void) | undefined;
  /** Bytes of V8's heap, with what it has kept free. */
  readonly heap: () => number;
}

const { gc } = globalThis;

const ofNode: TrimParts = {
  load: cFunction,
  collect: gc && (() => void gc({ type: "major", flavor: "last-resort", execution: "sync" })),
  heap: () => process.memoryUsage().heapTotal,
};

/** Never throws; leaves out what this machine has no call for. */
export const makeTrim = ({ load, collect, heap }: TrimParts = ofNode): (() => void) => {
  let trim: ((...args: unknown[]) => number) | undefined;
  let kept = 0;
  return () => {
    const now = heap();
    // A large heap would take too long: the loop stands still meanwhile.
    if (collect !== undefined && now <= REST_COLLECT_HEAP_MAX_BYTES && now - kept >= REST_COLLECT_MIN_BYTES) {
      collect();
      kept = heap();
    }
    try {
      trim ??= load("int malloc_trim(size_t)");
    } catch {
      trim = () => 0;
    }
    trim(0);
  };
};
