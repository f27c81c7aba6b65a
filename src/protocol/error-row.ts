/** The shape of a row of the error catalogue (errors.ts), and of the facts that an error carries. */

/** protocol-v1.txt, Error catalog: the fifteen codes. */
export type V1Code =
  | "EARG"
  | "EAUTH"
  | "ERATELIMIT"
  | "EPAGINATION"
  | "ERUNTIME"
  | "ENOTFOUND"
  | "ETIMEOUT"
  | "EPOLICY"
  | "ESKILLDOWN"
  | "EPARSE"
  | "EOUTPUT_TOO_LARGE"
  | "EENVELOPE"
  | "EIO"
  | "ECANCELED"
  | "EOPENAPI";

export interface ErrorRow {
  readonly v1: V1Code;
  readonly exit: number;
  readonly http: number;
  readonly retryable: boolean;
  readonly effects: "none" | "partial" | "complete";
  readonly next: string;
  /**
   * The consequence for a worker that failed with this error. `policy`: its restart policy decides. `never`: no restart can
   * help, so it is not restarted unless its spec asks for that.
   */
  readonly restart: "policy" | "never";
}

/** The contracts' part of a row: Protocol v1 code, exit code, HTTP status, whether a retry is safe, effects. */
type InContracts = readonly [
  ErrorRow["v1"],
  ErrorRow["exit"],
  ErrorRow["http"],
  ErrorRow["retryable"],
  ErrorRow["effects"],
];

export const row = (
  [v1, exit, http, retryable, effects]: InContracts,
  next: string,
  restart: ErrorRow["restart"] = "policy",
): ErrorRow => ({ v1, exit, http, retryable, effects, next, restart });

/** response-envelope.txt, Redirect. */
export interface Redirect {
  readonly command: string;
  /** The old form never works again, so a client can remember the new one. */
  readonly permanent: boolean;
  readonly reason: "renamed" | "typo_corrected";
}
