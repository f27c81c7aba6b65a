/** The words of `agent weblisk serve`: agents by their names on the wire. Pure. */
import { type HttpAddress, isLoopback, parseAddress } from "../../base/http-address.ts";
import { HUB_ID_MAX_CHARS, WEBLISK_PORT_DEFAULT } from "../../base/limits.ts";
import { kindOf, PROGRAM_KIND } from "../../commands/kinds.ts";
import { spawnProblems } from "../commands/spawn-spec.ts";
import type { Call, CallPlace } from "../parse.ts";

export interface ServedKind {
  readonly name: string;
  readonly kind: string;
}

/** The call of a task's worker, as it would stand on the command line of spawn. */
export const taskCall = (call: Call, kind: string): Call => ({ ...call, args: [kind, "task"] });

/** weblisk.txt: lower-case letters, digits and dashes. */
export const NAME = /^[a-z][a-z0-9-]{0,63}$/;
const CAPABILITY = /^[a-z][a-z0-9_-]*:[a-z][a-z0-9_-]*$/;

export const namedKinds = ({ args, argv }: Pick<Call, "args" | "argv">): readonly ServedKind[] => {
  const words = args.length === 0 && argv !== undefined ? [PROGRAM_KIND] : args;
  return words.map((word) => {
    const [, name, kind] = /^([^=:]*)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && kind !== undefined) return { name, kind };
    return { name: (kindOf(word)?.kind ?? word).replace(/[^a-z0-9]+/g, "-"), kind: word };
  });
};

export const listenAddress = (text: string | undefined): HttpAddress | undefined =>
  text === undefined ? { host: "127.0.0.1", port: WEBLISK_PORT_DEFAULT } : parseAddress(text);

export const serveProblems = (call: Call, place?: CallPlace): readonly string[] => {
  const { flags } = call;
  const kinds = namedKinds(call);
  if (kinds.length === 0 && flags.federation === undefined)
    return ["agent weblisk serve needs a KIND, or a program after --"];
  const names = kinds.map(({ name }) => name);
  const problems = kinds.flatMap(({ name, kind }) => [
    ...(NAME.test(name)
      ? []
      : [`the name of an agent is 1 to 64 lower-case letters, digits and dashes, not "${name}"`]),
    ...spawnProblems(taskCall(call, kind), place),
  ]);
  if (new Set(names).size < names.length) problems.push("two agents have one name; write NAME=KIND");
  problems.push(
    ...placeProblems("listen", listenAddress(flags.listen as string | undefined), "url", flags),
    ...tlsProblems(flags),
    ...adminProblems(flags),
    ...capabilityProblems((flags.capability as string[] | undefined) ?? []),
    ...hubProblems(call, names),
  );
  return [...new Set(problems)];
};

const tlsProblems = ({ "tls-cert": cert, "tls-key": key }: Call["flags"]): readonly string[] =>
  (cert === undefined) === (key === undefined)
    ? []
    : [cert === undefined ? "--tls-key needs --tls-cert FILE" : "--tls-cert needs --tls-key FILE"];

/** Mistakes in the place of a listener, and in the address by which others know it. */
const placeProblems = (
  listen: string,
  address: HttpAddress | undefined,
  url: string,
  flags: Call["flags"],
): readonly string[] => {
  const problems: string[] = [];
  if (address === undefined) problems.push(`--${listen} takes [HOST:]PORT with an IP address`);
  else if (!isLoopback(address.host) && flags["tls-cert"] === undefined)
    problems.push(
      `--${listen} takes an address of this machine alone, because tokens are not encrypted: give --tls-cert and --tls-key; or listen at 127.0.0.1:${address.port}, put a proxy with TLS before it, and give its address with --${url}`,
    );
  const said = flags[url] as string | undefined;
  if (said === undefined && /^(?:0\.0\.0\.0|::)$/.test(address?.host ?? ""))
    problems.push(`--${listen} takes every address of this machine: name the one for others with --${url}`);
  if (said !== undefined && !/^https?:\/\/[^\s/?#]+(?:\/[^\s?#]*)?$/.test(said))
    problems.push(`--${url} takes an address with http:// or https://`);
  return problems;
};

/** A certificate opens no way to it: the operator is at this machine. */
const adminProblems = ({ admin }: Call["flags"]): readonly string[] => {
  if (admin === undefined) return [];
  const address = listenAddress(admin as string);
  if (address === undefined) return ["--admin takes [HOST:]PORT with an IP address"];
  return isLoopback(address.host)
    ? []
    : [`--admin takes an address of the loopback alone, as 127.0.0.1:${address.port}`];
};

const HUB = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;

const wordsOf = (offer: string): readonly [capability: string, name: string | undefined] => {
  const [capability = "", name] = offer.split("=");
  return [capability, name];
};

/** Names of agents by the capability that hubs ask for. Without a name, the one agent that is served has it. */
export const offersOf = (call: Call): Readonly<Record<string, string>> => {
  const [only] = namedKinds(call);
  const given = (call.flags.offer as string[] | undefined) ?? [];
  return Object.fromEntries(
    given.map((offer) => {
      const [capability, name] = wordsOf(offer);
      return [capability, name ?? only?.name ?? ""];
    }),
  );
};

const hubProblems = (call: Call, names: readonly string[]): readonly string[] => {
  const { flags } = call;
  const { federation, hub } = flags as { readonly federation?: string; readonly hub?: string };
  const offers = (flags.offer as string[] | undefined) ?? [];
  if (federation === undefined) {
    const idle = ["hub", "federation-url", "offer"].filter((name) => flags[name] !== undefined);
    return idle.map((name) => `--${name} goes with --federation`);
  }
  const nameless = offers.filter((offer) => wordsOf(offer)[1] === undefined);
  return [
    ...placeProblems("federation", listenAddress(federation), "federation-url", flags),
    ...(hub === undefined ? ["--federation needs a name: --hub NAME"] : []),
    ...(hub !== undefined && (!HUB.test(hub) || hub.length > HUB_ID_MAX_CHARS)
      ? [`--hub takes lower-case letters, digits, "." and "-", as a host name`]
      : []),
    ...capabilityProblems(offers.map((offer) => wordsOf(offer)[0])),
    ...(nameless.length > 0 && names.length !== 1
      ? [`--offer ${nameless[0]} needs the name of an agent: --offer ${nameless[0]}=NAME`]
      : []),
    ...Object.values(offersOf(call))
      .filter((name) => name !== "" && !names.includes(name))
      .map((name) => `--offer names "${name.slice(0, 64)}", and no agent of this name is served`),
  ];
};

export const capabilityProblems = (given: readonly string[]): readonly string[] =>
  given
    .filter((name) => !CAPABILITY.test(name))
    .map((name) => `a capability is NAMESPACE:ACTION, as file:read, not "${name.slice(0, 64)}"`);

export const grantProblems = ({ args: [name = "", ...given], flags }: Call): readonly string[] => [
  ...(NAME.test(name) ? [] : [`NAME is 1 to 64 lower-case letters, digits and dashes, not "${name}"`]),
  ...(flags.none === true && given.length > 0 ? ["--none goes with no CAPABILITY"] : []),
  ...capabilityProblems(given),
];
