/**
 * Turns the failure of a worker or turn into the error of the command that asked for it: with the same code, and so the same
 * exit code. Pure.
 */
import type { WorkerError } from "./completion.ts";
import { ERROR_CATALOGUE, type ErrorCode, type ErrorDetails, HoldfastError } from "./errors.ts";

/** Exit codes of G1 about the command itself: its arguments, its name, its interruption. */
const OF_THE_COMMAND: readonly number[] = [3, 13, 130];

/** The error code for the caller. An unknown code, or one about the command itself, becomes AGENT_FAILED. */
export const failureCode = ({ code }: Pick<WorkerError, "code">): ErrorCode => {
  const row = Object.hasOwn(ERROR_CATALOGUE, code) ? ERROR_CATALOGUE[code] : undefined;
  return row === undefined || OF_THE_COMMAND.includes(row.exit) ? "AGENT_FAILED" : code;
};

/** Codes that only the worker's records explain. */
const SEE_RECORDS: readonly ErrorCode[] = [
  "AGENT_FAILED",
  "WORKER_FAILED",
  "WORKER_LOST",
  "WORKER_CANCELLED",
  "SUPERVISOR_GAVE_UP",
  "PARTIAL_FAILURE",
];

/** `suggestion` is used for the codes whose own next step is only to look at the records. */
export const failure = (
  code: ErrorCode,
  message: string,
  { suggestion, ...info }: ErrorDetails & { readonly suggestion: string },
): HoldfastError =>
  new HoldfastError(code, message, { ...info, ...(SEE_RECORDS.includes(code) && { suggestion }) });
