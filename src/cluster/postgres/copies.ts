/** The copy of the logs, as people read it: the records of one placed worker, and how far its node's log is copied. */
import { READ_PAGE_RECORDS } from "../../base/limits.ts";
import type { ClusterNode } from "../rows.ts";
import { COPIED, COPIED_NEWEST, COPY_OF } from "./statements.ts";

/** A placed worker, and how far the copy of its node's log is. */
export interface CopyRow {
  readonly name: string;
  readonly worker_id: string | null;
  readonly node: string | null;
  readonly node_state: ClusterNode["state"] | null;
  readonly beat_age_ms: number | null;
  readonly through: number | null;
}

export interface CopiedRow {
  readonly place: number;
  readonly text: string;
}

export interface Copies {
  /** By its name, or by its id in the log of its node. */
  of(worker: string): Promise<CopyRow | undefined>;
  /** A page of its records, in order: those after a place, or the newest `tail`. */
  page(worker: string, worker_id: string, from: PageOfCopy): Promise<readonly CopiedRow[]>;
}

interface PageOfCopy {
  readonly after: number;
  readonly tail: number | undefined;
}

type Ask = <Row extends object>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

export const copiesBy = (ask: Ask): Copies => ({
  of: async (worker) => (await ask<CopyRow>(COPY_OF, [worker]))[0],
  page: (worker, worker_id, { after, tail }) =>
    tail === undefined
      ? ask<CopiedRow>(COPIED, [worker, worker_id, after, READ_PAGE_RECORDS])
      : ask<CopiedRow>(COPIED_NEWEST, [worker, worker_id, tail]),
});
