/** Federation as its users see it: part of `RuntimeApi`. Every change is durable before the call returns, with its audit entry. */
import type { Effect } from "effect";
import type { HoldfastError } from "../protocol/errors.ts";
import type { AuditPage, PeerChange, PeersReply, PeerView } from "../protocol/replies/peers.ts";
import type { RequestData } from "../protocol/requests.ts";
import type { TokenAsker } from "./tokens-api.ts";

type Changing<A> = Effect.Effect<A, HoldfastError>;

export interface PeersApi {
  add(asked: RequestData<"peer/add">, options?: TokenAsker): Changing<PeerChange>;
  /** Gives the peers that are there the terms of the configuration. */
  configure(): Changing<void>;
  list(): Changing<PeersReply>;
  /** Fails with PEER_NOT_FOUND if there is none. */
  show(hub_id: string): Changing<PeerView>;
  /** Fails with PEER_UNTRUSTED unless the peer is verified. */
  trust(hub_id: string, options?: TokenAsker): Changing<PeerChange>;
  /** Also kills the workers of its tasks. */
  revoke(hub_id: string, reason: string, options?: TokenAsker): Changing<PeerChange>;
  meet(asked: RequestData<"peer/meet">, options?: TokenAsker): Changing<PeerChange>;
  rekey(asked: RequestData<"peer/rekey">, options?: TokenAsker): Changing<PeerChange>;
  /** Each notice is an entry of the trail. */
  notify(asked: RequestData<"peer/notify">, options?: TokenAsker): Changing<PeerChange>;
  /** Fails with the reason if the task may not begin. */
  admit(asked: RequestData<"peer/admit">, options?: TokenAsker): Changing<PeerChange>;
  settle(asked: RequestData<"peer/settle">, options?: TokenAsker): Changing<PeerChange>;
  audit(after: number, limit: number): Changing<AuditPage>;
}
