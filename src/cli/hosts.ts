/** Commands on another host: `--host`. */
import { type HostAddress, parseHost } from "../base/host-address.ts";
import { RUN_THERE } from "../commands/hosts.ts";
import type { Client } from "../daemon/client.ts";
import type { Context } from "./context.ts";
import { VERSION } from "./package.ts";
import type { Call } from "./parse.ts";

/** Mistakes of `--host`. */
export const hostProblems = ({ flags }: Call): readonly string[] =>
  typeof flags.host !== "string" || parseHost(flags.host) !== undefined
    ? []
    : [
        `--host is ssh://[USER@]MACHINE[:PORT], or exec:PROGRAM ARGUMENT… that runs a command there, not "${flags.host}"`,
      ];

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
