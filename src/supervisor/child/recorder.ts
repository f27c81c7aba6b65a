/** Makes drafts of a worker's records, with its stream, id and incarnation. */
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import type { ChildState } from "./inputs.ts";

export type Recorder = <T extends RecordDraft["type"]>(
  type: T,
  payload: Extract<RecordDraft, { type: T }>["payload"],
  incarnation?: number,
) => RecordDraft;

export const recorder =
  (child: Pick<ChildState, "worker_id" | "incarnation">): Recorder =>
  (type, payload, incarnation = child.incarnation) =>
    ({
      type,
      payload,
      stream: workerStream(child.worker_id),
      worker_id: child.worker_id,
      ...(incarnation > 0 ? { incarnation } : {}),
    }) as RecordDraft;
