/** The rows of several hosts in one answer, each with its host: of a list its own rows, of another command one row a host. Pure. */
import { LIST_MEMBER } from "./json.ts";

export interface HostRow {
  readonly host: string;
}

/** The member that has the rows. */
export const rowsMember = (command: string): string => LIST_MEMBER[command] ?? "hosts";

export const rowsOf = (command: string, host: string, value: object): readonly HostRow[] => {
  const member = LIST_MEMBER[command];
  if (member === undefined) return [{ host, ...value }];
  const rows = (value as Readonly<Record<string, readonly object[]>>)[member] ?? [];
  return rows.map((row) => ({ host, ...row }));
};

/** The answer of each host again, without what is in no row. */
export const answersIn = (command: string, value: object): ReadonlyMap<string, object> => {
  const rows = (value as Readonly<Record<string, readonly HostRow[]>>)[rowsMember(command)] ?? [];
  const member = LIST_MEMBER[command];
  const answers = new Map<string, object>();
  for (const [host, own] of Map.groupBy(rows, (row) => row.host)) {
    const answered = own.map(({ host: _, ...row }) => row);
    answers.set(host, member === undefined ? answered[0]! : { [member]: answered });
  }
  return answers;
};
