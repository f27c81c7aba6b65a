/** Commands on another host: `--host`. */
import { type HostAddress, parseHost } from "../base/host-address.ts";
import { didYouMean } from "../base/suggest.ts";
import { RUN_THERE } from "../commands/hosts.ts";
import type { Client } from "../daemon/client.ts";
import type { Context } from "./context.ts";
import { VERSION } from "./package.ts";
import type { Call } from "./parse.ts";

/** The call with the address in the place of the name of a host, from `hosts:` of config.yaml in `stateDir`. */
export const withHost = async (call: Call, stateDir: string): Promise<Call> => {
  const { host } = call.flags;
  if (typeof host !== "string" || parseHost(host) !== undefined) return call;
  // Loaded on demand, because it loads zod and yaml.
  const { readConfiguration } = await import("../daemon/configuration.ts");
  const { configuration, problems = [] } = readConfiguration(stateDir) ?? {};
  const named = configuration?.hosts ?? {};
  if (Object.hasOwn(named, host)) return { ...call, flags: { ...call.flags, host: named[host] } };
  const why =
    problems.length > 0
      ? `config.yaml is not read: ${problems.join("; ")}`
      : `--host is ssh://[USER@]MACHINE[:PORT], exec:PROGRAM ARGUMENT… that runs a command there, or a name of hosts: in config.yaml, not "${host}"${didYouMean(host, Object.keys(named))}`;
  return { ...call, problems: [...call.problems, why] };
};

/** The host on which the whole command runs; undefined if it talks to a daemon from here, or cannot be run. */
export const placeOf = ({ command, flags, unknown, problems }: Call): HostAddress | undefined =>
  typeof flags.host === "string" &&
  unknown === undefined &&
  problems.length === 0 &&
  RUN_THERE.has(command.command)
    ? parseHost(flags.host)
    : undefined;

/** Keeps one connection at a time to the daemon of a host. After it broke, the next one is made on demand. */
export const hostConnector = (
  text: string,
  stateDir: string | undefined,
  onConnect: (version: string) => void,
  cleanups: Context["cleanups"],
): Context["connect"] => {
  let client: Client | undefined;
  return async ({ start = false } = {}) => {
    if (client === undefined || client.isBroken()) {
      const { connectHost } = await import("../daemon/host-link.ts");
      const linked = await connectHost({ host: parseHost(text)!, stateDir, start });
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
    : `The daemon of ${host} is version ${version} and this command is version ${VERSION}; bring it to this one there with: agent daemon upgrade`;
