/** Some agents tell a message in pieces, a few words each: they are printed as one text, whose line is open until something else is said. */
import type { LogRecord } from "../../protocol/records.ts";
import type { LineWriter } from "./line.ts";

/** The key of the message that a record is a piece of; undefined of what is none. Only a whole line of a program is told without the id of a message. */
const messageOf = (record: LogRecord): string | undefined => {
  if (record.type !== "agent.event" || record.payload.kind !== "TextOutput") return undefined;
  const { channel, data } = record.payload;
  if (typeof data !== "object" || data === null || !("message_id" in data)) return undefined;
  return JSON.stringify([record.worker_id, record.incarnation, channel, data.message_id]);
};

export const isPiece = (record: LogRecord): boolean => messageOf(record) !== undefined;

/**
 * Whether `next`, after `record` and others that are not shown, goes on in the same text. From an agent that gives its messages no ids, only what comes right after it: what is between them may not have been asked for.
 */
export const goesOn = (record: LogRecord | undefined, next: LogRecord): boolean => {
  const key = messageOf(next);
  if (record === undefined || key === undefined || messageOf(record) !== key) return false;
  return !key.endsWith(",null]") || next.version === record.version + 1;
};

export interface Printer {
  /** The text to print for it, with its line end where the line is not open. */
  record(record: LogRecord): string;
  /** The end of an open line; empty where there is none. */
  rest(): string;
}

export const makePrinter = ({ line, more }: Pick<LineWriter, "line" | "more">): Printer => {
  /** The piece that was printed last, if its line is open. */
  let open: LogRecord | undefined;
  const rest = (): string => {
    if (open === undefined) return "";
    open = undefined;
    return "\n";
  };
  return {
    rest,
    record(record) {
      if (open !== undefined && goesOn(open, record)) {
        const text = more(open, record);
        open = record;
        return text;
      }
      const text = line(record);
      if (text === undefined) return "";
      const before = rest();
      if (messageOf(record) === undefined) return `${before}${text}\n`;
      open = record;
      return `${before}${text}`;
    },
  };
};
