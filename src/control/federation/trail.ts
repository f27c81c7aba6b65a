/** Makes the audit entry of a record about a peer (weblisk.txt, Audit trail): the peer, the capability, the fields. Pure. */
import type { AuditNote } from "../../protocol/audit.ts";
import { DAEMON } from "../../protocol/caller.ts";
import { type AuditEntry, peerNameOf } from "../../protocol/peer-records.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { RequestData } from "../../protocol/requests.ts";

type AuditPart = Pick<AuditNote, "actor" | "action" | "detail" | "status">;

const ok = (actor: string, action: string, detail: AuditEntry["detail"]): AuditPart => ({
  actor,
  action,
  detail,
  status: "ok",
});

const toldBy = (draft: RecordDraft, hub: string): AuditPart | undefined => {
  switch (draft.type) {
    case "peer_added": {
      const { by, shared_capabilities, data_boundary, rate_limit, url, trust_tier, source } = draft.payload;
      const { allow_fields, deny_fields, max_payload_size, retention } = data_boundary;
      const terms = { shared_capabilities, allow_fields, deny_fields, max_payload_size, retention };
      const detail = { url, rate_limit, ...terms };
      return ok(
        by,
        "peer.add",
        source === undefined ? detail : { ...detail, source, trust_tier: trust_tier ?? "verified" },
      );
    }
    case "peer_met": {
      const { capabilities, public_key } = draft.payload;
      return ok(hub, "peer.handshake", { capabilities, public_key });
    }
    case "peer_key_changed":
      return ok(hub, "peer.key_change", { public_key: draft.payload.public_key });
    case "peer_tier_changed": {
      const { tier, reason } = draft.payload;
      return ok(DAEMON, "peer.tier", { tier, reason });
    }
    case "peer_trusted":
      return ok(draft.payload.by, "peer.trust", {});
    case "peer_revoked":
      return ok(draft.payload.by, "peer.revoke", { reason: draft.payload.reason });
    case "peer_task_admitted": {
      const { direction, by, at: _, ...detail } = draft.payload;
      return ok(direction === "in" ? hub : by, "task.request", { direction, ...detail });
    }
    case "peer_task_refused": {
      const { direction, by, at: _, ...detail } = draft.payload;
      const actor = direction === "in" ? hub : by;
      return { actor, action: "task.request", detail: { direction, ...detail }, status: "denied" };
    }
    case "peer_task_settled": {
      const { direction, by, at: _, is_odd, ...detail } = draft.payload;
      const status = detail.status === "success" ? "ok" : "failed";
      const actor = direction === "in" ? by : hub;
      return { actor, action: "task.result", detail: { direction, ...detail }, status };
    }
    default:
      return undefined;
  }
};

/** The entry of a peer's notice of a change of itself, which may change nothing here. */
export const noticeOf = (
  { hub_id, change, capability }: RequestData<"peer/notify">,
  { id, wall_ms }: { readonly id: string; readonly wall_ms: number },
): AuditNote => ({
  id,
  timestamp: Math.floor(wall_ms / 1_000),
  target: hub_id,
  ...ok(hub_id, "peer.notify", { change, ...(capability !== undefined && { capability }) }),
});

/** Undefined for a record of something else. `id`: 32 hexadecimal digits. */
export const auditOf = (
  draft: RecordDraft,
  { id, wall_ms }: { readonly id: string; readonly wall_ms: number },
): AuditNote | undefined => {
  const hub = peerNameOf(draft.stream);
  const told = hub === undefined ? undefined : toldBy(draft, hub);
  if (hub === undefined || told === undefined) return undefined;
  return { id, timestamp: Math.floor(wall_ms / 1_000), target: hub, ...told };
};
