/** agent logs of a worker that a cluster placed on another node: its records as the cluster's copy has them. */
import { READ_PAGE_RECORDS } from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { success } from "../../protocol/outcome.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { CopiedPage } from "../../protocol/replies/cluster.ts";
import type { CommandResult, Context } from "../context.ts";
import { copySentence, isAtNode, notHereAndAway } from "./elsewhere.ts";

/** Newest last, of which so many are to be shown. */
type ChoiceOfNewest = (records: readonly LogRecord[], count: number) => readonly LogRecord[];

/** Undefined: the cluster does not know it either. Throws UNAVAILABLE where the database is away. */
export const logsOfCopy = async (
  context: Context,
  client: Client,
  isWanted: (record: LogRecord) => boolean,
  shown: ChoiceOfNewest,
): Promise<CommandResult | undefined> => {
  const { call, flags } = context;
  const [worker] = call.args;
  if (worker === undefined || call.args.length > 1 || flags.raw || !isAtNode(context)) return undefined;
  const count = flags.tail as number | undefined;
  const tail = count === undefined ? undefined : READ_PAGE_RECORDS;
  const first = await client.ask("cluster/records", { worker, tail });
  if (!first.ok) {
    if (first.error.code === "UNAVAILABLE") throw notHereAndAway(worker, first.error);
    return undefined;
  }
  const { records: _, next: __, place: ___, ...source } = first.value;
  if (source.id !== null) context.know(source.id, source.name);
  context.notice(copySentence("These records are", source));
  if (flags.follow) context.notice("A copy is not followed: its records end here.");
  let told = 0;
  let page: CopiedPage = first.value;
  for (;;) {
    const wanted = page.records.filter(isWanted);
    for (const record of count === undefined ? wanted : shown(wanted, count)) {
      await context.record(record);
      told++;
    }
    if (page.next === null) break;
    page = await client.request("cluster/records", { worker, after: page.next });
  }
  return success({ ...source, records: told });
};
