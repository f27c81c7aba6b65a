/** One frame of `agent top`: exactly as many lines as the terminal has rows, each within its columns. Pure. */
import type { TreeSupervisor, WorkerView } from "../../runtime/replies.ts";
import { stateWord, toneOf } from "../render/states.ts";
import { cut, oneLine, type Paint, pad } from "../render/terminal.ts";
import { bytes, clock, count, duration } from "../render/units.ts";
import { refOf, rowsOf, type TopRow, type TopState, waitsForPerson } from "./state.ts";

export interface TopSize {
  readonly rows: number;
  readonly columns: number;
}

/** Title, heads of the columns, and the last line. */
const FRAME_LINES = 3;
export const bodyRows = ({ rows }: TopSize): number => Math.max(1, rows - FRAME_LINES);

/** A column, and the fewest columns of a terminal that shows it. */
interface Column {
  readonly head: string;
  readonly columns: number;
  readonly from: number;
  readonly cell: (worker: WorkerView, state: TopState) => string;
}

const COLUMNS: readonly Column[] = [
  {
    head: "SINCE",
    columns: 5,
    from: 72,
    cell: ({ started_at, created_at }) => clock(started_at ?? created_at).slice(0, 5),
  },
  {
    head: "CPU",
    columns: 5,
    from: 80,
    cell: ({ id }, { cpu }) => (cpu.has(id) ? `${(cpu.get(id) as number).toFixed(0)}%` : "–"),
  },
  {
    head: "MEMORY",
    columns: 9,
    from: 90,
    cell: ({ resources: used }) => (used === undefined ? "–" : bytes(used.memory_bytes)),
  },
  {
    head: "TOKENS",
    columns: 7,
    from: 110,
    cell: ({ usage }) => short(usage.input_tokens + usage.output_tokens),
  },
  {
    head: "COST",
    columns: 7,
    from: 100,
    cell: ({ usage: { cost_usd } }) => (cost_usd ? `$${cost_usd.toFixed(2)}` : "–"),
  },
];

const short = (value: number): string =>
  value === 0
    ? "–"
    : value < 10_000
      ? String(value)
      : value < 10_000_000
        ? `${Math.round(value / 1_000)}k`
        : `${Math.round(value / 1_000_000)}M`;

const STATE_COLUMNS = 13;
const MARK = "▸ ";

const nameColumns = (columns: number): number => Math.min(36, Math.max(14, Math.floor(columns / 4)));

const fitted = (text: string, columns: number): string => pad(cut(text, columns), columns);

const stateText = (worker: WorkerView): string => {
  if (waitsForPerson(worker)) return "waits for you";
  if (worker.paused !== undefined) return "paused";
  return worker.queue === undefined ? stateWord(worker.state) : `queue ${worker.queue.place}`;
};

const stateCell = (worker: WorkerView, paint: Paint): string => {
  const tone = waitsForPerson(worker) || worker.paused !== undefined ? "warn" : toneOf(worker.state);
  return paint(tone, fitted(stateText(worker), STATE_COLUMNS));
};

/** The tool in flight with its age, else the last words, else the reason of the state. */
const nowOf = (worker: WorkerView, state: TopState, now: number): string => {
  const { text = "", tool_since } = state.said.get(worker.id) ?? {};
  if (worker.state !== "running" || waitsForPerson(worker)) return oneLine(worker.reason, 400);
  if (tool_since === undefined) return text;
  return `${text} (${duration(Math.max(0, now - tool_since))})`;
};

const supervisorWords = ({ phase, strategy, window, budget }: TreeSupervisor): string => {
  const used = window && `${window.used} of ${window.max} in ${duration(window.period_ms)}`;
  const words = [phase && stateWord(phase), stateWord(strategy), used];
  return [...words, budget && `budget ${stateWord(budget.state)}`].filter(Boolean).join("  ");
};

const rowLine = (state: TopState, row: TopRow, size: TopSize, now: number, paint: Paint): string => {
  const { node, worker, depth, key } = row;
  const isSelected = key === state.selected;
  const name = `${isSelected ? MARK : "  "}${"  ".repeat(Math.min(depth, 8))}${oneLine(refOf(node))}`;
  const names = fitted(name, nameColumns(size.columns));
  const shown = isSelected || worker === undefined ? paint("bold", names) : names;
  if (worker === undefined) {
    // A worker that the list does not have yet.
    const words = node.type === "worker" ? stateWord(node.state) : supervisorWords(node);
    return `${shown} ${paint("dim", words)}`;
  }
  const cells = COLUMNS.filter(({ from }) => size.columns >= from).map(({ cell, columns }) =>
    cell(worker, state).padStart(columns),
  );
  return [shown, stateCell(worker, paint), ...cells, nowOf(worker, state, now)].join(" ");
};

const headLine = ({ columns }: TopSize): string =>
  [
    fitted("  NAME", nameColumns(columns)),
    fitted("STATE", STATE_COLUMNS),
    ...COLUMNS.filter(({ from }) => columns >= from).map(({ head, columns: wide }) => head.padStart(wide)),
    "NOW",
  ].join(" ");

const titleLine = ({ workers, cpu, filter }: TopState): string => {
  const all = [...workers.values()];
  const waiting = all.filter(waitsForPerson).length;
  const running = all.filter(({ status }) => status === "running").length;
  const memory = all.reduce((sum, { resources }) => sum + (resources?.memory_bytes ?? 0), 0);
  const cost = all.reduce((sum, { usage }) => sum + (usage.cost_usd ?? 0), 0);
  const busy = [...cpu.values()].reduce((sum, one) => sum + one, 0);
  return [
    `${waiting === 0 ? "Nothing waits" : waiting === 1 ? "1 waits" : `${waiting} wait`} for you`,
    `${running} of ${count(all.length, "worker")} ${running === 1 ? "runs" : "run"}`,
    `${busy.toFixed(0)}% cpu`,
    bytes(memory),
    ...(cost > 0 ? [`$${cost.toFixed(2)}`] : []),
    ...(filter === "" ? [] : [`only "${filter}"`]),
  ].join(" · ");
};

const KEYS = ["a answer", "k kill", "r restart", "p pause", "l logs", "w why", "/ find", "q quit"];

/** Columns of a terminal that has room for two spaces between the keys. */
const KEYS_APART_COLUMNS = 72;

const lastLine = ({ mode, note, filter }: TopState, { columns }: TopSize, paint: Paint): string => {
  switch (mode.type) {
    case "sure":
      return paint("warn", `${mode.question} y: yes, any other key: no`);
    case "question":
      return paint(
        "warn",
        `${mode.question}  ${mode.answers.map((answer, at) => `${at + 1}: ${answer}`).join("  ")}  any other key: later`,
      );
    case "filter":
      return `filter: ${filter}_   Enter keeps it, Esc drops it`;
    case "page":
      return paint("dim", "arrows move  q back");
    case "rows":
      return note === "" ? paint("dim", KEYS.join(columns < KEYS_APART_COLUMNS ? " " : "  ")) : note;
  }
};

/** The first row to show, so that the selected one is in sight. */
const firstShown = (rows: readonly TopRow[], selected: string | undefined, room: number): number => {
  const at = rows.findIndex(({ key }) => key === selected);
  return Math.max(0, Math.min(at - Math.floor(room / 2), rows.length - room));
};

const bodyOf = (state: TopState, size: TopSize, now: number, paint: Paint): readonly string[] => {
  const room = bodyRows(size);
  if (state.mode.type === "page") return state.mode.lines.slice(state.mode.top, state.mode.top + room);
  const rows = rowsOf(state);
  if (rows.length === 0)
    return [
      state.filter === ""
        ? "  No workers. Start one with: agent spawn -- sleep 60"
        : "  No worker agrees with the filter.",
    ];
  const first = firstShown(rows, state.selected, room);
  return rows.slice(first, first + room).map((row) => rowLine(state, row, size, now, paint));
};

export const frameOf = (state: TopState, size: TopSize, now: number, paint: Paint): readonly string[] => {
  const head = [
    paint("bold", titleLine(state)),
    paint("dim", state.mode.type === "page" ? state.mode.title : headLine(size)),
  ];
  const body = bodyOf(state, size, now, paint);
  const empty = Array<string>(Math.max(0, bodyRows(size) - body.length)).fill("");
  const lines = [...head, ...body, ...empty, lastLine(state, size, paint)].slice(0, size.rows);
  return lines.map((line) => cut(line, size.columns));
};
