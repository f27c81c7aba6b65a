/** Durations of turns, for the projections that add them up. */
import type { Database } from "better-sqlite3";
import type { RecordPayloads } from "../../../protocol/records.ts";

type CompletedTurn = Pick<RecordPayloads["turn_completed"], "turn" | "duration_ms">;

/**
 * The duration of a completed turn in milliseconds: as the agent reports, else between its records. The projection of turns
 * must fold first.
 */
export const turnMs = (db: Database) => {
  const find = db
    .prepare<[string, number, number], number | null>(
      "SELECT duration_ms FROM p_turns WHERE worker_id = ? AND incarnation = ? AND turn = ?",
    )
    .pluck();
  return (workerId: string, incarnation: number, { turn, duration_ms }: CompletedTurn): number =>
    duration_ms ?? find.get(workerId, incarnation, turn) ?? 0;
};
