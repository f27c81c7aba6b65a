/** One record as lines of `watch` and `logs`: time, who, incarnation, and the sentence. */
import type { LogRecord } from "../../protocol/records.ts";
import { type Sentence, sentenceOf } from "./sentences.ts";
import { oneLine, type Paint, pad, width, wrap } from "./terminal.ts";
import { clock, uniqueChars } from "./units.ts";

/** The tag column grows with the names seen, up to this. */
const TAG_MAX_COLUMNS = 24;
const TAG_MIN_COLUMNS = 12;
/** `12:34:56.789` */
const CLOCK_COLUMNS = 12;
/** In less a sentence is left to the terminal. */
const SENTENCE_MIN_COLUMNS = 16;

export interface LineWriter {
  /** undefined when nothing of it is shown. */
  line(record: LogRecord): string | undefined;
  /** A piece of the text that `before` has begun, as it goes on in its line. */
  more(before: LogRecord, record: LogRecord): string;
  /** Learn a name before its records come. */
  know(id: string, name: string | null): void;
}

export interface LineOptions {
  readonly verbose: boolean;
  /** Width of the terminal, if it is one: a sentence goes on below itself. An agent's own words stay as it is. */
  readonly columns?: number | undefined;
}

export const makeLineWriter = (paint: Paint, options: LineOptions): LineWriter => {
  const names = new Map<string, string>();
  /** Ids seen, by what is shown of them. */
  const shorts = new Map<string, string>();
  let chars = uniqueChars([]);
  /** The newest error that each worker's agent told: `failed` need not say it again. */
  const told = new Map<string, string>();
  let columns = TAG_MIN_COLUMNS;

  const shortOf = (id: string): string => {
    const holder = shorts.get(id.slice(0, chars));
    if (holder !== undefined && holder !== id) {
      const ids = [...shorts.values(), id];
      chars = uniqueChars(ids);
      shorts.clear();
      for (const each of ids) shorts.set(each.slice(0, chars), each);
    } else shorts.set(id.slice(0, chars), id);
    return id.slice(0, chars);
  };

  const tagOf = (record: LogRecord): string => {
    const id = record.worker_id;
    if (id === undefined)
      return record.stream.startsWith("tree:") ? record.stream.slice("tree:".length) : "daemon";
    const name = names.get(id) ?? shortOf(id);
    return record.incarnation ? `${name}.${record.incarnation}` : name;
  };

  const isTold = (record: LogRecord): boolean => {
    const id = record.worker_id ?? "";
    if (record.type === "agent.event" && record.payload.kind === "Error")
      told.set(id, record.payload.message ?? "");
    return record.type === "worker_failed" && told.get(id) === record.payload.error.message;
  };

  /** A text as its lines; a last line end is not shown. */
  const spokenLines = ({ text, tone }: Sentence): readonly string[] =>
    text
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => paint(tone, line));
  const bar = paint("dim", "│");
  /** The columns before a sentence: the time and the tag. */
  const headColumns = (): number => CLOCK_COLUMNS + 2 + columns + 2;
  const indent = (): string => `\n${" ".repeat(headColumns())}`;
  const below = (lines: readonly string[]): string =>
    lines.map((line) => `${indent()}${bar} ${line}`).join("");
  const inRoom = ({ text, tone }: Sentence, tag: string): string => {
    const over = Math.max(0, width(tag) - columns);
    const room = (options.columns ?? Number.POSITIVE_INFINITY) - headColumns() - over;
    const lines = room < SENTENCE_MIN_COLUMNS ? [text] : wrap(text, room);
    return lines.map((line) => paint(tone, line)).join(indent());
  };

  return {
    know(id, name) {
      shortOf(id);
      if (name === null) return;
      names.set(id, oneLine(name, TAG_MAX_COLUMNS));
      columns = Math.min(TAG_MAX_COLUMNS, Math.max(columns, name.length + 2));
    },
    line(record) {
      if (record.type === "worker_spawn_requested" && record.worker_id && record.payload.spec.name)
        names.set(record.worker_id, oneLine(record.payload.spec.name, TAG_MAX_COLUMNS));
      const sentence = sentenceOf(record);
      const isRepeated = isTold(record);
      if ((sentence.quiet || isRepeated) && !options.verbose) return undefined;
      const tag = tagOf(record);
      columns = Math.min(TAG_MAX_COLUMNS, Math.max(columns, tag.length));
      const head = `${paint("dim", clock(record.recorded_at))}  ${paint("name", pad(tag, columns))}  `;
      if (!sentence.spoken) return head + inRoom(sentence, tag);
      const [first, ...others] = spokenLines(sentence);
      return `${head}${bar} ${first}${below(others)}`;
    },
    more(before, record) {
      const lines = spokenLines(sentenceOf(record));
      if (sentenceOf(before).text.endsWith("\n")) return below(lines);
      return `${lines[0]}${below(lines.slice(1))}`;
    },
  };
};
