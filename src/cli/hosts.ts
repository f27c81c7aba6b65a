/** Commands on another host: `--host`. */
import { parseHost } from "../base/host-address.ts";
import { STAYS_HERE } from "../commands/hosts.ts";
import type { Client } from "../daemon/client.ts";
import type { Context } from "./context.ts";
import { VERSION } from "./package.ts";
import type { Call } from "./parse.ts";

/** Mistakes of `--host`. */
export const hostProblems = ({ command, flags, unknown }: Call): readonly string[] => {
  if (typeof flags.host !== "string" || unknown !== undefined) return [];
  if (parseHost(flags.host) === undefined)
    return [
      `--host is ssh://[USER@]MACHINE[:PORT], or exec:PROGRAM ARGUMENT… that runs a command there, not "${flags.host}"`,
    ];
  return STAYS_HERE.has(command.command)
    ? [
        `agent ${command.words.join(" ")} needs files or programs of the machine on which it runs, so --host is not possible: run it on that machine`,
      ]
    : [];
};

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
