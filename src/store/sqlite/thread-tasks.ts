/** The tasks that the log runs in a worker thread, and their answers. */

import type { CheckReport } from "../upkeep.ts";
import type { UsageQuery, UsageReport } from "../usage-report.ts";
import type { FoldReport } from "./mend.ts";
import type { Collecting, CollectionResult } from "./retention/collect.ts";
import type { OutputRange } from "./retention/remove.ts";
import type { Indexing } from "./search/indexing.ts";

export interface Tasks {
  check: { readonly asks: { readonly file: string }; readonly answers: CheckReport };
  /** Folds the log into a separate database, and compares. */
  fold: {
    readonly asks: { readonly file: string; readonly into: string };
    readonly answers: FoldReport;
  };
  collect: { readonly asks: Collecting; readonly answers: CollectionResult };
  runs: {
    readonly asks: { readonly path: string; readonly sha256: string };
    readonly answers: readonly OutputRange[];
  };
  usage: {
    readonly asks: { readonly file: string; readonly query: UsageQuery };
    readonly answers: UsageReport;
  };
  /** Brings the index of words up to the log, and removes the words of records that retention has removed. */
  index: { readonly asks: Indexing; readonly answers: null };
  /** Digests of artifacts that records name. */
  references: { readonly asks: { readonly file: string }; readonly answers: readonly string[] };
}

export type TaskName = keyof Tasks;
export type Task = { [N in TaskName]: { readonly name: N; readonly asks: Tasks[N]["asks"] } }[TaskName];

export type TaskReply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly suggestion: string };
