/** The error in a line of a program of ours, read as if anybody could have printed it. */
import { asCount, asObject, asString } from "../../base/json.ts";
import { ERROR_CATALOGUE, type ErrorCode } from "../../protocol/errors.ts";
import type { WorkerError } from "../../protocol/records.ts";
import { UNKNOWN_END } from "./dialogue.ts";

export const errorIn = (given: unknown): WorkerError | null => {
  if (given === null) return null;
  const error = asObject(given);
  const code = asString(error?.code);
  if (code === undefined || !Object.hasOwn(ERROR_CATALOGUE, code)) return UNKNOWN_END;
  const retry_after_s = asCount(error?.retry_after_s);
  return {
    code: code as ErrorCode,
    message: asString(error?.message) ?? UNKNOWN_END.message,
    ...(retry_after_s === 0 ? {} : { retry_after_s }),
  };
};
