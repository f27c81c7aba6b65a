/**
 * The program of a federation gateway: it listens to other hubs, checks signatures and strips fields. A fault or a flood in it stops
 * nothing of the Weblisk server that has begun it, which starts it again. It ends with its server.
 */
import { randomBytes } from "node:crypto";
import { constants, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { armHere } from "../../base/crash-point.ts";
import { SealedVault } from "../../base/files/sealed-vault.ts";
import { FEDERATION_LISTEN_LOOK_MS, FEDERATION_LISTEN_WAIT_MS } from "../../base/limits.ts";
import { ensureIdentity, ORCHESTRATOR } from "../identity/opened.ts";
import { ServerFiles } from "../server/files.ts";
import { type Listening, listen } from "../server/listener.ts";
import { readTlsPair } from "../server/tls-files.ts";
import {
  failureOf,
  GATEWAY_CALLS,
  type GatewayCalls,
  type GatewayMessage,
  type GatewayOpening,
  type ServerMessage,
  thrownBy,
} from "./calls.ts";
import { FEDERATION_TLS } from "./exchange.ts";
import { FederationGateway } from "./gateway.ts";

interface UnansweredCall {
  readonly resolve: (value: never) => void;
  readonly reject: (thrown: Error) => void;
}

const pending = new Map<number, UnansweredCall>();
let sent = 0;

const send = (message: GatewayMessage): void => void process.send?.(message);

const call = (name: keyof GatewayCalls, args: readonly unknown[]): Promise<never> =>
  new Promise((resolve, reject) => {
    sent += 1;
    pending.set(sent, { resolve, reject });
    send({ type: "call", id: sent, name, args });
  });

/** Each call is a message to the server. */
const calls = Object.fromEntries(
  GATEWAY_CALLS.map((name) => [name, (...args: readonly unknown[]) => call(name, args)]),
) as unknown as GatewayCalls;

/** The place may still be that of a gateway whose server was killed. */
const listening = async (
  server: Pick<FederationGateway, "answer">,
  { listen: at, tls }: Pick<GatewayOpening, "listen" | "tls">,
): Promise<Listening> => {
  const until = performance.now() + FEDERATION_LISTEN_WAIT_MS;
  const terms = tls && { tls: { ...readTlsPair(tls, new Date()), minVersion: FEDERATION_TLS } };
  for (;;) {
    try {
      return await listen(server, at, terms);
    } catch (cause) {
      if (performance.now() > until) throw cause;
      await sleep(FEDERATION_LISTEN_LOOK_MS);
    }
  }
};

const open = async (opening: GatewayOpening): Promise<void> => {
  const { stateDir, version, agents, offers, hub_id } = opening;
  const files = new ServerFiles(stateDir);
  const { key } = ensureIdentity(stateDir, ORCHESTRATOR);
  let gateway: FederationGateway | undefined;
  const { address, url } = await listening({ answer: (request) => gateway!.answer(request) }, opening);
  const own = {
    hub_id,
    url: (opening.url ?? url).replace(/\/+$/, ""),
    capabilities: Object.keys(offers).sort(),
  };
  gateway = new FederationGateway({
    vault: new SealedVault(stateDir),
    ...{ files, key, own, offers, version, agents, randomBytes },
    ...{ desk: calls, tasks: calls, workers: calls, now: Date.now },
    tell: (defect) =>
      process.stderr.write(`A request failed: ${defect instanceof Error ? defect.stack : String(defect)}\n`),
  });
  send({ type: "listening", address, own });
};

const take = (message: ServerMessage): void => {
  if (message.type === "open")
    return void open(message.opening).catch((cause: unknown) =>
      send({ type: "unable", failure: failureOf(cause) }),
    );
  const asked = pending.get(message.id);
  pending.delete(message.id);
  if (message.type === "answer") asked?.resolve(message.value as never);
  else asked?.reject(thrownBy(message.failure));
};

armHere(process.env);
process.on("message", take);
process.on("disconnect", () => process.exit(0));
// Ctrl-C ends the server, and so this process.
process.on("SIGINT", () => undefined);
// Local work goes first where a processor is short.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
