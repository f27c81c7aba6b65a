/** Text mode: results on stdout; errors, warnings and advice on stderr. */
import type { JobStep } from "../../protocol/jobs.ts";
import { renderHosts } from "./hosts.ts";
import { stepText } from "./jobs.ts";
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
  /** Width of the terminal of stderr. */
  readonly errorColumns: number | undefined;
  readonly printer: Printer;
  /** The answer is that of several hosts. */
  readonly isOverHosts: boolean;
}

/** Commands whose failure has a result to show: a table by id, the changes made, the doctor's checks. */
const SHOWN_ON_FAILURE = new Set([
  "agent/kill",
  "agent/restart",
  "agent/spawn-many",
  "agent/pause",
  "agent/unpause",
  "jobs/cancel",
  "agent/up",
  "agent/doctor",
]);

/** Commands whose result is the text of an agent. */
const ANSWERS = new Set(["agent/output", "jobs/result"]);

/** A single result: the error says it all. */
const isOneResult = (value: unknown): boolean => (value as { results?: unknown[] }).results?.length === 1;

/** A stream of `agent jobs tail` has no records. */
const isStep = (record: object): record is JobStep => "job_id" in record && "stage" in record;

const withEnd = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

export const textRenderer = ({
  paint,
  errorPaint,
  flags,
  isStdoutTerminal,
  columns,
  errorColumns,
  printer,
  isOverHosts,
}: TextOptions): Renderer => ({
  record: (record) => (isStep(record) ? `${stepText(record, paint)}\n` : printer.record(record)),
  rest: printer.rest,
  end({ command, outcome }) {
    const name = command.command;
    const told = (text: string): string => `${wrapLines(text, errorColumns)}\n`;
    const isShown =
      outcome.ok ||
      (outcome.value !== undefined &&
        (isOverHosts || (SHOWN_ON_FAILURE.has(name) && !isOneResult(outcome.value))));
    const context = { paint, flags, now: Date.now(), terminal: isStdoutTerminal, columns };
    const render = isOverHosts ? renderHosts : renderText;
    const body = isShown ? render(name, outcome.value as object, context) : "";
    const warnings = (outcome.warnings ?? [])
      .map((warning) => told(`${errorPaint("warn", "warning:")} ${neutralise(warning)}`))
      .join("");
    return {
      // A file or a pipe gets an agent's answer unchanged.
      stdout: printer.rest() + (ANSWERS.has(name) && !isStdoutTerminal ? body : withEnd(body)),
      stderr: warnings + (outcome.ok ? "" : told(renderError(outcome.error, errorPaint))),
    };
  },
});
