/** The outcome of a command, and the three modes of printing it (docs/reference/commands.md, Everywhere). */
import type { CommandDef } from "../../commands/command.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { PageMeta } from "../../protocol/response-envelope.ts";

export type Mode = "text" | "json" | "ndjson";

export interface CommandEnd {
  readonly command: Pick<CommandDef, "command">;
  readonly outcome: Outcome<unknown>;
  /** The process's exit code; `ok` of every envelope is derived from it. */
  readonly exit: number;
  readonly duration_ms: number;
  readonly request_id: string;
  readonly meta?: PageMeta | undefined;
}

export interface Printout {
  readonly stdout: string;
  readonly stderr: string;
}

export interface Renderer {
  /** One record of a stream with its line end; "" if this mode does not show it. `json`: its text, if the caller has it. */
  record(record: LogRecord, json?: string): string;
  /** The end of an open line, before something else is printed. */
  rest?(): string;
  end(ended: CommandEnd): Printout;
}
