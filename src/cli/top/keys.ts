/** The meaning of each key of `agent top`: the next state, and the deed it asks for. Pure. */
import { refOf, rowsOf, type TopDeed, type TopRow, type TopState, waitsForPerson } from "./state.ts";

/** A key, as node:readline names it. */
export interface Key {
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  /** The character, if it has one. */
  readonly text?: string | undefined;
}

export interface KeyOutcome {
  readonly state: TopState;
  readonly deed?: TopDeed | undefined;
}

const ROWS = { type: "rows" } as const;
const FILTER_MAX_CHARS = 80;

/** `page`: rows of the body. */
export const pressed = (state: TopState, key: Key, page: number): KeyOutcome => {
  if (key.ctrl && key.name === "c") return { state, deed: { type: "quit" } };
  if (key.ctrl && key.name === "z") return { state, deed: { type: "suspend" } };
  switch (state.mode.type) {
    case "rows":
      return inRows({ ...state, note: "" }, key, page);
    case "sure": {
      const deed = key.name === "y" ? state.mode.deed : undefined;
      return { state: { ...state, mode: ROWS }, deed };
    }
    case "question":
      return inQuestion(state, state.mode, key);
    case "filter":
      return { state: inFilter(state, state.mode.before, key) };
    case "page":
      return { state: inPage(state, state.mode, key, page) };
  }
};

const MOVES: Readonly<Record<string, (at: number, page: number, last: number) => number>> = {
  up: (at) => at - 1,
  down: (at) => at + 1,
  pageup: (at, page) => at - page,
  pagedown: (at, page) => at + page,
  home: () => 0,
  end: (_at, _page, last) => last,
};

const moved = (at: number, { name = "" }: Key, page: number, last: number): number | undefined => {
  const move = MOVES[name];
  return move && Math.min(last, Math.max(0, move(at, page, last)));
};

const inRows = (state: TopState, key: Key, page: number): KeyOutcome => {
  const rows = rowsOf(state);
  const at = Math.max(
    0,
    rows.findIndex((row) => row.key === state.selected),
  );
  const next = moved(at, key, page, rows.length - 1);
  if (next !== undefined) return { state: { ...state, selected: rows[next]?.key } };
  if (key.name === "q" || key.name === "escape") return { state, deed: { type: "quit" } };
  if (key.text === "/") return { state: { ...state, mode: { type: "filter", before: state.filter } } };
  const row = rows[at];
  return row === undefined ? { state } : onRow(state, row, key);
};

const sure = (state: TopState, deed: TopDeed, question: string): KeyOutcome => ({
  state: { ...state, mode: { type: "sure", deed, question } },
});

const onRow = (state: TopState, { node, worker }: TopRow, { name }: Key): KeyOutcome => {
  const target = { id: node.id, ref: refOf(node) };
  if (name === "w") return { state, deed: { type: "why", ...target } };
  if (worker === undefined || worker.ended_at !== null)
    return name !== undefined && "krpal".includes(name)
      ? { state: { ...state, note: "Select a worker that lives first." } }
      : { state };
  switch (name) {
    case "k":
      return sure(state, { type: "kill", ...target }, `Kill ${target.ref}?`);
    case "r":
      return sure(state, { type: "restart", ...target }, `Restart ${target.ref}?`);
    case "p":
      return { state, deed: { type: worker.paused === undefined ? "pause" : "unpause", ...target } };
    case "l":
    case "return":
      return { state, deed: { type: "logs", ...target } };
    case "a":
      return waitsForPerson(worker)
        ? { state, deed: { type: "question", ...target } }
        : { state: { ...state, note: `${target.ref} does not wait for you.` } };
    default:
      return { state };
  }
};

const inQuestion = (
  state: TopState,
  mode: Extract<TopState["mode"], { readonly type: "question" }>,
  { text = "" }: Key,
): KeyOutcome => {
  const answer = mode.answers[Number(text) - 1];
  const { hold, ref } = mode;
  return {
    state: { ...state, mode: ROWS },
    deed: answer && { type: "answer", hold, ref, answer },
  };
};

const inFilter = (state: TopState, before: string, { name, text = "", ctrl }: Key): TopState => {
  if (name === "return") return { ...state, mode: ROWS };
  if (name === "escape") return { ...state, filter: before, mode: ROWS };
  if (name === "backspace") return { ...state, filter: state.filter.slice(0, -1) };
  const isText = ctrl !== true && text.length === 1 && text >= " ";
  return isText ? { ...state, filter: (state.filter + text).slice(0, FILTER_MAX_CHARS) } : state;
};

const inPage = (
  state: TopState,
  mode: Extract<TopState["mode"], { readonly type: "page" }>,
  key: Key,
  page: number,
): TopState => {
  const top = moved(mode.top, key, page, Math.max(0, mode.lines.length - page));
  if (top !== undefined) return { ...state, mode: { ...mode, top } };
  return key.name === "q" || key.name === "escape" ? { ...state, mode: ROWS } : state;
};
