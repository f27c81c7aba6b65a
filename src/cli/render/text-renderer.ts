/** Text mode: results on stdout; errors, warnings and advice on stderr. */
import type { Printer } from "./pieces.ts";
import type { Renderer } from "./renderer.ts";
import { neutralise, type Paint, wrapLines } from "./terminal.ts";
import { renderError, renderText } from "./text.ts";

export interface TextOptions {
  readonly paint: Paint;
  readonly errorPaint: Paint;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly isStdoutTerminal: boolean;
  readonly columns: number | undefined;
  /** Width of the terminal that is stderr. */
  readonly errorColumns: number | undefined;
  readonly printer: Printer;
}

/** Commands whose failure has a result worth seeing: a table per id, what was changed, the doctor's checks. */
const SHOWN_ON_FAILURE = new Set([
  "agent/kill",
  "agent/restart",
  "agent/pause",
  "agent/unpause",
  "agent/up",
  "agent/doctor",
]);

/** The error says it all. */
const isOneResult = (value: unknown): boolean => (value as { results?: unknown[] }).results?.length === 1;

const withEnd = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

export const textRenderer = ({
  paint,
  errorPaint,
  flags,
  isStdoutTerminal,
  columns,
  errorColumns,
  printer,
}: TextOptions): Renderer => ({
  record: printer.record,
  rest: printer.rest,
  end({ command, outcome }) {
    const name = command.command;
    const told = (text: string): string => `${wrapLines(text, errorColumns)}\n`;
    const isShown =
      outcome.ok ||
      (outcome.value !== undefined && SHOWN_ON_FAILURE.has(name) && !isOneResult(outcome.value));
    const context = { paint, flags, now: Date.now(), terminal: isStdoutTerminal, columns };
    const body = isShown ? renderText(name, outcome.value, context) : "";
    const warnings = (outcome.warnings ?? [])
      .map((warning) => told(`${errorPaint("warn", "warning:")} ${neutralise(warning)}`))
      .join("");
    return {
      // The answer of an agent is passed as it is to a file or a pipe.
      stdout: printer.rest() + (name === "agent/output" && !isStdoutTerminal ? body : withEnd(body)),
      stderr: warnings + (outcome.ok ? "" : told(renderError(outcome.error, errorPaint))),
    };
  },
});
