/** Messages between a daemon and its thread of telemetry. */
import type { TracedWorker } from "../../control/telemetry/traced.ts";
import type { Log } from "../log.ts";
import type { TelemetryStanding } from "../telemetry-api.ts";
import type { OtlpSource } from "./otlp.ts";
import type { TelemetrySettings } from "./settings.ts";

/** The thread begins with these. */
export interface TelemetryThreadData {
  readonly settings: TelemetrySettings;
  readonly headers: Readonly<Record<string, string>>;
  readonly source: OtlpSource;
  /** The file of the log. */
  readonly log_file: string;
  /** The history that the log has now. */
  readonly epoch: string;
  /** The file with the cursor. */
  readonly cursor_file: string;
  /** It tells of the records after this seq. */
  readonly from: number;
}

export type ToTelemetry =
  /** The log may have more. */
  | { readonly type: "written" }
  /** The answer to `unknown`. */
  | { readonly type: "workers"; readonly found: readonly (readonly [string, TracedWorker])[] }
  /** Read what is written, post what waits, and end. */
  | { readonly type: "end" };

export type FromTelemetry =
  /** The kernel's number of the thread; Linux alone has one. */
  | { readonly type: "thread"; readonly id: number }
  | { readonly type: "standing"; readonly standing: TelemetryStanding }
  /** Workers of whom it knows nothing. */
  | { readonly type: "unknown"; readonly ids: readonly string[] }
  | { readonly type: "log"; readonly told: Parameters<Log> }
  | { readonly type: "defect"; readonly where: string; readonly cause: unknown };
