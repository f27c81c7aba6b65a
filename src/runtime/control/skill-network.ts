/** The network of one run of a skill: a proxy for as long as it runs, whose decisions are on record. */
import { randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { dirname } from "node:path";
import { Effect } from "effect";
import { attemptAsync } from "../../actors/machine/attempt.ts";
import { withoutSecrets } from "../../actors/worker/launching.ts";
import { PROXY_RUN_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { workerStream } from "../../protocol/records.ts";
import { type NetworkDecision, NetworkProxy } from "../../skills/network/proxy.ts";
import { authorityOf, type NetworkDenial, targetOfUrl } from "../../skills/network/rules.ts";
import type { FoundSkill } from "../../skills/places.ts";
import type { SkillDenial } from "../../skills/policy.ts";
import type { Core } from "../core.ts";
import { proxySocket } from "./skill-launch.ts";

/** The hosts of a run that are known before it begins; undefined if it has no network. */
export const hostsOf = (
  { urls, manifest }: FoundSkill,
  input: Readonly<Record<string, unknown>>,
): readonly string[] | undefined => {
  if (urls !== undefined)
    return urls(input).flatMap((url) => {
      const target = targetOfUrl(url);
      return target === undefined ? [] : [authorityOf(target)];
    });
  const { network = "none" } = manifest?.capabilities ?? {};
  return network === "none" ? undefined : network;
};

export interface RunNetwork {
  /** Names the socket to the launch of the run. */
  readonly name: string;
  /** The run is this worker: its decisions can be recorded from now on. */
  begin(worker_id: string): void;
  denials(): readonly NetworkDenial[];
}

interface NetworkAsked {
  readonly skill: string;
  readonly hosts: readonly string[];
  /** Judges hosts that the run asks for; absent where its manifest has said all. */
  readonly judge: ((hosts: readonly string[]) => SkillDenial | undefined) | undefined;
}

const addressesOf = async (name: string): Promise<readonly string[]> =>
  (await lookup(name, { all: true, order: "verbatim" })).map(({ address }) => address);

const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));

const NAME_BYTES = 8;

export class SkillNetworks {
  private readonly core: Core;
  private readonly stateDir: string;

  constructor(core: Core, stateDir: string) {
    this.core = core;
    this.stateDir = stateDir;
    // Sockets of a daemon that was killed: nobody listens at them.
    rmSync(dirname(proxySocket(stateDir, "any")), { recursive: true, force: true });
  }

  /** Runs `use` with a proxy, and closes it after. */
  during<A>(
    asked: NetworkAsked,
    use: (network: RunNetwork) => Effect.Effect<A, HoldfastError>,
  ): Effect.Effect<A, HoldfastError> {
    return Effect.acquireUseRelease(
      attemptAsync(() => this.opened(asked)),
      ({ network }) => use(network),
      ({ close }) => Effect.sync(close),
    );
  }

  private async opened({ skill, hosts, judge }: NetworkAsked) {
    const name = randomBytes(NAME_BYTES).toString("hex");
    const socket = proxySocket(this.stateDir, name);
    mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
    // A socket has a bound on its path, which a state directory may exceed.
    const directory = openSync(dirname(socket), "r");
    const worker = Promise.withResolvers<string>();
    const opening = NetworkProxy.open({
      socket: `/proc/self/fd/${directory}/${name}`,
      hosts,
      judge,
      record: async (decision) => this.record(await worker.promise, skill, decision),
      resolve: addressesOf,
      own: ownAddresses,
      max_bytes: PROXY_RUN_MAX_BYTES,
    });
    const proxy = await opening.finally(() => closeSync(directory));
    const close = () => {
      proxy.close();
      rmSync(socket, { force: true });
    };
    const denials = () => [...proxy.denials.values()];
    return { close, network: { name, begin: worker.resolve, denials } };
  }

  private async record(worker_id: string, skill: string, decided: NetworkDecision): Promise<void> {
    const { host, address, isAllowed, rule, reason } = decided;
    const decision = isAllowed ? ("allowed" as const) : ("denied" as const);
    const { clock } = this.core.now();
    // A skill chooses the host of its request, which may hold a secret that it was given.
    const redact = this.core.roster.live.get(worker_id)?.redact ?? withoutSecrets;
    const told = { host: redact.text(host), reason: redact.text(reason) };
    const payload = { skill, address, decision, rule, ...told, clock };
    const stream = workerStream(worker_id);
    await this.core.services.log.commit([{ type: "skill_connection", stream, worker_id, payload }]);
  }
}

/** A run that failed for what its proxy refused says that, and not that nobody answered. */
export const explained = (error: HoldfastError, denials: readonly NetworkDenial[]): HoldfastError => {
  const [first] = denials;
  if (first === undefined || error.row.v1 === "EPOLICY") return error;
  const { rule, reason } = first;
  const isTransport = error.code === "UNAVAILABLE" && !OWN_FAULT.has(rule);
  const denied = denials.slice(0, DENIALS_TOLD_MAX).map((one) => ({ rule: one.rule, reason: one.reason }));
  const details = { ...error.info.details, denied, ...(isTransport && { rule }) };
  return isTransport
    ? new HoldfastError("POLICY_VIOLATION", reason, {
        suggestion: "Name an address of this machine yourself, by its number and port, if you mean it.",
        details,
      })
    : new HoldfastError(error.code, error.message, { ...error.info, details });
};

/** No policy: the name or the server is not there. */
const OWN_FAULT: ReadonlySet<string> = new Set(["network_name", "network_unreachable"]);
const DENIALS_TOLD_MAX = 8;
