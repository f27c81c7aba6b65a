/** A call for several hosts as one call for each. Pure. */
import type { NamedHost } from "../base/host-address.ts";
import type { ArgDef } from "../commands/command.ts";
import { READ_THERE, RUN_THERE } from "../commands/hosts.ts";
import { isHostsCursor } from "../protocol/hosts-cursor.ts";
import type { Call } from "./parse.ts";

export interface HostCall {
  readonly host: NamedHost;
  /** Its arguments are those of the host alone, as the host knows them. */
  readonly call: Call;
}

export const isOverHosts = ({ hosts = [] }: Pick<Call, "hosts">): boolean => hosts.length > 1;

/** The host of a call for one alone; undefined for a call without `--host`, and for several. */
export const onlyHostOf = ({ hosts = [] }: Pick<Call, "hosts">): NamedHost | undefined =>
  hosts.length === 1 ? hosts[0] : undefined;

/** Commands that look at all of their hosts by themselves. */
const SEE_ALL: ReadonlySet<string> = new Set(["agent/top", "agent/dashboard"]);

/** A command that is run on each host. */
export const runsOnEach = (call: Pick<Call, "hosts" | "command">): boolean =>
  isOverHosts(call) && !SEE_ALL.has(call.command.command);

/** Commands without a row or a record that could bear a host, or with one stream of a log that is not of workers. */
const ONE_HOST: ReadonlySet<string> = new Set(["agent/attach", "jobs/tail", "bb/watch", "board/watch"]);

/** The arguments that name workers, by their places. */
const refsOf = ({ command, args }: Call): readonly number[] => {
  const last = command.args.at(-1);
  const argOf = (at: number): ArgDef | undefined =>
    command.args[at] ?? (last?.variadic === true ? last : undefined);
  return args.flatMap((_, at) => (namesWorkers(argOf(at)) ? [at] : []));
};

const namesWorkers = ({ complete }: Pick<ArgDef, "complete"> = {}): boolean =>
  complete === "worker" || complete === "living";

/** The flags that name workers, each with its values. */
const flagRefsOf = ({ command, flags }: Call): ReadonlyMap<string, readonly string[]> =>
  new Map(
    command.flags
      .filter((flag) => namesWorkers(flag) && flags[flag.name] !== undefined)
      .map(({ name }) => [name, [flags[name]].flat() as readonly string[]]),
  );

/** All workers that a call names. */
const namedIn = (call: Call): readonly string[] => [
  ...refsOf(call).map((at) => call.args[at]!),
  ...[...flagRefsOf(call).values()].flat(),
];

/** A worker as its host knows it. */
const nameAt = ({ name }: NamedHost, ref: string): string => ref.slice(name.length + 1);

const hostOf = (ref: string, hosts: readonly NamedHost[]): NamedHost | undefined =>
  hosts.find(({ name }) => ref.startsWith(`${name}/`));

/** One call a host, in the order of `--host`: all of them, or those of which the call names a worker as HOST/NAME. */
export const hostCalls = (call: Call): readonly HostCall[] => {
  const { hosts = [], args } = call;
  const refs = refsOf(call);
  const isFor = (host: NamedHost, at: number): boolean =>
    !refs.includes(at) || hostOf(args[at]!, hosts) === host;
  const names = namedIn(call);
  const named = hosts.filter((host) => names.some((ref) => hostOf(ref, hosts) === host));
  return (names.length === 0 ? hosts : named).map((host) => {
    const own = args.flatMap((arg, at) => {
      if (!isFor(host, at)) return [];
      return refs.includes(at) ? [nameAt(host, arg)] : [arg];
    });
    return { host, call: { ...call, args: own, flags: flagsFor(call, host), hosts: [host] } };
  });
};

/** Those that name workers have the host's own alone, as it knows them. */
const flagsFor = (call: Call, host: NamedHost): Call["flags"] => {
  const { hosts = [], flags } = call;
  const refs = flagRefsOf(call);
  const own = Object.entries(flags).flatMap(([name, value]) => {
    const named = refs.get(name);
    if (named === undefined) return [[name, value] as const];
    const of = named.filter((ref) => hostOf(ref, hosts) === host).map((ref) => nameAt(host, ref));
    return of.length === 0 ? [] : [[name, Array.isArray(value) ? of : of[0]] as const];
  });
  return Object.fromEntries(own);
};

/** The call for those of its hosts that it concerns, or with its mistakes. A call for one host alone names workers as that host does. */
export const narrowed = (call: Call): Call => {
  if (!isOverHosts(call)) return call;
  const problems = problemsOf(call);
  if (problems.length > 0) return { ...call, problems: [...call.problems, ...problems] };
  const calls = hostCalls(call);
  return calls.length === 1 ? calls[0]!.call : { ...call, hosts: calls.map(({ host }) => host) };
};

const problemsOf = (call: Call): readonly string[] => {
  const { command, flags, hosts = [] } = call;
  const words = `agent ${command.words.join(" ")}`;
  const [{ name }] = hosts as [NamedHost];
  const isOfMachine = RUN_THERE.has(command.command) && !READ_THERE.has(command.command);
  if (isOfMachine || ONE_HOST.has(command.command) || (command.stream && flags.raw))
    return [`${words} is for one host: --host ${name}`];
  const refs = namedIn(call);
  const homeless = refs.filter((ref) => hostOf(ref, hosts) === undefined);
  if (homeless.length > 0)
    return homeless.map((ref) => `with several hosts a worker is named with its own, as in ${name}/${ref}`);
  if (refs.length === 0 && command.danger !== "safe" && !SEE_ALL.has(command.command))
    return [`${words} without a HOST/NAME changes one host at a time: --host ${name}`];
  if (refs.length > 0 && new Set(refs.map((ref) => hostOf(ref, hosts))).size === 1) return [];
  return onlyOfOne(call).map((flag) => `${flag} belongs to one host: --host ${name}`);
};

/** Flags whose value only one host gave. */
const onlyOfOne = ({ command, flags }: Call): readonly string[] => {
  const from = flags.from as number | string | undefined;
  const isOfOne = from !== undefined && from !== 0 && !isHostsCursor(from);
  const isFollowedTree = command.command === "agent/tree" && flags.follow === true;
  return [
    ...(flags.cursor === undefined ? [] : ["--cursor"]),
    ...(isOfOne ? [`--from ${from}`] : []),
    ...(isFollowedTree ? ["--follow"] : []),
  ];
};
