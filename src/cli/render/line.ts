/** One record as a line of `watch` and `logs`: time, worker, incarnation, and the sentence. */
import type { LogRecord } from "../../protocol/records.ts";
import type { Sentence } from "./sentence.ts";
import { sentenceOf } from "./sentences.ts";
import { oneLine, type Paint, pad, width, wrap } from "./terminal.ts";
import { clock, uniqueChars } from "./units.ts";

/** The tag column grows with the longest name, up to this. */
const TAG_MAX_COLUMNS = 24;
const TAG_MIN_COLUMNS = 12;
/** `12:34:56.789` */
const CLOCK_COLUMNS = 12;
/** `2026-01-02T12:34:56.789Z` */
const TIME_COLUMNS = 24;
/** In a narrower column the terminal wraps the sentence. */
const SENTENCE_MIN_COLUMNS = 16;

export interface LineOptions {
  readonly verbose: boolean;
  /** The whole time of each record in UTC, in place of the local time of day. */
  readonly timestamps?: boolean;
  /** Width of the terminal, if it is one: a sentence is wrapped below its beginning. An agent's own words are not wrapped. */
  readonly columns?: number | undefined;
}

export class LineWriter {
  private readonly paint: Paint;
  private readonly options: LineOptions;
  private readonly bar: string;
  private readonly names = new Map<string, string>();
  /** The ids seen so far, by their shown beginnings. */
  private readonly shorts = new Map<string, string>();
  private chars = uniqueChars([]);
  /** The newest error that each worker's agent reported, which `failed` need not repeat. */
  private readonly told = new Map<string, string>();
  private columns = TAG_MIN_COLUMNS;

  constructor(paint: Paint, options: LineOptions) {
    this.paint = paint;
    this.options = options;
    this.bar = paint("dim", "│");
  }

  /** Remembers a name before its worker's records arrive. */
  readonly know = (id: string, name: string | null): void => {
    this.shortOf(id);
    if (name === null) return;
    this.names.set(id, oneLine(name, TAG_MAX_COLUMNS));
    this.widen(name.length + 2);
  };

  /** Undefined if the record shows nothing. */
  readonly line = (record: LogRecord): string | undefined => {
    const { paint } = this;
    if (record.type === "worker_spawn_requested" && record.worker_id && record.payload.spec.name)
      this.names.set(record.worker_id, oneLine(record.payload.spec.name, TAG_MAX_COLUMNS));
    if (record.type === "worker_renamed" && record.worker_id)
      this.names.set(record.worker_id, oneLine(record.payload.name, TAG_MAX_COLUMNS));
    const sentence = sentenceOf(record);
    const isRepeated = this.isTold(record);
    if ((sentence.quiet || isRepeated) && !this.options.verbose) return undefined;
    const tag = this.tagOf(record);
    this.widen(tag.length);
    const head = `${paint("dim", this.timeOf(record))}  ${paint("name", pad(tag, this.columns))}  `;
    if (!sentence.spoken) return head + this.inRoom(sentence, tag);
    const [first, ...others] = this.spokenLines(sentence);
    return `${head}${this.bar} ${first}${this.below(others)}`;
  };

  /** A further piece of the text that `before` began, continued in its line. */
  readonly more = (before: LogRecord, record: LogRecord): string => {
    const lines = this.spokenLines(sentenceOf(record));
    if (sentenceOf(before).text.endsWith("\n")) return this.below(lines);
    return `${lines[0]}${this.below(lines.slice(1))}`;
  };

  private timeOf({ recorded_at }: LogRecord): string {
    return this.options.timestamps === true ? recorded_at : clock(recorded_at);
  }

  private shortOf(id: string): string {
    const holder = this.shorts.get(id.slice(0, this.chars));
    if (holder !== undefined && holder !== id) {
      const ids = [...this.shorts.values(), id];
      this.chars = uniqueChars(ids);
      this.shorts.clear();
      for (const each of ids) this.shorts.set(each.slice(0, this.chars), each);
    } else this.shorts.set(id.slice(0, this.chars), id);
    return id.slice(0, this.chars);
  }

  private tagOf(record: LogRecord): string {
    const { host } = record as { readonly host?: string };
    return host === undefined
      ? this.subjectOf(record)
      : `${oneLine(host, TAG_MAX_COLUMNS)}/${this.subjectOf(record)}`;
  }

  private subjectOf(record: LogRecord): string {
    const id = record.worker_id;
    if (id === undefined)
      return record.stream.startsWith("tree:") ? record.stream.slice("tree:".length) : "daemon";
    const name = this.names.get(id) ?? this.shortOf(id);
    return record.incarnation ? `${name}.${record.incarnation}` : name;
  }

  private isTold(record: LogRecord): boolean {
    const id = record.worker_id ?? "";
    if (record.type === "agent.event" && record.payload.kind === "Error")
      this.told.set(id, record.payload.message ?? "");
    return record.type === "worker_failed" && this.told.get(id) === record.payload.error.message;
  }

  private widen(columns: number): void {
    this.columns = Math.min(TAG_MAX_COLUMNS, Math.max(this.columns, columns));
  }

  /** A text as lines; a final line end is not shown. */
  private spokenLines({ text, tone }: Sentence): readonly string[] {
    return text
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => this.paint(tone, line));
  }

  /** The columns before a sentence: for the time and the tag. */
  private headColumns(): number {
    return (this.options.timestamps === true ? TIME_COLUMNS : CLOCK_COLUMNS) + 2 + this.columns + 2;
  }

  private indent(): string {
    return `\n${" ".repeat(this.headColumns())}`;
  }

  private below(lines: readonly string[]): string {
    return lines.map((line) => `${this.indent()}${this.bar} ${line}`).join("");
  }

  private inRoom({ text, tone }: Sentence, tag: string): string {
    const over = Math.max(0, width(tag) - this.columns);
    const room = (this.options.columns ?? Number.POSITIVE_INFINITY) - this.headColumns() - over;
    const lines = room < SENTENCE_MIN_COLUMNS ? [text] : wrap(text, room);
    return lines.map((line) => this.paint(tone, line)).join(this.indent());
  }
}
