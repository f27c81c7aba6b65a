/** The answers of clusters. */
import * as z from "zod";
import { CLUSTER_STRANDED_SHOWN_MAX } from "../../base/limits.ts";
import type { LogRecord } from "../records.ts";
import { WorkerState } from "../worker.ts";
import { effect, type Reply, time } from "./reply.ts";
import { SearchHit } from "./search.ts";

export const ClusterMade = z.object({
  version: z.int().describe("version of the tables"),
  keep_days: z.int().describe("days of the copy that are kept; 0: all of them"),
  dropped_days: z.int().describe("days of the copy that were older, and are gone now"),
  effect,
});
export type ClusterMade = Reply<typeof ClusterMade>;

export const ClusterChange = z.object({
  name: z.string().describe("name of this node"),
  labels: z.record(z.string(), z.string()),
  capacity: z.int(),
  effect,
});
export type ClusterChange = Reply<typeof ClusterChange>;

/** Why no node runs a worker that shall run. */
export const WaitsForNode = z.enum(["continues", "pinned", "nowhere", "full", "soon"]);
export type WaitsForNode = Reply<typeof WaitsForNode>;

export const WaitingWorker = z.object({
  name: z.string(),
  why: WaitsForNode,
});
export type WaitingWorker = Reply<typeof WaitingWorker>;

export const NodeChange = z.object({
  name: z.string().describe("name of the node"),
  effect,
});
export type NodeChange = Reply<typeof NodeChange>;

/** The way of a worker that no other node takes when its own is drained. */
const StrandedWorker = z.object({
  name: z.string(),
  why: z
    .enum(["nowhere", "full", "once", "pinned"])
    .describe(
      "nowhere: no other node has its labels, so it ends and a question asks where it should run; full: it ends and waits for room; once: it ends and is not started again; pinned: it goes on there",
    ),
});

export const NodeDrained = NodeChange.extend({
  moves: z.int().describe("its workers that other nodes take"),
  stranded: z.int().describe("its workers that no other node takes"),
  workers: z.array(StrandedWorker).describe(`the first ${CLUSTER_STRANDED_SHOWN_MAX} of these`),
});
export type NodeDrained = Reply<typeof NodeDrained>;

/** The source of records that are not from the log of a daemon: how far it goes, and how old it may be. */
export const CopySource = z.object({
  source: z.literal("copy"),
  name: z.string(),
  id: z.string().nullable().describe("in the log of its node; null before its first start"),
  node: z.string().nullable().describe("its node; null while it has none"),
  node_state: z.enum(["active", "draining", "dead", "left"]).nullable(),
  beat_age_ms: z.int().nullable().describe("since its node renewed its lease, by the clock of the database"),
  through: z.int().nullable().describe("the newest record of that node's log in the copy"),
});
export type CopySource = Reply<typeof CopySource>;

export interface CopiedPage extends CopySource {
  readonly records: readonly LogRecord[];
  /** The `after` of the next page; null on the last one. */
  readonly next: number | null;
  /** Up to here all records have been read: the `after` of a later look. */
  readonly place: number;
}

/** A record of the copy that has all words. `seq` is that of its node's log. */
export const ElsewhereHit = SearchHit.extend({
  node: CopySource.shape.node.describe("whose log it is from; null: no node has that log any more"),
  node_state: CopySource.shape.node_state,
});
export type ElsewhereHit = Reply<typeof ElsewhereHit>;

export const ElsewhereHits = z.object({
  hits: z.array(ElsewhereHit),
  more: z.boolean().describe("not all records that may have the words are here"),
});
export type ElsewhereHits = Reply<typeof ElsewhereHits>;

/** A placed worker that does not run on the node that is asked: what is known of it, and as of when. */
export const ElsewhereWorker = CopySource.extend({
  kind: z.string(),
  task: z.string().describe("the command line, or the beginning of the prompt"),
  labels: z.record(z.string(), z.string()),
  cwd: z.string(),
  restart: z.string(),
  tree: z.string().nullable().describe("the tree of its file; null: it is of no file"),
  desired: z.enum(["running", "ended", "killed"]).describe("as its placement says"),
  over: z
    .enum(["completed", "killed"])
    .nullable()
    .describe("how it ended for good; null for a failed one too"),
  why: z.string().nullable().describe("why its node could not start it"),
  last: z
    .object({
      state: WorkerState,
      reason: z.string(),
      incarnation: z.int(),
      at: time.describe("by the clock of its node"),
      seq: z.int().describe("in the log of its node"),
    })
    .nullable()
    .describe("its newest state in the copy, which it may have left since; null: none was found there"),
});
export type ElsewhereWorker = Reply<typeof ElsewhereWorker>;

export const ElsewherePage = z.object({
  workers: z.array(ElsewhereWorker),
  next: z.string().nullable().describe("the `after` of the next page; null on the last one"),
});
export type ElsewherePage = Reply<typeof ElsewherePage>;

const NodeView = z.object({
  name: z.string(),
  state: z.enum(["active", "draining", "dead", "left"]),
  labels: z.record(z.string(), z.string()),
  capacity: z.int(),
  endpoint: z.string().nullable().describe("how others reach it, as --host takes it"),
  placed: z.int().describe("workers that are placed there"),
  beat_age_ms: z.int().describe("since it renewed its lease, by the clock of the database"),
  copied_to: z.int().nullable().describe("the newest record of its log in the copy; null before the first"),
});
export type ClusterNodeView = Reply<typeof NodeView>;

export const ClusterStatus = z.object({
  self: z
    .object({
      name: z.string(),
      holds_lease: z.boolean(),
      failing: z.string().nullable().describe("why it cannot renew its lease now"),
      copy: z.object({
        copied_to: z.int().nullable().describe("the newest record in the copy; null while it is not known"),
        head: z.int().describe("the newest record of the log"),
        behind: z.int().nullable().describe("records that are not in the copy yet"),
        failing: z.string().nullable().describe("why nothing is copied now"),
        drop_failing: z.string().nullable().describe("why it drops no old days of the copy now"),
      }),
    })
    .nullable()
    .describe("null: this daemon is in no cluster"),
  nodes: z.array(NodeView).nullable().describe("null while the database does not answer"),
  unplaced: z.int().nullable().describe("workers that shall run, and that no living node holds"),
  waiting: z
    .array(WaitingWorker)
    .nullable()
    .describe(
      "the first of them; continues: its node is away and may run it still, nowhere: no node has its labels",
    ),
  failed: z
    .array(
      z.object({
        name: z.string(),
        node: z.string(),
        why: z.string(),
        ended_ms_ago: z.int().describe("by the clock of the database"),
      }),
    )
    .nullable()
    .describe("the newest workers of the last day that a node could not start, or could not start again"),
  keep_days: z
    .int()
    .nullable()
    .describe("days of the copy that are kept; 0: all of them; null while the database does not answer"),
});
export type ClusterStatus = Reply<typeof ClusterStatus>;
