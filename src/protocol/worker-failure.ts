/**
 * Why a worker or a turn failed, as the error of a command that asked for it: the same code, and with it its exit code. Pure.
 */
import type { WorkerError } from "./completion.ts";
import { ERROR_CATALOGUE, type ErrorCode, type ErrorDetails, HoldfastError } from "./errors.ts";

/** Exit codes of G1 that speak of the command itself: its arguments (nothing was done), another name, an interrupt. */
const OF_THE_COMMAND: readonly number[] = [3, 13, 130];

/** The catalogue's row that a caller is told. A code that it does not know, or that speaks of the command, is AGENT_FAILED. */
export const failureCode = ({ code }: Pick<WorkerError, "code">): ErrorCode => {
  const row = Object.hasOwn(ERROR_CATALOGUE, code) ? ERROR_CATALOGUE[code] : undefined;
  return row === undefined || OF_THE_COMMAND.includes(row.exit) ? "AGENT_FAILED" : code;
};

/** Codes of which only the worker's records say more. */
const SEE_RECORDS: readonly ErrorCode[] = [
  "AGENT_FAILED",
  "WORKER_FAILED",
  "WORKER_LOST",
  "WORKER_CANCELLED",
  "SUPERVISOR_GAVE_UP",
  "PARTIAL_FAILURE",
];

/** `suggestion` goes with the codes whose own next step is only to look. */
export const failure = (
  code: ErrorCode,
  message: string,
  { suggestion, ...info }: ErrorDetails & { readonly suggestion: string },
): HoldfastError =>
  new HoldfastError(code, message, { ...info, ...(SEE_RECORDS.includes(code) && { suggestion }) });
