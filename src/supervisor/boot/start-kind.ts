/** How a daemon begins: what became of the one before it, as the log and this boot's id say. */
import type { LogRecord, StartKind } from "../../protocol/records.ts";

/**
 * `known`: the records of the daemons before it, in order. Another boot comes before all else: whatever the last daemon did,
 * its agents are gone with the machine.
 */
export const startKindOf = (known: readonly LogRecord[], boot_id: string): StartKind => {
  const started = known.findLast((record) => record.type === "daemon_started");
  if (started?.type !== "daemon_started") return "first";
  if (started.payload.clock.boot_id !== boot_id) return "after_reboot";
  return known.at(-1)?.type === "daemon_stopped" ? "after_stop" : "after_crash";
};
