/** A hub's registry for tests: decisions, folded as the store folds them. */

import { decideAdd, decideMeet } from "../../../src/control/federation/registry.ts";
import { type AskedTask, decideAdmit, decideSettle } from "../../../src/control/federation/tasks.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { type FederatedPeer, foldPeer, isOfPeer } from "../../../src/protocol/peer.ts";
import { type PeerTaskAdmitted, type PeerTerms, peerNameOf } from "../../../src/protocol/peer-records.ts";
import type { LogRecord, RecordDraft } from "../../../src/protocol/records.ts";

const NOW = Date.parse("2026-03-01T00:00:00Z");
export const HOUR = 3_600_000;

export const TERMS: PeerTerms = {
  shared_capabilities: ["seo:analyze"],
  data_boundary: { allow_fields: [], deny_fields: [], max_payload_size: 65_536, retention: "none" },
  rate_limit: 100,
};

export const keyOf = (hub: string): string => Buffer.from(hub).toString("hex").padEnd(64, "0");

export class Registry {
  readonly peers = new Map<string, FederatedPeer>();
  readonly admissions = new Map<string, PeerTaskAdmitted>();
  wall_ms = NOW;

  deciding = () => ({ by: "user", wall_ms: this.wall_ms });

  take(drafts: readonly RecordDraft[] | HoldfastError): readonly RecordDraft[] {
    if (drafts instanceof HoldfastError) throw drafts;
    for (const draft of drafts as readonly LogRecord[]) {
      if (!isOfPeer(draft)) continue;
      const hub = peerNameOf(draft.stream) as string;
      const peer = foldPeer(this.peers.get(hub), draft);
      if (peer === undefined) this.peers.delete(hub);
      else this.peers.set(hub, peer);
      if (draft.type === "peer_task_admitted") this.admissions.set(draft.id, draft.payload);
    }
    return drafts;
  }

  add(hub_id: string, terms: Partial<PeerTerms> = {}): this {
    const asked = { hub_id, url: `http://${hub_id}`, public_key: null, ...TERMS, ...terms };
    this.take(decideAdd([...this.peers.values()], asked, this.deciding()));
    return this;
  }

  meet(hub_id: string, capabilities: readonly string[] = ["seo:analyze"], key = keyOf(hub_id)): this {
    const timestamp = Math.floor(this.wall_ms / 1_000);
    const declared = {
      public_key: key,
      algorithm: "Ed25519" as const,
      url: `http://${hub_id}`,
      capabilities,
      timestamp,
      session: `s${timestamp}`,
    };
    this.take(decideMeet(this.peers.get(hub_id), hub_id, declared, this.deciding()));
    return this;
  }

  /** The error if it is refused. */
  ask(hub_id: string, task_id: string, rest: Partial<AskedTask> = {}): HoldfastError | undefined {
    const peer = this.peers.get(hub_id);
    if (peer === undefined) return new HoldfastError("PEER_NOT_FOUND", "");
    const asked: AskedTask = {
      task_id,
      direction: "in",
      capability: "seo:analyze",
      fields: [],
      stripped: [],
      digest: "d",
      bytes: 1,
      ...rest,
    };
    const { refused, drafts } = decideAdmit(peer, asked, this.admissions.get(`${task_id}`), this.deciding());
    this.take(drafts);
    for (const draft of drafts)
      if (draft.type === "peer_task_admitted") this.admissions.set(task_id, draft.payload);
    return refused;
  }

  end(hub_id: string, task_id: string, rest: Partial<Parameters<typeof decideSettle>[1]> = {}) {
    const ended = {
      task_id,
      direction: "in" as const,
      status: "success" as const,
      fields: [],
      stripped: [],
      digest: "r",
      bytes: 1,
      ...rest,
    };
    return this.take(decideSettle(this.peers.get(hub_id) as FederatedPeer, ended, this.deciding()));
  }
}
