/** The outcome of a command, and the three ways of printing it (cli.md, Output). */
import type { CommandDef } from "../../commands/commands.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { PageMeta } from "../../protocol/response-envelope.ts";

export type Mode = "text" | "json" | "ndjson";

export interface Ended {
  readonly command: Pick<CommandDef, "command">;
  readonly outcome: Outcome<unknown>;
  /** The process's exit code; `ok` of every envelope is derived from it. */
  readonly exit: number;
  readonly duration_ms: number;
  readonly request_id: string;
  readonly meta?: PageMeta | undefined;
}

export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

export interface Renderer {
  /** One record of a stream, with its line end; empty when this mode does not show it. `json`: its text, where the caller has it. */
  record(record: LogRecord, json?: string): string;
  /** The end of a line that is open, before something else is printed beside it. */
  rest?(): string;
  end(ended: Ended): Printed;
}
