/** A conversation with one agent as text: who said what, without times and tags. Pure. */
import type { LogRecord } from "../../protocol/records.ts";
import { goesOn, isPiece } from "./pieces.ts";
import { sentenceOf } from "./sentences.ts";
import { neutralise, type Paint } from "./terminal.ts";

export class ConversationText {
  private readonly paint: Paint;
  /** The newest piece of a text that may go on. */
  private open: LogRecord | undefined;

  constructor(paint: Paint) {
    this.paint = paint;
  }

  /** The text that the record adds; without a line end while the text may go on. Empty if it says nothing to a person. */
  readonly add = (record: LogRecord): string => {
    if (record.type === "worker_spawn_requested") return this.asked(record.payload.spec.prompt ?? "");
    if (record.type === "worker_message" && record.payload.state === "accepted")
      return record.payload.line === true ? "" : this.asked(record.payload.text ?? "");
    const isStep = record.type === "worker_message" && record.payload.state !== "undeliverable";
    // The question stands in the prompt line.
    if (isStep || record.type === "approval_requested") return "";
    const { text, tone, quiet, spoken } = sentenceOf(record);
    if (quiet === true) return "";
    if (spoken !== true) return `${this.ended()}${this.paint(tone, `· ${text}`)}\n`;
    const before = goesOn(this.open, record) ? "" : this.ended();
    this.open = isPiece(record) ? record : undefined;
    return this.open === undefined ? `${before}${text.replace(/\n$/, "")}\n` : `${before}${text}`;
  };

  /** The end of a text that was open. */
  private ended(): string {
    const open = this.open;
    this.open = undefined;
    return open === undefined ? "" : "\n";
  }

  private asked(text: string): string {
    return text === "" ? "" : `${this.ended()}${this.paint("name", "you")}  ${neutralise(text)}\n`;
  }
}
