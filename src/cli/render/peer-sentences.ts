/** Records about peers as sentences for people. Pure. */
import type { RecordType } from "../../protocol/records.ts";
import { bad, because, good, type Payload, plain, quiet, type Sentence, warn } from "./sentence.ts";
import { oneLine } from "./terminal.ts";
import { count, duration } from "./units.ts";

type PeerRecordType = Extract<RecordType, `peer_${string}` | "audit_entry">;

const stripped = (fields: readonly string[]): string =>
  fields.length === 0 ? "" : `, without ${count(fields.length, "field")}`;

export const PEER_SENTENCES: { readonly [T in PeerRecordType]: (payload: Payload<T>) => Sentence } = {
  peer_added: ({ url, by }) => plain(`peer added by ${oneLine(by)}: ${oneLine(url)}`),
  peer_met: ({ capabilities }) =>
    good(`handshake; it shares ${count(capabilities.length, "capability", "capabilities")}`),
  peer_key_changed: () => warn("its key was changed, by the old key and the new one"),
  peer_tier_changed: ({ tier, reason }) =>
    (tier === "verified" ? good : warn)(`now ${tier}${because(reason)}`),
  peer_trusted: ({ by }) => good(`trusted by ${oneLine(by)}`),
  peer_revoked: ({ by, reason }) => warn(`revoked by ${oneLine(by)}${because(reason)}`),
  peer_task_admitted: ({ direction, capability, task_id, stripped: left }) =>
    plain(
      `${direction === "in" ? "asks" : "is asked"} for ${oneLine(capability)}: task ${task_id}${stripped(left)}`,
    ),
  peer_task_refused: ({ capability, task_id, reason }) =>
    bad(`refused ${oneLine(capability)}: task ${task_id} (${reason})`),
  peer_task_settled: ({ status, task_id, duration_ms }) =>
    (status === "success" ? good : bad)(`task ${task_id}: ${status} after ${duration(duration_ms)}`),
  audit_entry: ({ action, actor, target }) =>
    quiet(plain(`audit: ${oneLine(action)} by ${oneLine(actor)}, ${oneLine(target)}`)),
};
