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
  /** One record as lines, or undefined when it is not shown. */
  readonly line: (record: LogRecord) => string | undefined;
}

/** Commands whose failure has a result worth seeing: a table per id, the doctor's checks. */
const SHOWN_ON_FAILURE = new Set(["agent/kill", "agent/restart", "agent/doctor"]);

const withEnd = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

export const textRenderer = ({
  paint,
  errorPaint,
  flags,
  isStdoutTerminal,
  line,
}: TextOptions): Renderer => ({
  record(record) {
    const text = line(record);
    return text === undefined ? "" : `${text}\n`;
  },
  end({ command, outcome }) {
    const name = command.command;
    const isShown = outcome.ok ? true : outcome.value !== undefined && SHOWN_ON_FAILURE.has(name);
    const body = isShown
      ? renderText(name, outcome.value, { paint, flags, now: Date.now(), terminal: isStdoutTerminal })
      : "";
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
