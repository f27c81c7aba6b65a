/** The table of `agent list`, of one host or of several. */
import { deniedCount } from "../../protocol/denied.ts";
import type { WorkerView } from "../../runtime/replies.ts";
import { type WithElsewhere, withElsewhereText } from "./elsewhere.ts";
import { age } from "./pairs.ts";
import { isElsewhere } from "./runtimes.ts";
import { stateWord, toneOf } from "./states.ts";
import { oneLine, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { uniqueChars } from "./units.ts";
import { isWide, resourceCells } from "./wide.ts";

export const ended = (worker: Pick<WorkerView, "exit_code" | "signal" | "ended_at">, now: number): string => {
  if (worker.ended_at === null) return "";
  const how = worker.signal ?? (worker.exit_code === null ? "" : `code ${worker.exit_code}`);
  return `${how ? `${how}, ` : ""}${age(worker.ended_at, now)} ago`;
};

/** Columns of a task if no terminal bounds it. */
export const TASK_COLUMNS = 60;

/** Columns of a host. */
const HOST_COLUMNS = 32;

/** Columns of the reason for a pause in a table. */
const PAUSE_COLUMNS = 40;

/** The state in a table, with the place in the queue, or the open question. */
const stateCell = ({ state, queue, question, paused, approvals, reason, denied }: WorkerView): string =>
  `${stateWord(state)}${denied ? ` (${deniedCount(denied)} denied)` : ""}${approvals && !paused ? " (asks permission)" : ""}${paused ? ` (${oneLine(reason, PAUSE_COLUMNS)})` : ""}${queue ? ` (queue ${queue.place}, ${queue.waits_for})` : ""}${question && !paused ? (question.about === "stall" ? " (stuck?)" : ` (${oneLine(reason, PAUSE_COLUMNS)})`) : ""}`;

/** Columns of the list that a narrow terminal leaves out. */
const SPARE = ["TASK", "PROCS", "PID", "RUNTIME", "RESTARTS", "RUN", "KIND", "ENDED", "AGE"];

/** A row of several hosts bears its host. */
type ListedWorker = WorkerView & { readonly host?: string };

/** And the workers of other nodes below. */
export const list: TextOf<ListedWorkers & WithElsewhere> = (value, context) =>
  withElsewhereText(listText(value, context), value, context);

interface ListedWorkers {
  readonly workers: readonly ListedWorker[];
}

const listText: TextOf<ListedWorkers> = ({ workers }, { paint, flags, now, columns }) => {
  if (flags.quiet)
    return workers.map(({ host, id }) => (host === undefined ? id : `${host}/${id}`)).join("\n");
  // A hint on stderr says that the list is empty.
  if (workers.length === 0) return "";
  const chars = uniqueChars(workers.map((worker) => worker.id));
  const isMixed = workers.some(isElsewhere);
  const isOverHosts = workers[0]?.host !== undefined;
  const head = [
    ...(isOverHosts ? ["HOST"] : []),
    "ID",
    "NAME",
    "KIND",
    "STATE",
    "RUN",
    "RESTARTS",
    "PID",
    ...(isMixed ? ["RUNTIME"] : []),
    ...(isWide(flags) ? ["CPU", "MEMORY", "PROCS"] : []),
    "AGE",
    ...(flags.all ? ["ENDED"] : []),
    "TASK",
  ];
  const rows = workers.map((worker) => [
    ...(isOverHosts ? [oneLine(worker.host ?? "", HOST_COLUMNS)] : []),
    worker.id.slice(0, chars),
    worker.name ?? "–",
    worker.kind,
    paint(worker.question || worker.paused ? "warn" : toneOf(worker.state), stateCell(worker)),
    String(worker.incarnation),
    String(worker.restarts),
    worker.pid === null ? "–" : String(worker.pid),
    ...(isMixed ? [oneLine(worker.backend_kind ?? "–")] : []),
    ...(isWide(flags) ? resourceCells(worker) : []),
    age(worker.created_at, now),
    ...(flags.all ? [ended(worker, now)] : []),
    oneLine(worker.task, TASK_COLUMNS),
  ]);
  const layout = { fit: columns, spare: SPARE };
  return table([head.map((cell) => paint("dim", cell)), ...rows], layout);
};
