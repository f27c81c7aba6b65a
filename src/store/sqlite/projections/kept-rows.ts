/** Rows and specs of workers that the store keeps in memory, and those that it has searched in vain. */
import { SPECS_KEPT_MAX_CHARS, WORKER_ROWS_KEPT_MAX_CHARS } from "../../../base/limits.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { WorkerRow } from "../../views.ts";
import { type BoundedCache, makeKept } from "../kept.ts";

/** A rough size of a row in memory without its texts, in characters. */
export const ROW_CHARS = 1_000;

/** A row without its spec, which may be a megabyte, and the seq of the record that has it. */
export type RowWithoutSpec = Omit<WorkerRow, "spec"> & { readonly spec_seq: number };

/** Remembers rows and records that do not exist. `what` is the name of a table or the type of a record. */
export interface AbsentRows {
  has(id: string, what: string): boolean;
  note(id: string, what: string): void;
}

/** Cached rows and specs. The weight of each is its number of characters. */
export interface KeptRows {
  readonly rows: BoundedCache<string, RowWithoutSpec>;
  readonly specs: BoundedCache<number, WorkerSpec>;
  /** Rows and records that were searched in vain: most workers have no turn and have spawned no worker. */
  readonly absent: AbsentRows;
  /** Forgets a worker whose records change. */
  forget(id: string): void;
  /** Forgets everything, after all rows were rebuilt. */
  forgetAll(): void;
}

export const keepRows = (): KeptRows => {
  const rows = makeKept<string, RowWithoutSpec>(WORKER_ROWS_KEPT_MAX_CHARS);
  const absent = makeKept<string, Set<string>>(WORKER_ROWS_KEPT_MAX_CHARS);
  return {
    rows,
    specs: makeKept(SPECS_KEPT_MAX_CHARS),
    absent: {
      has: (id, what) => absent.get(id)?.has(what) === true,
      note: (id, what) => {
        const known = absent.get(id);
        if (known === undefined) absent.set(id, new Set([what]), ROW_CHARS);
        else known.add(what);
      },
    },
    forget: (id) => {
      rows.forget(id);
      absent.forget(id);
    },
    forgetAll: () => {
      rows.clear();
      absent.clear();
    },
  };
};
