/** The gateway of `agent weblisk serve --federation`: a process and a listener of its own, for other hubs. */
import { CRASH_VARIABLE, GATEWAY_CRASH_VARIABLE } from "../../base/crash-point.ts";
import type { PeerDesk } from "../../weblisk/federation/opened.ts";
import type { ServedAgent, TaskWorkers, TlsFiles, WebliskServer } from "../../weblisk/server/opened.ts";
import type { Context } from "../context.ts";
import { listenAddress, offersOf } from "./served.ts";

interface GatewayFacts {
  readonly stateDir: string;
  readonly version: string;
  readonly agents: readonly ServedAgent[];
  readonly tasks: WebliskServer["tasks"];
  readonly desk: PeerDesk;
  readonly workers: TaskWorkers;
  readonly tls?: TlsFiles;
}

/** Its URL; undefined if none is wanted. */
export const openGateway = async (
  context: Context,
  { stateDir, version, agents, tasks, desk, workers, tls }: GatewayFacts,
): Promise<string | undefined> => {
  const { flags, env } = context;
  if (flags.federation === undefined) return undefined;
  const [{ GatewayProcess, keepOwnHub }, { ServerFiles }] = await Promise.all([
    import("../../weblisk/federation/opened.ts"),
    import("../../weblisk/server/opened.ts"),
  ]);
  const url = flags["federation-url"] as string | undefined;
  const { [CRASH_VARIABLE]: _, [GATEWAY_CRASH_VARIABLE]: crash, ...laterEnv } = env;
  const gateway = new GatewayProcess({
    opening: {
      ...{ stateDir, version, agents, offers: offersOf(context.call), hub_id: flags.hub as string },
      ...(url !== undefined && { url }),
      listen: listenAddress(flags.federation as string)!,
      ...(tls !== undefined && { tls }),
    },
    calls: {
      ...desk,
      execute: (...asked) => tasks.execute(...asked),
      outcome: (...asked) => tasks.outcome(...asked),
      cancel: (...asked) => tasks.cancel(...asked),
      isReachable: () => workers.isReachable(),
    },
    env: { ...laterEnv, ...(crash !== undefined && { [CRASH_VARIABLE]: crash }) },
    laterEnv,
    tell: (line) => context.stderr(`${line}\n`),
  });
  context.cleanups.push(() => gateway.close());
  const own = await gateway.begin();
  keepOwnHub({ files: new ServerFiles(stateDir) }, own);
  return own.url;
};
