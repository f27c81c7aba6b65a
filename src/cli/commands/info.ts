/** `agent info`: one worker, with its newest records. */
import { READ_PAGE_RECORDS } from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { asHoldfastError, isOfCluster } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { ElsewhereWorker } from "../../protocol/replies/cluster.ts";
import type { CommandHandler, CommandResult, Context } from "../context.ts";
import type { ShownElsewhere } from "../render/elsewhere.ts";
import { isShown } from "../render/sentences.ts";
import type { ShownWorker } from "../render/text.ts";
import { copySentence, elsewhereNamed } from "./elsewhere.ts";
import { newestRecords } from "./logs.ts";

/** How many of a worker's newest records `agent info` shows, as `systemctl status` shows the end of the journal. */
const RECENT_RECORDS = 8;

export const info: CommandHandler = async (context) => {
  const client = await context.connect();
  const ref = context.call.args[0]!;
  const found = await client.ask("agent/info", { id: ref, resources: true });
  if (!found.ok) {
    const mayBeElsewhere = found.error.code === "WORKER_NOT_FOUND" || isOfCluster(found.error);
    const other = mayBeElsewhere ? await elsewhereNamed(context, client, ref) : undefined;
    if (other === undefined) throw found.error;
    return infoOfCopy(context, client, other);
  }
  const worker = found.value;
  if (context.mode !== "text") return success(worker);
  const recent = await newestRecords(client, worker, RECENT_RECORDS, { shown: isShown }).catch((cause) => {
    // Its node has answered, and its records are in the log of that node.
    if (asHoldfastError(cause).code === "WORKER_NOT_FOUND") return newestOfCopy(client, worker.id);
    throw cause;
  });
  return success({ ...worker, recent } satisfies ShownWorker);
};

const newestOfCopy = async (client: Client, worker: string): Promise<readonly LogRecord[]> => {
  const page = await client.ask("cluster/records", { worker, tail: READ_PAGE_RECORDS });
  return page.ok ? page.value.records.filter(isShown).slice(-RECENT_RECORDS) : [];
};

const infoOfCopy = async (
  context: Context,
  client: Client,
  worker: ElsewhereWorker,
): Promise<CommandResult> => {
  context.notice(copySentence("This is", worker));
  if (context.mode !== "text") return success(worker);
  const recent = await newestOfCopy(client, worker.name);
  return success({ ...worker, recent } satisfies ShownElsewhere);
};
