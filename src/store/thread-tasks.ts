/** The tasks of the log in a worker thread, and their answers. */
import type { Folded } from "./mend.ts";
import type { CheckReport } from "./port.ts";
import type { Collected, Collecting } from "./retention/collect.ts";
import type { Run } from "./retention/remove.ts";
import type { UsageQuery, UsageReport } from "./usage-report.ts";

export interface Tasks {
  check: { readonly asks: { readonly file: string }; readonly answers: CheckReport };
  /** Folds the log into a database of its own, and compares. */
  fold: {
    readonly asks: { readonly file: string; readonly into: string };
    readonly answers: Folded;
  };
  collect: { readonly asks: Collecting; readonly answers: Collected };
  runs: {
    readonly asks: { readonly path: string; readonly sha256: string };
    readonly answers: readonly Run[];
  };
  usage: {
    readonly asks: { readonly file: string; readonly query: UsageQuery };
    readonly answers: UsageReport;
  };
  /** Digests of artifacts that records name. */
  references: { readonly asks: { readonly file: string }; readonly answers: readonly string[] };
}

export type TaskName = keyof Tasks;
export type Task = { [N in TaskName]: { readonly name: N; readonly asks: Tasks[N]["asks"] } }[TaskName];

export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly suggestion: string };
