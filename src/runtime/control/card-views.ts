/** Cards as they are told: with the time of their next try, their run, and what leads to their work. */
import { workspaceIn } from "../../actors/worker/workspaces.ts";
import { dueOf } from "../../control/board/decide.ts";
import { ofBoard } from "../../control/board/refusals.ts";
import type { DecisionTime } from "../../control/lease.ts";
import type { Card } from "../../protocol/board.ts";
import type { CardInfo, CardView, DispatcherView } from "../../protocol/replies/board.ts";
import { runId } from "../../protocol/run-events/export.ts";
import { CARD_LANES, type CardLane } from "../../protocol/words.ts";
import { statusOf } from "../../protocol/worker-status.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { BoardSetting, Views, WorkerRow } from "../../store/views.ts";

/** `row`: its worker. */
export const cardView = (card: Card, row: WorkerRow | undefined, now: DecisionTime): CardView => {
  const { seq: _, failures: __, retry, request_id: ___, last_seq: ____, ...told } = card;
  const isBegun = row !== undefined && row.incarnation > 0;
  return {
    ...told,
    retry_due_at:
      retry === null ? null : new Date(now.wall_ms + dueOf(card, now) - now.mono_ms).toISOString(),
    run_id: isBegun ? runId(row.id, row.incarnation) : null,
  };
};

/** The next steps for a card, by its lane. */
const movesFor: Readonly<Record<CardLane, readonly string[]>> = {
  Todo: ["claim", "block"],
  Claimed: ["release", "done", "handoff"],
  Running: [],
  RetryQueued: ["retry", "block"],
  Blocked: ["retry", "done"],
  Review: ["done", "retry"],
  Done: [],
};

const commandsFor = ({ board, issue_id, lane }: Card, row: WorkerRow | undefined): readonly string[] => {
  const isConfined = row?.spec.worktree !== undefined;
  const ofWorker = row === undefined ? [] : [`agent logs ${row.id}`, `agent output ${row.id}`];
  const changes = row !== undefined && isConfined ? [`agent changes ${row.id}`] : [];
  const moves = movesFor[lane].map((move) => `agent board ${move} ${issue_id}${ofBoard(board)}`);
  const kill = row !== undefined && lane === "Running" ? [`agent kill ${row.id}`] : [];
  return [...ofWorker, ...changes, ...kill, ...moves];
};

export const cardInfo = (
  card: Card,
  row: WorkerRow | undefined,
  log: EventLog,
  now: DecisionTime,
): CardInfo => ({
  ...cardView(card, row, now),
  worker:
    row === undefined
      ? null
      : { id: row.id, name: row.name, kind: row.kind, status: statusOf(row.state), reason: row.reason },
  workspace: row?.spec.worktree === undefined ? null : (workspaceIn(log, row.id) ?? null),
  commands: commandsFor(card, row),
});

export const dispatcherView = ({
  slots,
  completed_lane,
  spec,
  by,
  configured_at,
}: BoardSetting): DispatcherView => ({
  slots,
  completed_lane,
  kind: spec.kind,
  cwd: spec.cwd,
  worktree: spec.worktree !== undefined,
  by,
  configured_at,
});

/** With the lanes that have no cards. */
export const lanesIn = (views: Views, board: string): Readonly<Record<CardLane, number>> => {
  const counted = views.lanesOf(board);
  return Object.fromEntries(CARD_LANES.map((lane) => [lane, counted[lane] ?? 0])) as Record<CardLane, number>;
};
