/** A node of a cluster as it knows itself, with all that happens to it and all that it does. Pure. */
import type { PersistentMap } from "../base/persistent-map.ts";
import type { LeaseInput, NodeLease } from "./lease.ts";
import type { ClusterView, PartitionPolicy } from "./rows.ts";
import type { Sightings } from "./sightings.ts";

/** A worker that is placed here and has begun, or is about to. */
export interface MemberRun {
  readonly worker: string;
  readonly term: number;
  readonly on_partition: PartitionPolicy;
  /** Those of its placement, before its own. */
  readonly starts: number;
  /**
   * `sweeping`: the machine is searched for what earlier runs of it left. `beginning`: the store is asked whether the term still
   * holds. `running`: it was told to start, and has not ended. `stopping`: it was told to end.
   */
  readonly phase: "sweeping" | "beginning" | "running" | "stopping";
}

/** By worker. A node that takes over thousands changes each four times, and is to renew its lease meanwhile. */
export type MemberRuns = PersistentMap<string, MemberRun>;

export interface ClusterMember {
  readonly id: string;
  readonly lease: NodeLease;
  /** The last renewal or join. */
  readonly renewal: { readonly sent_ms: number; readonly state: "sent" | "granted" | "failed" } | null;
  readonly look: { readonly asked_ms: number; readonly isOpen: boolean } | null;
  readonly sightings: Sightings;
  readonly isDraining: boolean;
  /** Its daemon is being stopped, so it takes nothing and begins nothing. */
  readonly isStopping: boolean;
  readonly runs: MemberRuns;
}

/** Times are milliseconds of the node's clock, which goes on in a suspend. */
export type MemberInput =
  | Exclude<LeaseInput, { type: "refused" } | { type: "swept" }>
  | { readonly type: "refused"; readonly sent_ms: number; readonly term: number }
  | { readonly type: "renewal_failed"; readonly sent_ms: number }
  | { readonly type: "looked"; readonly asked_ms: number; readonly view: ClusterView }
  | { readonly type: "look_failed"; readonly asked_ms: number }
  /** A row has changed by a command of this node. */
  | { readonly type: "changed" }
  /** All runs that stop without a lease have ended, and a search of the machine found nothing more. */
  | { readonly type: "stopped_all" }
  | { readonly type: "swept"; readonly worker: string; readonly term: number }
  /** The answer to `begin`: whether the term still held. */
  | { readonly type: "begun"; readonly worker: string; readonly term: number; readonly isTrue: boolean }
  | { readonly type: "ended"; readonly worker: string; readonly term: number };

export type MemberCommand =
  | { readonly type: "join"; readonly sent_ms: number }
  | { readonly type: "renew"; readonly sent_ms: number; readonly term: number }
  | { readonly type: "look"; readonly asked_ms: number }
  /** The lease of that node is over, if its beat is still this one. */
  | { readonly type: "bury"; readonly node: string; readonly term: number; readonly beat: number }
  /** Places the worker here, if nobody has raised its term since. */
  | { readonly type: "claim"; readonly worker: string; readonly term: number }
  /** Keeps a worker that went on without a lease, in the node's new term. */
  | { readonly type: "adopt"; readonly worker: string; readonly term: number }
  /** The worker may be placed elsewhere: nothing of it is left here. */
  | { readonly type: "release"; readonly worker: string; readonly term: number; readonly starts: number }
  | { readonly type: "sweep"; readonly worker: string; readonly term: number }
  | { readonly type: "begin"; readonly worker: string; readonly term: number }
  | { readonly type: "launch"; readonly worker: string; readonly term: number }
  | { readonly type: "stop"; readonly worker: string; readonly term: number }
  /** Ends all runs that stop without a lease, and searches the machine for what they left. */
  | { readonly type: "stop_all" };

export interface MemberDecision {
  readonly member: ClusterMember;
  readonly commands: readonly MemberCommand[];
}
