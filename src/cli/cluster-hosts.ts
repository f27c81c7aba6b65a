/** The nodes of a cluster as hosts of a call. This machine's daemon knows them, if it is a node itself. */
import { existsSync } from "node:fs";
import { ALL_HOSTS, LOCAL_HOST, parseHost } from "../base/host-address.ts";
import { clusterFile } from "../daemon/paths.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { type CommandResult, type Context, connector, type Env } from "./context.ts";
import type { Call } from "./parse.ts";

export interface ClusterHosts {
  /** The addresses of the other nodes that have one, by the names of the nodes. */
  readonly addresses: Readonly<Record<string, string>>;
  /** The node that this machine's daemon is. */
  readonly self?: string;
  /** Why the nodes are not known. */
  readonly trouble?: string;
}

export const NO_CLUSTER_HOSTS: ClusterHosts = { addresses: {} };

/** A name of the database is no word of `--host`, and nothing that a terminal acts on. */
const isName = (name: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) && name !== LOCAL_HOST && name !== ALL_HOSTS;

/** Asks the daemon only where its state directory has the file of a node, so that a call without a cluster costs no request. */
export const clusterHosts = async (stateDir: string, env: Env): Promise<ClusterHosts> => {
  if (!existsSync(clusterFile(stateDir))) return NO_CLUSTER_HOSTS;
  const cleanups: Context["cleanups"] = [];
  try {
    const client = await connector(stateDir, env, process.cwd(), () => undefined, cleanups)();
    const { self, nodes } = await client.request("cluster/status", {});
    if (self === null) return NO_CLUSTER_HOSTS;
    if (nodes === null)
      return {
        addresses: {},
        self: self.name,
        trouble: "The nodes of the cluster are not known, because its database does not answer.",
      };
    const others = nodes.flatMap(({ name, state, endpoint }): (readonly [string, string])[] =>
      isName(name) && name !== self.name && state !== "left" && parseHost(endpoint ?? "") !== undefined
        ? [[name, endpoint!]]
        : [],
    );
    return { addresses: Object.fromEntries(others), self: self.name };
  } catch (cause) {
    const { message } = asHoldfastError(cause);
    return { addresses: {}, trouble: `The nodes of the cluster are not known: ${message}` };
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
};

/** The error of a host that stands for nodes which are not known. */
export const unknownNodes = (trouble: string): HoldfastError =>
  new HoldfastError("UNAVAILABLE", trouble, {
    suggestion: "Look at the cluster with `agent cluster status`, or name the address: --host ssh://…",
  });

const namesWorkers = ({ command: { args } }: Call): boolean =>
  args.some(({ complete }) => complete === "worker" || complete === "living");

/** The result of a call for this machine alone: a worker that is not here may be on another node. */
export const elsewhereToo = (result: CommandResult, call: Call, stateDir: string): CommandResult => {
  if (result.ok || result.error.code !== "WORKER_NOT_FOUND" || !namesWorkers(call)) return result;
  if (!existsSync(clusterFile(stateDir))) return result;
  const { code, message, info, suggestion } = result.error;
  const error = new HoldfastError(code, message, {
    ...info,
    suggestion: `${suggestion.replace(/\.$/, "")}; those of other nodes of the cluster: agent --host all list`,
  });
  return { ...result, error };
};
