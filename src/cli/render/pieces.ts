/**
 * Some agents report a message in pieces of a few words. The pieces are printed as one text, whose line stays open until
 * something else is printed.
 */
import type { LogRecord } from "../../protocol/records.ts";
import type { LineWriter } from "./line.ts";

/** The key of the message to which a record belongs; undefined if it is not a piece. Only a whole line of a program has no message id. */
const messageOf = (record: LogRecord): string | undefined => {
  if (record.type !== "agent.event" || record.payload.kind !== "TextOutput") return undefined;
  const { channel, data } = record.payload;
  if (typeof data !== "object" || data === null || !("message_id" in data)) return undefined;
  return JSON.stringify([record.worker_id, record.incarnation, channel, data.message_id]);
};

export const isPiece = (record: LogRecord): boolean => messageOf(record) !== undefined;

/**
 * Whether `next` continues the text of `record`, with only hidden records in between. If an agent gives no message ids, only
 * the directly following record continues it: records in between may have been filtered out.
 */
export const goesOn = (record: LogRecord | undefined, next: LogRecord): boolean => {
  const key = messageOf(next);
  if (record === undefined || key === undefined || messageOf(record) !== key) return false;
  return !key.endsWith(",null]") || next.version === record.version + 1;
};

export interface Printer {
  /** The text to print for the record, with its line end unless its line stays open. */
  record(record: LogRecord): string;
  /** The end of an open line, or "". */
  rest(): string;
}

export const makePrinter = ({ line, more }: Pick<LineWriter, "line" | "more">): Printer => {
  /** The last printed piece, if its line is open. */
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
