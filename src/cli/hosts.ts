/** The hosts of a call: `--host`. */
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
import type { Context } from "./context.ts";
import { narrowed } from "./host-calls.ts";
import { VERSION } from "./package.ts";
import type { Call } from "./parse.ts";

/** The call with its hosts: addresses, and names of `hosts:` of config.yaml in `stateDir`. */
export const withHosts = async (call: Call, stateDir: string): Promise<Call> => {
  const given = call.flags.host as readonly string[] | undefined;
  if (given === undefined) return call;
  const names = [...new Set(given.flatMap(hostNamesIn))];
  const isNamed = names.some((name) => name !== LOCAL_HOST && parseHost(name) === undefined);
  // Loaded on demand, because it loads zod and yaml.
  const { configuration, problems = [] } = isNamed
    ? ((await import("../daemon/configuration.ts")).readConfiguration(stateDir) ?? {})
    : {};
  const named = configuration?.hosts ?? {};
  if (names.includes(ALL_HOSTS)) names.push(LOCAL_HOST, ...Object.keys(named));
  const mistakes: string[] = [];
  const hosts: NamedHost[] = [];
  for (const name of new Set(names)) {
    const address = parseHost(Object.hasOwn(named, name) ? named[name]! : name);
    if (name === "")
      mistakes.push("--host has no name before, between or after its commas: is a variable empty?");
    else if (address !== undefined || name === LOCAL_HOST) hosts.push({ name, address });
    else if (name !== ALL_HOSTS) mistakes.push(unknownHost(name, Object.keys(named)));
  }
  if (problems.length > 0 && (mistakes.length > 0 || names.includes(ALL_HOSTS)))
    mistakes.splice(0, mistakes.length, `config.yaml is not read: ${problems.join("; ")}`);
  if (hosts.length > HOSTS_MAX) mistakes.push(`--host names at most ${HOSTS_MAX} hosts`);
  return mistakes.length > 0
    ? { ...call, problems: [...call.problems, ...mistakes] }
    : narrowed({ ...call, hosts });
};

const unknownHost = (name: string, known: readonly string[]): string =>
  `--host is ssh://[USER@]MACHINE[:PORT], exec:PROGRAM ARGUMENT… that runs a command there, a name of hosts: in config.yaml, ${LOCAL_HOST} or ${ALL_HOSTS}, not "${name}"${didYouMean(name, known)}`;

/** The host on which the whole command runs; undefined if it talks to daemons from here, or cannot be run. */
export const placeOf = ({ command, hosts = [], unknown, problems }: Call): HostAddress | undefined =>
  unknown === undefined && problems.length === 0 && RUN_THERE.has(command.command)
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
