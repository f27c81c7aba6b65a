/** How a daemon begins: by what the log and the id of this boot say of the previous daemon. */
import type { LogRecord, StartKind } from "../../protocol/records.ts";

/**
 * `known`: the records of earlier daemons, in order. A new boot id decides first: however the last daemon ended, its agents
 * ended with the machine.
 */
export const startKindOf = (known: readonly LogRecord[], boot_id: string): StartKind => {
  const started = known.findLast((record) => record.type === "daemon_started");
  if (started?.type !== "daemon_started") return "first";
  if (started.payload.clock.boot_id !== boot_id) return "after_reboot";
  return known.at(-1)?.type === "daemon_stopped" ? "after_stop" : "after_crash";
};
