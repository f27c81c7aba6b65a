/** The answers of several hosts as one. With several hosts, `data` is a list of rows, each with its host. Pure. */
import { eachOnce } from "../base/shared-rows.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { success } from "../protocol/outcome.ts";
import type { CommandResult } from "./context.ts";
import { rowsMember, rowsOf } from "./render/host-rows.ts";

export interface HostResult {
  readonly host: string;
  readonly result: CommandResult;
}

/** A host that failed is named in the error, and in its `details.hosts`; the rows of the others are there all the same. */
export const merged = (command: string, results: readonly HostResult[]): CommandResult => {
  const rows = results.flatMap(({ host, result: { value: own } }) =>
    own === undefined ? [] : rowsOf(command, host, own as object),
  );
  const value = { [rowsMember(command)]: eachOnce(rows) };
  const warnings = results.flatMap(({ host, result }) =>
    (result.warnings ?? []).map((text) => `${host}: ${text}`),
  );
  const isTruncated = results.some(({ result }) => result.meta?.truncated === true);
  const meta = isTruncated ? { meta: { truncated: true } } : {};
  const error = errorOf(results);
  if (error === undefined) return { ...success(value, warnings), ...meta };
  return { ok: false, error, value, warnings, ...meta };
};

const errorOf = (results: readonly HostResult[]): HoldfastError | undefined => {
  const failed = results.flatMap(({ host, result }) => (result.ok ? [] : [{ host, error: result.error }]));
  const [first] = failed;
  if (first === undefined) return undefined;
  const isAlike =
    failed.length === results.length && failed.every(({ error }) => error.code === first.error.code);
  const said = failed.map(({ host, error }) => `${host}: ${error.message}`).join(" ");
  const of = `${failed.length} of ${results.length} hosts failed.`;
  return new HoldfastError(isAlike ? first.error.code : "PARTIAL_FAILURE", `${of} ${said}`, {
    suggestion: `${first.host}: ${first.error.suggestion}`,
    details: {
      hosts: failed.map(({ host, error: { code, message, suggestion } }) => ({
        host,
        code,
        message,
        suggestion,
      })),
    },
  });
};
