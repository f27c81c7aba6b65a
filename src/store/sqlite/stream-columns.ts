/** The column of each projection that names the stream of a row. */
import { blackboardStream } from "../../protocol/blackboard-records.ts";
import { boardStream } from "../../protocol/board-records.ts";
import { mailboxStream } from "../../protocol/mail.ts";
import { treeStream, workerStream } from "../../protocol/records.ts";
import { scheduleStream } from "../../protocol/schedule-records.ts";
import { tokenStream } from "../../protocol/token-records.ts";
import type { TABLES } from "./projections/projection.ts";

export const STREAM_COLUMNS: Readonly<
  Record<(typeof TABLES)[number], { readonly column: string; readonly streamOf: (key: string) => string }>
> = {
  p_workers: { column: "id", streamOf: workerStream },
  p_turns: { column: "worker_id", streamOf: workerStream },
  p_approvals: { column: "worker_id", streamOf: workerStream },
  p_holds: { column: "stream", streamOf: (stream) => stream },
  p_mail: { column: "box", streamOf: mailboxStream },
  p_mail_readers: { column: "box", streamOf: mailboxStream },
  p_messages: { column: "worker_id", streamOf: workerStream },
  p_trees: { column: "name", streamOf: treeStream },
  p_usage: { column: "worker_id", streamOf: workerStream },
  p_bb_items: { column: "ns", streamOf: blackboardStream },
  p_schedules: { column: "name", streamOf: scheduleStream },
  p_cards: { column: "board", streamOf: boardStream },
  p_boards: { column: "board", streamOf: boardStream },
  p_tokens: { column: "name", streamOf: tokenStream },
  p_federation: { column: "stream", streamOf: (stream) => stream },
  p_labels: { column: "worker_id", streamOf: workerStream },
};
