/** Pages of a placed worker's records from the cluster's copy: they are there also where its machine is lost. */
import { READ_PAGE_MAX_CHARS } from "../../base/limits.ts";
import type { CopiedRow, Copies } from "../../cluster/postgres/copies.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { CopiedPage } from "../../protocol/replies/cluster.ts";
import type { RequestData } from "../../protocol/requests.ts";

/** Throws WORKER_NOT_FOUND. */
export const copiedPage = async (
  copies: Copies,
  { worker, after, tail }: RequestData<"cluster/records">,
): Promise<CopiedPage> => {
  const found = await copies.of(worker);
  if (found === undefined)
    throw new HoldfastError("WORKER_NOT_FOUND", `The cluster has placed no worker ${worker}.`);
  const { worker_id: id, ...of } = found;
  const source = { source: "copy" as const, ...of, id };
  if (id === null) return { ...source, records: [], next: null };
  const rows = await copies.page(found.name, id, { after, tail });
  if (tail !== undefined) {
    const some = withinSize(rows.toReversed()).toReversed();
    return { ...source, records: some.map(recordOf), next: null };
  }
  const some = withinSize(rows);
  return { ...source, records: some.map(recordOf), next: some.at(-1)?.place ?? null };
};

/** At least one. */
const withinSize = (rows: readonly CopiedRow[]): readonly CopiedRow[] => {
  let left = READ_PAGE_MAX_CHARS;
  const end = rows.findIndex(({ text }, at) => {
    left -= text.length;
    return left < 0 && at > 0;
  });
  return end === -1 ? rows : rows.slice(0, end);
};

const recordOf = ({ text }: CopiedRow): LogRecord => JSON.parse(text);
