/** Types alone: the part of the daemon in federation, and the hub for which a gateway speaks. */

import type { SealedVault } from "../../base/files/sealed-vault.ts";
import type { AuditPage, PeerView } from "../../protocol/replies/peers.ts";
import type { RequestData } from "../../protocol/requests.ts";
import type { IdentityKey } from "../identity/algorithms.ts";
import type { ServerFiles } from "../server/files.ts";

/** Decisions about peers, which the daemon makes and records. Each call may reject with a HoldfastError. */
export interface PeerDesk {
  show(hub_id: string): Promise<PeerView>;
  meet(declared: RequestData<"peer/meet">): Promise<PeerView>;
  rekey(change: RequestData<"peer/rekey">): Promise<PeerView>;
  revoke(hub_id: string, reason: string): Promise<PeerView>;
  notify(notice: RequestData<"peer/notify">): Promise<PeerView>;
  admit(task: RequestData<"peer/admit">): Promise<PeerView>;
  settle(task: RequestData<"peer/settle">): Promise<PeerView>;
  /** A page of the audit trail, oldest first. */
  audit(after: number): Promise<AuditPage>;
}

/** This hub, as it is told to others. */
export interface OwnHub {
  readonly hub_id: string;
  /** Address of its gateway, without a slash at its end. */
  readonly url: string;
  /** Capabilities that some agent here has; a peer may ask for those of them that are shared with it. */
  readonly capabilities: readonly string[];
}

export interface HubGround {
  readonly files: ServerFiles;
  /** Answers of tasks, as long as was agreed. */
  readonly vault: SealedVault;
  readonly desk: PeerDesk;
  readonly key: IdentityKey;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly randomBytes: (size: number) => Buffer;
}
