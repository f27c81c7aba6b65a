/** `agent weblisk serve` and `agent weblisk grant`: this machine's agents on Weblisk's wire, in front of the daemon. */
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { armHere } from "../../base/crash-point.ts";
import { WEBLISK_CONCURRENT_DEFAULT } from "../../base/limits.ts";
import { makeRandomPool } from "../../base/random-pool.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { type AcceptedProfile, AGENT_CAPABILITIES } from "../../protocol/words.ts";
import type { ServedAgent, TlsFiles, WebliskServer } from "../../weblisk/server/opened.ts";
import { askedSpec } from "../commands/spawn.ts";
import type { CommandHandler, Context } from "../context.ts";
import { LastingLink } from "../lasting-link.ts";
import { VERSION } from "../package.ts";
import { deskOf } from "./federate.ts";
import { openGateway } from "./gateway.ts";
import { listenAddress, namedKinds, taskCall } from "./served.ts";
import { DaemonTaskWorkers } from "./workers.ts";

export { register, task } from "./elsewhere.ts";
export { connectPeer, peerTask } from "./federate.ts";
export { rotate } from "./rotating.ts";

const server = () => import("../../weblisk/server/opened.ts");
const client = () => import("../../weblisk/client/opened.ts");

/** Serves until the command is stopped. The workers go on. */
export const serve: CommandHandler = async (context) => {
  const [{ KeptKeys, WebliskServer, listen, readTlsPair }, { exchange }] = await Promise.all([
    server(),
    client(),
  ]);
  armHere(context.env);
  const { flags, call } = context;
  const kinds = namedKinds(call);
  const files = tlsFilesOf(context);
  const tls = files && { tls: { ...readTlsPair(files, new Date()), minVersion: "TLSv1.2" as const } };
  const roots = ((flags.root as string[] | undefined) ?? ["."]).map((root) => rootOf(context, root));
  const link = new LastingLink(context.connect);
  const specOf = async (agent: string) => {
    const { kind } = kinds.find(({ name }) => name === agent)!;
    return (await askedSpec(context, taskCall(call, kind))).spec;
  };
  // A mistake in the flags is told now, and not to the first sender of a task.
  for (const { name } of kinds) await link.ask("agent/spawn", { spec: await specOf(name), dry_run: true });
  // A hub that only asks has its peers and its trail in the daemon, too.
  if (kinds.length === 0) await link.ask("daemon/status", {});
  const randomBytes = makeRandomPool();
  let url = flags.url as string | undefined;
  const ground = {
    stateDir: context.stateDir,
    keys: new KeptKeys(context.stateDir),
    version: VERSION,
    url: () => url ?? "",
    agents: kinds.map(({ name, kind }) => servedAgent(context, name, kind)),
    roots,
    signing: (flags.signing as AcceptedProfile | undefined) ?? "auto",
    workers: new DaemonTaskWorkers({ link, connect: () => context.connect(), specOf, randomBytes }),
    exchange,
    now: Date.now,
    pause: (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }),
    randomBytes,
    tell: (defect: unknown) =>
      context.stderr(`A request failed: ${defect instanceof Error ? defect.stack : String(defect)}\n`),
  };
  const answering = new WebliskServer(ground);
  const at = listenAddress(flags.listen as string | undefined)!;
  const listening = await listen(answering, at, tls);
  context.cleanups.push(() => listening.close());
  url = (url ?? listening.url).replace(/\/+$/, "");
  const more = { tasks: answering.tasks, desk: deskOf(link), ...(files && { tls: files }) };
  const gateway = await openGateway(context, { ...ground, ...more });
  const admin = await openAdmin(context, answering, link);
  context.onInterrupt = { sentence: "Tasks go on, and the next server knows them." };
  await context.stdout(
    [url, gateway, admin].flatMap((one) => (one === undefined ? [] : `${one}\n`)).join(""),
  );
  return new Promise(() => undefined);
};

/** The operator's listener, whose token is in a file of the state directory. Its URL; undefined if none is wanted. */
const openAdmin = async (
  { flags, stateDir, cleanups }: Context,
  answering: WebliskServer,
  link: LastingLink,
): Promise<string | undefined> => {
  if (flags.admin === undefined) return undefined;
  const { listen, newAdminToken } = await server();
  const token = newAdminToken(stateDir);
  const desk = answering.admin({ token, peers: () => link.ask("peer/list", {}) });
  const listening = await listen(desk, listenAddress(flags.admin as string)!);
  cleanups.push(() => listening.close());
  return listening.url;
};

const tlsFilesOf = ({ cwd, flags }: Context): TlsFiles | undefined => {
  const { "tls-cert": cert, "tls-key": key } = flags as {
    readonly "tls-cert"?: string;
    readonly "tls-key"?: string;
  };
  return cert === undefined || key === undefined
    ? undefined
    : { cert: resolve(cwd, cert), key: resolve(cwd, key) };
};

const servedAgent = ({ flags }: Context, name: string, kind: string): ServedAgent => ({
  name,
  description: `A supervised agent of kind ${kind}.`,
  capabilities: (flags.capability as string[] | undefined) ?? AGENT_CAPABILITIES,
  max_concurrent: (flags["max-concurrent"] as number | undefined) ?? WEBLISK_CONCURRENT_DEFAULT,
});

const rootOf = ({ cwd }: Context, given: string): string => {
  try {
    const path = realpathSync(resolve(cwd, given));
    if (statSync(path).isDirectory()) return path;
  } catch {
    // Told below.
  }
  throw new HoldfastError("INVALID_REQUEST", `--root ${given} is no directory.`, {
    suggestion: "Make it, or name another one.",
    phase: "validation",
  });
};

export const granted: CommandHandler = async (context) => {
  const { fingerprintOf, grant, grantedTo, registered, ServerFiles } = await server();
  const [name = "", ...capabilities] = context.call.args;
  const files = new ServerFiles(context.stateDir);
  const changes = capabilities.length > 0 || context.flags.none === true;
  const agent = changes ? grant(files, name, [...new Set(capabilities)]) : registered(files, name);
  if (agent === undefined)
    throw new HoldfastError("WORKER_NOT_FOUND", `No agent has registered as ${name}.`, {
      suggestion: "Let it register first: a grant belongs to its key.",
    });
  const { agent_id, algorithm, public_key, asked } = agent;
  return success({
    name,
    agent_id,
    algorithm,
    public_key,
    fingerprint: fingerprintOf(agent),
    asked,
    granted: grantedTo(files, agent),
    effect: changes ? "updated" : "noop",
  });
};
