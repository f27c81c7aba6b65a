/** The words of `agent weblisk serve`: agents by their names on the wire. Pure. */
import { type HttpAddress, isLoopback, parseAddress } from "../../base/http-address.ts";
import { WEBLISK_PORT_DEFAULT } from "../../base/limits.ts";
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
const NAME = /^[a-z][a-z0-9-]{0,63}$/;
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
  if (kinds.length === 0) return ["agent weblisk serve needs a KIND, or a program after --"];
  const names = kinds.map(({ name }) => name);
  const problems = kinds.flatMap(({ name, kind }) => [
    ...(NAME.test(name)
      ? []
      : [`the name of an agent is 1 to 64 lower-case letters, digits and dashes, not "${name}"`]),
    ...spawnProblems(taskCall(call, kind), place),
  ]);
  if (new Set(names).size < names.length) problems.push("two agents have one name; write NAME=KIND");
  const address = listenAddress(flags.listen as string | undefined);
  if (address === undefined) problems.push("--listen takes [HOST:]PORT with an IP address");
  else if (!isLoopback(address.host))
    problems.push(
      `--listen takes an address of this machine alone, because tokens are not encrypted: listen at 127.0.0.1:${address.port}, put a proxy with TLS before it, and give its address with --url`,
    );
  const url = flags.url as string | undefined;
  if (url !== undefined && !/^https?:\/\/[^\s/?#]+(?:\/[^\s?#]*)?$/.test(url))
    problems.push("--url takes an address with http:// or https://");
  return [...new Set([...problems, ...capabilityProblems((flags.capability as string[] | undefined) ?? [])])];
};

const capabilityProblems = (given: readonly string[]): readonly string[] =>
  given
    .filter((name) => !CAPABILITY.test(name))
    .map((name) => `a capability is NAMESPACE:ACTION, as file:read, not "${name.slice(0, 64)}"`);

export const grantProblems = ({ args: [name = "", ...given], flags }: Call): readonly string[] => [
  ...(NAME.test(name) ? [] : [`NAME is 1 to 64 lower-case letters, digits and dashes, not "${name}"`]),
  ...(flags.none === true && given.length > 0 ? ["--none goes with no CAPABILITY"] : []),
  ...capabilityProblems(given),
];
