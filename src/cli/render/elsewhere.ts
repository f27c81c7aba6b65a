/** Placed workers of other nodes as text: what the copy knows of them, and as of when. */
import type { LogRecord } from "../../protocol/records.ts";
import type { ElsewhereWorker } from "../../protocol/replies/cluster.ts";
import { LineWriter } from "./line.ts";
import { TASK_COLUMNS } from "./list.ts";
import { pairs } from "./pairs.ts";
import { makePrinter } from "./pieces.ts";
import { stateWord } from "./states.ts";
import { oneLine, table } from "./terminal.ts";
import type { TextContext } from "./text.ts";
import { clock, count, duration, uniqueChars } from "./units.ts";

/** A value that may have them beside it. */
export interface WithElsewhere {
  readonly elsewhere?: readonly ElsewhereWorker[] | undefined;
}

type NodeKnown = Pick<ElsewhereWorker, "node" | "node_state" | "beat_age_ms">;

const leaseWords = ({ node, node_state, beat_age_ms }: NodeKnown): string =>
  node === null
    ? "waits for a node"
    : `${node_state ?? "unknown"}, renewed ${duration(beat_age_ms ?? 0)} ago`;

/** An ended one has its end in place of a state that it had before. */
const lastWords = ({ desired, over, why, last }: ElsewhereWorker): string => {
  if (desired === "killed") return "killed";
  if (desired === "ended") return over ?? (why === null ? "ended" : "failed");
  return last === null ? "–" : stateWord(last.state);
};

/** Columns that a narrow terminal leaves out. */
const SPARE = ["TASK", "AT", "KIND", "ID"];

const elsewhereTable = (workers: readonly ElsewhereWorker[], { paint, columns }: TextContext): string => {
  const chars = uniqueChars(workers.flatMap(({ id }) => id ?? []));
  const hasTrees = workers.some(({ tree }) => tree !== null);
  const head = [
    "NODE",
    "LEASE",
    ...(hasTrees ? ["TREE"] : []),
    "ID",
    "NAME",
    "KIND",
    "LAST STATE",
    "AT",
    "TASK",
  ];
  const rows = workers.map((worker) => [
    oneLine(worker.node ?? "–"),
    paint(["dead", "left"].includes(worker.node_state ?? "dead") ? "warn" : "plain", leaseWords(worker)),
    ...(hasTrees ? [oneLine(worker.tree ?? "–")] : []),
    worker.id?.slice(0, chars) ?? "–",
    oneLine(worker.name),
    oneLine(worker.kind),
    lastWords(worker),
    worker.last === null ? "–" : clock(worker.last.at),
    oneLine(worker.task, TASK_COLUMNS),
  ]);
  return table([head.map((cell) => paint("dim", cell)), ...rows], { fit: columns, spare: SPARE });
};

export const ELSEWHERE_TITLE = "On other nodes, as the cluster's copy has them:";

/** The text, and below it the workers of other nodes. */
export const withElsewhereText = (
  text: string,
  { elsewhere = [] }: WithElsewhere,
  context: TextContext,
): string => {
  if (elsewhere.length === 0 || context.flags.quiet) return text;
  const title = context.paint("dim", ELSEWHERE_TITLE);
  return [...(text === "" ? [] : [text, ""]), title, elsewhereTable(elsewhere, context)].join("\n");
};

/** In text mode also its newest records. */
export interface ShownElsewhere extends ElsewhereWorker {
  readonly recent: readonly LogRecord[];
}

export const elsewhereInfo = (worker: ShownElsewhere, { paint, columns }: TextContext): string => {
  const { last, node, beat_age_ms, node_state, through } = worker;
  const at = last === null ? "" : `, at ${last.at} by the clock of its node, run ${last.incarnation}`;
  const facts = pairs(paint, [
    ["id", worker.id],
    ["name", oneLine(worker.name)],
    ["kind", oneLine(worker.kind)],
    [
      "node",
      node === null
        ? "none now"
        : `${oneLine(node)}, ${node_state ?? "unknown"}, renewed its lease ${duration(beat_age_ms ?? 0)} ago`,
    ],
    ["last state", last === null ? "not in the copy" : `${stateWord(last.state)}${at}`],
    ["wanted", worker.desired === "running" ? "running" : lastWords(worker)],
    ["not started", worker.why && oneLine(worker.why, 300)],
    ["task", oneLine(worker.task, 200)],
    ["cwd", oneLine(worker.cwd, 300)],
    [
      "labels",
      Object.entries(worker.labels)
        .map(([key, value]) => oneLine(`${key}=${value}`))
        .join(" "),
    ],
    ["restart", oneLine(worker.restart)],
    ["tree", worker.tree && oneLine(worker.tree)],
    ["copy", through === null ? null : `up to ${count(through, "record")} of its node`],
  ]);
  const lines = new LineWriter(paint, { verbose: false, columns });
  if (worker.id !== null) lines.know(worker.id, worker.name);
  const recent = worker.recent.map(makePrinter(lines).record).join("");
  return recent === "" ? facts : `${facts}\n\n${recent.trimEnd()}`;
};
