/** Runs a command on each of its hosts at once, and shows the answers as one. */

import { READ_THERE } from "../commands/hosts.ts";
import { asHoldfastError } from "../protocol/errors.ts";
import { failure } from "../protocol/outcome.ts";
import { commandsAt, leadingTo } from "./at-host.ts";
import type { CommandHandler, CommandResult, Context } from "./context.ts";
import { type HostCall, hostCalls } from "./host-calls.ts";
import { isFollowing, Joining } from "./late-host.ts";
import { type HostResult, merged } from "./merged.ts";
import { answerThere } from "./run-there.ts";
import { StreamPlaces } from "./stream-places.ts";

export const overHosts = async (context: Context, handler: CommandHandler): Promise<CommandResult> => {
  const calls = hostCalls(context.call);
  const places = new StreamPlaces(calls.length, context.flags.from);
  const waiting = new Set(calls.map(({ host }) => host.name));
  const isStream = context.call.command.stream !== false;
  context.onInterrupt = { sentence: "The hosts and their workers go on." };
  const done = isStream
    ? () => undefined
    : context.progress("waiting for hosts", () => `: ${[...waiting].join(", ")}`);
  const ask = async (asked: HostCall): Promise<HostResult> => {
    const { name, address } = asked.host;
    const run = address !== undefined && READ_THERE.has(context.call.command.command);
    const answer = run ? answerThere(address, asked.call) : handler(contextOf(context, asked, places));
    const result = await answer.catch((cause): CommandResult => failure(asHoldfastError(cause)));
    // The others may go on for days, and the end would be the first word of it.
    if (isStream && !result.ok && result.error.code !== "CANCELLED")
      context.notice(`${name}: ${result.error.message}`);
    places.leave(name);
    waiting.delete(name);
    return { host: name, result: leadingTo(asked.host, result) };
  };
  return merged(context.call.command.command, await Promise.all(calls.map(ask)).finally(done));
};

/** The command on one host sees only that host, and each word and record of it bears the host's name. */
const contextOf = (context: Context, { host, call }: HostCall, places: StreamPlaces): Context => {
  const { name } = host;
  const told = (text: string): string => `${name}: ${text}`;
  const line = (value: object) => {
    const cursor = places.of(name);
    return context.line({ host: name, ...(cursor !== undefined && { cursor }), ...value });
  };
  const notice = (text: string): void => context.notice(told(text));
  const reach = context.connectTo(host);
  const joining = isFollowing(call) ? new Joining(name, reach, places, notice) : undefined;
  return {
    ...context,
    call,
    flags: call.flags,
    host: host.address && name,
    connect: joining?.connect ?? reach,
    late_ms: () => joining?.late_ms ?? 0,
    at: (place) => places.at(name, place),
    record: line,
    line,
    warn: (text) => context.warn(told(text)),
    notice,
    hint: (text, when) => context.hint(told(commandsAt(host, text)), when),
    progress: () => () => undefined,
  };
};
