/** The answers of several hosts as one. With several hosts, `data` is a list of rows, each with its host. Pure. */
import { HoldfastError } from "../protocol/errors.ts";
import { success } from "../protocol/outcome.ts";
import type { CommandResult } from "./context.ts";
import { LIST_MEMBER } from "./render/json.ts";

export interface HostResult {
  readonly host: string;
  readonly result: CommandResult;
}

export interface HostRow {
  readonly host: string;
}

/** The member of the answers of several hosts that has the rows: that of a list, which has a row for each of its own. */
export const rowsMember = (command: string): string => LIST_MEMBER[command] ?? "hosts";

const rowsOf = (command: string, { host, result: { value } }: HostResult): readonly HostRow[] => {
  if (value === undefined) return [];
  const member = LIST_MEMBER[command];
  if (member === undefined) return [{ host, ...(value as object) }];
  const rows = (value as Readonly<Record<string, readonly object[]>>)[member] ?? [];
  return rows.map((row) => ({ host, ...row }));
};

/** The rows of each host, as the host's own answer: what `rowsOf` has put together. */
export const answersIn = (command: string, value: object): ReadonlyMap<string, object> => {
  const rows = (value as Readonly<Record<string, readonly HostRow[]>>)[rowsMember(command)] ?? [];
  const member = LIST_MEMBER[command];
  const answers = new Map<string, object>();
  for (const { host, ...row } of rows) {
    const own =
      member === undefined ? undefined : (answers.get(host) as Record<string, object[]> | undefined);
    if (own !== undefined) own[member!]!.push(row);
    else answers.set(host, member === undefined ? row : { [member]: [row] });
  }
  return answers;
};

/** A host that failed is named in the error, and in its `details.hosts`; the rows of the others are there all the same. */
export const merged = (command: string, results: readonly HostResult[]): CommandResult => {
  const value = { [rowsMember(command)]: results.flatMap((each) => rowsOf(command, each)) };
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
    suggestion: first.error.suggestion,
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
