/** Text mode: results on stdout; errors, warnings and advice on stderr. */
import type { LogRecord } from "../../protocol/records.ts";
import type { Renderer } from "./renderer.ts";
import { neutralise, type Paint } from "./terminal.ts";
import { renderError, renderText } from "./text.ts";

export interface TextOptions {
  readonly paint: Paint;
  readonly errorPaint: Paint;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly isStdoutTerminal: boolean;
  readonly columns: number | undefined;
  /** One record as lines, or undefined when it is not shown. */
  readonly line: (record: LogRecord) => string | undefined;
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
  line,
}: TextOptions): Renderer => ({
  record(record) {
    const text = line(record);
    return text === undefined ? "" : `${text}\n`;
  },
  end({ command, outcome }) {
    const name = command.command;
    const isShown =
      outcome.ok ||
      (outcome.value !== undefined && SHOWN_ON_FAILURE.has(name) && !isOneResult(outcome.value));
    const context = { paint, flags, now: Date.now(), terminal: isStdoutTerminal, columns };
    const body = isShown ? renderText(name, outcome.value, context) : "";
    const warnings = (outcome.warnings ?? [])
      .map((warning) => `${errorPaint("warn", "warning:")} ${neutralise(warning)}\n`)
      .join("");
    return {
      // The answer of an agent is passed as it is to a file or a pipe.
      stdout: name === "agent/output" && !isStdoutTerminal ? body : withEnd(body),
      stderr: warnings + (outcome.ok ? "" : `${renderError(outcome.error, errorPaint)}\n`),
    };
  },
});
