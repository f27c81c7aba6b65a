/** The hosts of a call: `--host`. */
import { existsSync } from "node:fs";
import {
  ALL_HOSTS,
  type HostAddress,
  hostNamesIn,
  LOCAL_HOST,
  type NamedHost,
  parseHost,
} from "../base/host-address.ts";
import { HOSTS_MAX } from "../base/limits.ts";
import { didYouMean } from "../base/suggest.ts";
import { RUN_THERE } from "../commands/hosts.ts";
import type { Client } from "../daemon/client.ts";
import type { ConfigurationReading } from "../daemon/configuration.ts";
import { configurationPath } from "../daemon/paths.ts";
import { type ClusterHosts, clusterHosts, NO_CLUSTER_HOSTS, unknownNodes } from "./cluster-hosts.ts";
import type { Context, Env } from "./context.ts";
import { narrowed } from "./host-calls.ts";
import { VERSION } from "./package.ts";
import type { Call } from "./parse.ts";

/** Addresses by name, a host of the configuration before a node of the cluster. */
interface KnownHosts {
  readonly configured: Readonly<Record<string, string>>;
  readonly cluster: ClusterHosts;
  /** Mistakes of config.yaml. */
  readonly problems: readonly string[];
}

/** Loaded only where there is one, because it loads zod and yaml. */
const readConfiguration = async (stateDir: string): Promise<ConfigurationReading | undefined> =>
  existsSync(configurationPath(stateDir))
    ? (await import("../daemon/configuration.ts")).readConfiguration(stateDir)
    : undefined;

const knownHosts = async (names: readonly string[], stateDir: string, env: Env): Promise<KnownHosts> => {
  const words = names.filter((name) => name !== LOCAL_HOST && parseHost(name) === undefined);
  if (words.length === 0) return { configured: {}, cluster: NO_CLUSTER_HOSTS, problems: [] };
  const { configuration, problems = [] } = (await readConfiguration(stateDir)) ?? {};
  const configured = configuration?.hosts ?? {};
  const isOfCluster = words.some((name) => name !== "" && !Object.hasOwn(configured, name));
  const cluster = isOfCluster ? await clusterHosts(stateDir, env) : NO_CLUSTER_HOSTS;
  return { configured, cluster, problems };
};

/** This machine, the hosts of the configuration, and the nodes that it does not have under another name. */
const allHosts = ({ configured, cluster }: KnownHosts): readonly string[] => {
  const addresses = new Set(Object.values(configured));
  const nodes = Object.entries(cluster.addresses).flatMap(([name, address]) =>
    addresses.has(address) ? [] : [name],
  );
  return [LOCAL_HOST, ...Object.keys(configured), ...nodes];
};

/** The call with its hosts: addresses, names of `hosts:` of config.yaml in `stateDir`, and nodes of its daemon's cluster. */
export const withHosts = async (call: Call, stateDir: string, env: Env): Promise<Call> => {
  const given = call.flags.host as readonly string[] | undefined;
  if (given === undefined) return call;
  const names = [...new Set(given.flatMap(hostNamesIn))];
  const known = await knownHosts(names, stateDir, env);
  const { cluster, problems } = known;
  const named = { ...cluster.addresses, ...known.configured };
  const isAll = names.includes(ALL_HOSTS);
  if (isAll) names.push(...allHosts(known));
  const mistakes: string[] = [];
  const hosts: NamedHost[] = [];
  for (const name of new Set(names)) {
    const address = parseHost(Object.hasOwn(named, name) ? named[name]! : name);
    if (name === "")
      mistakes.push("--host has no name before, between or after its commas: is a variable empty?");
    else if (address !== undefined || name === LOCAL_HOST || name === cluster.self)
      hosts.push({ name, address });
    else if (name !== ALL_HOSTS) {
      if (cluster.trouble !== undefined) return { ...call, unknown: unknownNodes(cluster.trouble) };
      mistakes.push(unknownHost(name, Object.keys(named)));
    }
  }
  if (isAll && cluster.trouble !== undefined)
    hosts.push({ name: "cluster", address: undefined, trouble: cluster.trouble });
  if (problems.length > 0 && (mistakes.length > 0 || isAll))
    mistakes.splice(0, mistakes.length, `config.yaml is not read: ${problems.join("; ")}`);
  if (hosts.length > HOSTS_MAX) mistakes.push(`--host names at most ${HOSTS_MAX} hosts`);
  return mistakes.length > 0
    ? { ...call, problems: [...call.problems, ...mistakes] }
    : narrowed({ ...call, hosts });
};

const unknownHost = (name: string, known: readonly string[]): string =>
  `--host is ssh://[USER@]MACHINE[:PORT], exec:PROGRAM ARGUMENT… that runs a command there, a name of hosts: in config.yaml, a node of the cluster with an endpoint, ${LOCAL_HOST} or ${ALL_HOSTS}, not "${name}"${didYouMean(name, known)}`;

/** The one host on which the whole command runs; undefined if it talks to daemons from here, or cannot be run. */
export const placeOf = ({ command, hosts = [], unknown, problems }: Call): HostAddress | undefined =>
  unknown === undefined && problems.length === 0 && RUN_THERE.has(command.command) && hosts.length === 1
    ? hosts[0]?.address
    : undefined;

/** Keeps one connection at a time to the daemon of a host. After it broke, the next one is made on demand. */
export const hostConnector = (
  host: HostAddress,
  stateDir: string | undefined,
  onConnect: (version: string) => void,
  cleanups: Context["cleanups"],
): Context["connect"] => {
  let client: Client | undefined;
  return async ({ start = false } = {}) => {
    if (client === undefined || client.isBroken()) {
      const { connectHost } = await import("../daemon/host-link.ts");
      const linked = await connectHost({ host, stateDir, start });
      client = linked.client;
      cleanups.push(() => linked.client.close());
      onConnect(linked.version);
    }
    return client;
  };
};

export const hostVersionProblem = (host: string, version: string): string | undefined =>
  version === VERSION
    ? undefined
    : `The daemon of ${host} is version ${version} and this command is version ${VERSION}; bring it to this one with: agent daemon upgrade`;
