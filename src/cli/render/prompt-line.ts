/**
 * The last lines of a terminal while a person types: a text that may go on, and below it the line being typed. Each addition
 * is written above them. Pure: strings in, bytes for the terminal out.
 */
import { width } from "./terminal.ts";

export interface PromptSize {
  readonly columns: number;
  readonly rows: number;
}

/** The rows that a line takes. */
export const rowsOf = (line: string, { columns }: PromptSize): number =>
  Math.max(1, Math.ceil(width(line) / columns));

export class PromptLine {
  /** The last line of what was written, if it may go on; it stands above the typed line. */
  private open = "";

  /** The bytes that add `text` above the typed line, in whose row of its own `row` the cursor is; the typed line is drawn after. */
  add(text: string, row: number, size: PromptSize): string {
    const up = row + (this.open === "" ? 0 : rowsOf(this.open, size));
    const erased = `${up === 0 ? "" : `\x1b[${up}A`}\r\x1b[J`;
    const whole = this.open + text;
    const cut = whole.lastIndexOf("\n") + 1;
    const last = whole.slice(cut);
    // A text without line ends must not fill the screen: what is out of sight cannot be erased.
    this.open = rowsOf(last, size) * 2 > size.rows ? "" : last;
    return `${erased}${whole}${last === "" ? "" : "\n"}`;
  }
}
