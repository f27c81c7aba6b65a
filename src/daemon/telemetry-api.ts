/** Telemetry as the status of a daemon shows it, whether it is on or not. */

export interface TelemetryStanding {
  /** The collector's host and port; no path and no header, which may be secrets. Null if nothing is sent because of `failing`. */
  readonly endpoint: string | null;
  readonly spans_sent: number;
  /** Spans that found no room, or that the collector refused. */
  readonly spans_dropped: number;
  readonly spans_waiting: number;
  /** Why the newest post failed; null if it did not. */
  readonly failing: string | null;
}

export interface TelemetryApi {
  /** Null if nobody asked for telemetry. */
  standing(): TelemetryStanding | null;
}

export const NO_TELEMETRY: TelemetryApi = { standing: () => null };
