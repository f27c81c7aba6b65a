/** How long turns took, for the projections that add them up. */
import type { Database } from "better-sqlite3";
import type { RecordPayloads } from "../../../protocol/records.ts";

type CompletedTurn = Pick<RecordPayloads["turn_completed"], "turn" | "duration_ms">;

/** How long a turn that was completed took: as its agent says, else between its records. Its own fold comes first. */
export const turnMs = (db: Database) => {
  const find = db
    .prepare<[string, number, number], number | null>(
      "SELECT duration_ms FROM p_turns WHERE worker_id = ? AND incarnation = ? AND turn = ?",
    )
    .pluck();
  return (workerId: string, incarnation: number, { turn, duration_ms }: CompletedTurn): number =>
    duration_ms ?? find.get(workerId, incarnation, turn) ?? 0;
};
