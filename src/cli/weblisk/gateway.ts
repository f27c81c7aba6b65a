/** The gateway of `agent weblisk serve --federation`: a listener of its own, for other hubs. */
import { authorityOf } from "../../base/http-address.ts";
import type { GatewayGround } from "../../weblisk/federation/opened.ts";
import type { Context } from "../context.ts";
import { listenAddress, offersOf } from "./served.ts";

type GatewayFacts = Omit<GatewayGround, "files" | "key" | "own" | "offers"> & { readonly stateDir: string };

/** Its URL; undefined if none is wanted. */
export const openGateway = async (context: Context, facts: GatewayFacts): Promise<string | undefined> => {
  const { flags } = context;
  if (flags.federation === undefined) return undefined;
  const [{ FederationGateway, keepOwnHub }, { listen, ServerFiles }, { ensureIdentity, ORCHESTRATOR }] =
    await Promise.all([
      import("../../weblisk/federation/opened.ts"),
      import("../../weblisk/server/opened.ts"),
      import("../../weblisk/identity/opened.ts"),
    ]);
  const files = new ServerFiles(facts.stateDir);
  const { key } = ensureIdentity(facts.stateDir, ORCHESTRATOR);
  const offers = offersOf(context.call);
  let gateway: InstanceType<typeof FederationGateway> | undefined;
  const { address, close } = await listen(
    { answer: (request) => gateway!.answer(request) },
    listenAddress(flags.federation as string)!,
  );
  context.cleanups.push(close);
  const said = (flags["federation-url"] as string | undefined) ?? `http://${authorityOf(address)}`;
  const own = {
    hub_id: flags.hub as string,
    url: said.replace(/\/+$/, ""),
    capabilities: Object.keys(offers).sort(),
  };
  gateway = new FederationGateway({ ...facts, files, key, own, offers });
  keepOwnHub({ files }, own);
  return own.url;
};
