/** The workers that a cluster placed on this machine. */
import { attempt } from "../../actors/machine/attempt.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { PlacedWorker, RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import { checkedBy } from "./views.ts";

export const placedOf =
  ({ services: { views, log } }: Core): RuntimeApi["placed"] =>
  (worker) =>
    attempt(() =>
      (worker === undefined ? views.living() : views.named(worker)).flatMap((row) => placedIn(row, log)),
    );

const placedIn = (
  { id, name, state, tombstone, spec: { placed } }: WorkerRow,
  log: EventLog,
): readonly PlacedWorker[] => {
  if (placed === undefined) return [];
  const killed_by = tombstone ? killerOf(log, id) : null;
  const checked_by = isEnded(state) ? checkedBy(log, id) : undefined;
  return [{ id, placed, state, isItself: name === placed.worker, killed_by, checked_by }];
};

const killerOf = (log: EventLog, id: string): string | null => {
  const record = log.stream(id, ["worker_cancel_requested"]).at(-1);
  return record?.type === "worker_cancel_requested" ? record.payload.by : null;
};
