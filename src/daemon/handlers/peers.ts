/** peer/* and audit/*: federation. */
import type { PEER_REQUESTS } from "../../protocol/peer-requests.ts";
import { command, type Handlers, read } from "./handler.ts";

export const PEERS: Handlers<keyof typeof PEER_REQUESTS> = {
  "peer/add": command(({ peers }, { caller, ...asked }) => peers.add(asked, { caller })),
  "peer/list": read(({ peers }) => peers.list()),
  "peer/show": read(({ peers }, { hub_id }) => peers.show(hub_id)),
  "peer/trust": command(({ peers }, { hub_id, caller }) => peers.trust(hub_id, { caller })),
  "peer/revoke": command(({ peers }, { hub_id, reason, caller }) => peers.revoke(hub_id, reason, { caller })),
  "peer/meet": command(({ peers }, { caller, ...asked }) => peers.meet(asked, { caller })),
  "peer/rekey": command(({ peers }, { caller, ...asked }) => peers.rekey(asked, { caller })),
  "peer/notify": command(({ peers }, { caller, ...asked }) => peers.notify(asked, { caller })),
  "peer/admit": command(({ peers }, { caller, ...asked }) => peers.admit(asked, { caller })),
  "peer/settle": command(({ peers }, { caller, ...asked }) => peers.settle(asked, { caller })),
  "audit/list": read(({ peers }, { after, limit }) => peers.audit(after, limit)),
};
