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
  { worker, runs, past, subtree, after, tail }: RequestData<"cluster/records">,
): Promise<CopiedPage> => {
  const found = await copies.of(worker);
  if (found === undefined)
    throw new HoldfastError("WORKER_NOT_FOUND", `The cluster has placed no worker ${worker}.`);
  const { worker_id: id, ...of } = found;
  const source = { source: "copy" as const, ...of, id };
  const pageOf = (rows: readonly CopiedRow[], from: number): CopiedPage => {
    const some = withinSize(rows);
    const next = some.at(-1)?.place ?? null;
    return { ...source, records: some.map(recordOf), next, place: next ?? from };
  };
  if (runs === "all") {
    const from = after > 0 || past === undefined ? after : await copies.upTo(found.name, past);
    if (from !== undefined)
      return pageOf(await copies.runs(found.name, id, { past, after: from, subtree }), from);
    // Nothing of that run was copied, so its later runs cannot be told from earlier ones: the newest is a later one.
    if (id === past) return pageOf([], after);
  }
  if (id === null) return pageOf([], after);
  const rows = await copies.page(found.name, id, { after, tail });
  if (tail === undefined) return pageOf(rows, after);
  const some = withinSize(rows.toReversed()).toReversed();
  return { ...source, records: some.map(recordOf), next: null, place: some.at(-1)?.place ?? after };
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
