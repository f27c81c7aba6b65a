/** The copy of the logs, as people read it: the records of one placed worker, and how far its node's log is copied. */
import {
  CLUSTER_ELSEWHERE_SEARCHED_OF_ONE_RECORDS,
  CLUSTER_ELSEWHERE_SEARCHED_RECORDS,
  CLUSTER_SEARCH_CHOSEN_MAX,
  CLUSTER_SEARCH_CHOSEN_MAX_CHARS,
  CLUSTER_SEARCH_RECORDS,
  READ_PAGE_RECORDS,
} from "../../base/limits.ts";
import type { ClusterNode } from "../rows.ts";
import type { OwnedRow } from "../tree.ts";
import {
  COPIED,
  COPIED_NEWEST,
  COPIED_RUNS,
  COPIED_UP_TO,
  COPY_OF,
  ELSEWHERE,
  FOUND,
} from "./copy-statements.ts";

/** A placed worker, and how far the copy of its node's log is. */
export interface CopyRow {
  readonly name: string;
  readonly worker_id: string | null;
  readonly node: string | null;
  readonly node_state: ClusterNode["state"] | null;
  readonly beat_age_ms: number | null;
  readonly through: number | null;
}

/** Placed workers as other nodes ask for them. */
export interface AskedElsewhere {
  readonly worker: string | undefined;
  /** The node that asks. */
  readonly self: string;
  readonly after: string;
  readonly all: boolean;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly kinds: readonly string[] | undefined;
  readonly tree: string | undefined;
  readonly limit: number;
}

export interface ElsewhereRow extends CopyRow, Pick<OwnedRow, "desired" | "over" | "why" | "tree"> {
  readonly spec: string;
  /** The record of its last state. */
  readonly last: string | null;
}

export interface CopiedRow {
  readonly place: number;
  readonly text: string;
}

/** A record that may have the words of a search. */
export interface FoundRow extends CopiedRow, Pick<CopyRow, "node" | "node_state"> {
  readonly worker_name: string | null;
}

/** `like`: a regular expression for each word. */
export interface AskedWords {
  readonly self: string;
  readonly workers: readonly string[];
  readonly like: readonly string[];
}

export interface Copies {
  /** By its name, or by its id in the log of its node. */
  of(worker: string): Promise<CopyRow | undefined>;
  /** A page of its records, in order: those after a place, or the newest `tail`. */
  page(worker: string, worker_id: string, from: PageOfCopy): Promise<readonly CopiedRow[]>;
  /** The place of the newest record of a run; undefined where none is in the copy. */
  upTo(worker: string, worker_id: string): Promise<number | undefined>;
  /** A page of the records of all runs but one, after a place. */
  runs(worker: string, worker_id: string | null, from: PageOfRuns): Promise<readonly CopiedRow[]>;
  /** Placed workers that do not run on the node that asks, by their names. */
  elsewhere(asked: AskedElsewhere): Promise<readonly ElsewhereRow[]>;
  /** Records from the logs of other nodes that may have all words, newest first. */
  found(asked: AskedWords): Promise<readonly FoundRow[]>;
}

interface PageOfRuns {
  readonly past: string | undefined;
  readonly after: number;
  /** Also of the workers that its agents spawned. */
  readonly subtree: boolean;
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
  upTo: async (worker, worker_id) => (await ask<CopiedRow>(COPIED_UP_TO, [worker, worker_id]))[0]?.place,
  runs: (worker, worker_id, { past, after, subtree }) =>
    ask<CopiedRow>(COPIED_RUNS, [worker, worker_id, past, after, READ_PAGE_RECORDS, subtree]),
  found: ({ self, workers, like }) =>
    ask<FoundRow>(FOUND, [
      ...[self, workers.length === 0 ? null : workers, CLUSTER_SEARCH_RECORDS, like],
      ...[CLUSTER_SEARCH_CHOSEN_MAX, CLUSTER_SEARCH_CHOSEN_MAX_CHARS],
    ]),
  elsewhere: ({ worker, self, after, all, labels, kinds, tree, limit }) =>
    ask<ElsewhereRow>(ELSEWHERE, [
      ...[worker, self, after, all, labels && JSON.stringify(labels), kinds, tree, limit],
      worker === undefined ? CLUSTER_ELSEWHERE_SEARCHED_RECORDS : CLUSTER_ELSEWHERE_SEARCHED_OF_ONE_RECORDS,
    ]),
});
