/** Placed workers of other nodes, for commands that look at this machine: what the cluster's copy knows of them (decision 0092). */
import { existsSync } from "node:fs";
import type { Client } from "../../daemon/client.ts";
import { clusterFile } from "../../daemon/paths.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CopySource, ElsewhereWorker } from "../../protocol/replies/cluster.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import type { CommandResult, Context } from "../context.ts";
import { oneLine } from "../render/terminal.ts";
import { duration } from "../render/units.ts";

/** The daemon that is asked is that of this machine, and a node. */
export const isAtNode = ({ call, stateDir }: Context): boolean =>
  call.hosts === undefined && existsSync(clusterFile(stateDir));

/** None where nobody may look, and none with a warning where the database is away. */
export const elsewhere = async (
  context: Context,
  client: Client,
  asked: RequestInput<"cluster/workers"> = {},
): Promise<readonly ElsewhereWorker[]> => {
  if (!isAtNode(context)) return [];
  const seen = await client.ask("cluster/workers", asked);
  if (seen.ok) {
    const { workers, next } = seen.value;
    if (next !== null) context.warn(`Other nodes have more workers; these are the first ${workers.length}.`);
    return workers;
  }
  if (seen.error.code === "UNAVAILABLE")
    context.warn(`The workers of other nodes are not shown: ${seen.error.message}`);
  return [];
};

/** In JSON they stand in `meta`: `data` is of this machine alone. */
export const withElsewhere = (value: object, workers: readonly ElsewhereWorker[]): CommandResult =>
  workers.length === 0
    ? success(value)
    : { ...success({ ...value, elsewhere: workers }), meta: { elsewhere: workers } };

/** Undefined where the cluster does not know it either. Throws UNAVAILABLE where the database is away. */
export const elsewhereNamed = async (
  context: Context,
  client: Client,
  worker: string,
): Promise<ElsewhereWorker | undefined> => {
  if (!isAtNode(context)) return undefined;
  const seen = await client.ask("cluster/workers", { worker });
  if (seen.ok) return seen.value.workers[0];
  if (seen.error.code !== "UNAVAILABLE") return undefined;
  throw notHereAndAway(worker, seen.error);
};

/** The database is away, so nobody can say that there is no such worker. */
export const notHereAndAway = (
  worker: string,
  { message, suggestion }: Pick<HoldfastError, "message" | "suggestion">,
): HoldfastError =>
  new HoldfastError(
    "UNAVAILABLE",
    `This machine has no worker ${oneLine(worker)}, and the cluster gives no answer: ${message}`,
    { suggestion },
  );

export const copySentence = (what: string, { node, node_state, beat_age_ms, through }: CopySource): string =>
  node === null
    ? `${what} from the cluster's copy; no node has the worker now.`
    : `${what} from the cluster's copy, up to record ${through ?? 0} of the node ${oneLine(node)}, which is ${node_state} and renewed its lease ${duration(beat_age_ms ?? 0)} ago.`;
