/**
 * Returns memory to the system once the daemon has become idle (docs/decisions/0041). V8 collects the garbage
 * of a busy time only after as much has been allocated again, and keeps the pages. The GNU C library keeps
 * freed memory for later: V8 alone frees 20 MB after compiling the daemon. Other C libraries return it by
 * themselves, or have no call for it.
 */
import { REST_COLLECT_HEAP_MAX_BYTES, REST_COLLECT_LONG_MS, REST_COLLECT_MIN_BYTES } from "../base/limits.ts";
import { cFunction } from "./c-library.ts";

interface TrimParts {
  readonly load: typeof cFunction;
  /** Undefined if Node was started without `--expose-gc`. */
  readonly collect: (() => void) | undefined;
  /** Bytes of V8's heap, including free space that it keeps. */
  readonly heap: () => number;
  /** Milliseconds of processor time of this process. */
  readonly usedMs: () => number;
}

const { gc } = globalThis;

const ofNode: TrimParts = {
  load: cFunction,
  collect: gc && (() => void gc({ type: "major", flavor: "last-resort", execution: "sync" })),
  heap: () => process.memoryUsage().heapTotal,
  usedMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

/** Never throws; skips what this machine does not support. */
export const makeTrim = ({ load, collect, heap, usedMs }: TrimParts = ofNode): (() => void) => {
  let trim: ((...args: unknown[]) => number) | undefined;
  let kept = 0;
  /** Growth of the heap that the next collection is worth. */
  let worth = REST_COLLECT_MIN_BYTES;
  return () => {
    const now = heap();
    // The loop is blocked during a collection, for as long as its live objects take. Only the last one tells how many live.
    if (collect !== undefined && now <= REST_COLLECT_HEAP_MAX_BYTES && now - kept >= worth) {
      const began = usedMs();
      collect();
      kept = heap();
      worth =
        usedMs() - began > REST_COLLECT_LONG_MS
          ? Math.max(kept, REST_COLLECT_MIN_BYTES)
          : REST_COLLECT_MIN_BYTES;
    }
    try {
      trim ??= load("int malloc_trim(size_t)");
    } catch {
      trim = () => 0;
    }
    trim(0);
  };
};
