/** Runs a command on each of its hosts at once, and shows the answers as one. */

import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { hostsCursorOf } from "../protocol/hosts-cursor.ts";
import { failure } from "../protocol/outcome.ts";
import type { CommandHandler, CommandResult, Context, StreamPlace } from "./context.ts";
import { type HostCall, hostCalls } from "./host-calls.ts";
import { type HostResult, merged } from "./merged.ts";

export const overHosts = async (context: Context, handler: CommandHandler): Promise<CommandResult> => {
  const calls = hostCalls(context.call);
  const places = new StreamPlaces(calls.length);
  const waiting = new Set(calls.map(({ host }) => host.name));
  const isStream = context.call.command.stream !== false;
  context.onInterrupt = { sentence: "The hosts and their workers go on." };
  const done = isStream
    ? () => undefined
    : context.progress("waiting for hosts", () => `: ${[...waiting].join(", ")}`);
  const ask = async (asked: HostCall): Promise<HostResult> => {
    const { name } = asked.host;
    const result = await handler(contextOf(context, asked, places)).catch(
      (cause): CommandResult => failure(asHoldfastError(cause)),
    );
    // The others may go on for days, and the end would be the first word of it.
    if (isStream && !result.ok && result.error.code !== "CANCELLED")
      context.notice(`${name}: ${result.error.message}`);
    places.leave(name);
    waiting.delete(name);
    return { host: name, result };
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
  return {
    ...context,
    call,
    flags: call.flags,
    host: host.address && name,
    connect: context.connectTo(host),
    at: (place) => places.at(name, place),
    record: line,
    line,
    warn: (text) => context.warn(told(text)),
    notice: (text) => context.notice(told(text)),
    hint: (text, when) => context.hint(told(text), when),
    progress: () => () => undefined,
  };
};

/** The newest place of each stream of the call. No record is shown before all have begun: the cursor of each has a place of every host. */
class StreamPlaces {
  private readonly byHost = new Map<string, StreamPlace>();
  private readonly hosts: number;
  private readonly settled = new Set<string>();
  private readonly begun: Promise<void>;
  private begin: () => void = () => undefined;

  constructor(hosts: number) {
    this.hosts = hosts;
    this.begun = new Promise((resolve) => {
      this.begin = resolve;
    });
  }

  at(host: string, place: StreamPlace): Promise<void> {
    const twin = [...this.byHost].find(
      ([other, { store_id }]) => other !== host && store_id === place.store_id,
    );
    if (twin !== undefined)
      throw new HoldfastError("INVALID_REQUEST", `${twin[0]} and ${host} are the same daemon.`, {
        suggestion: `Name one of them with --host.`,
      });
    this.byHost.set(host, place);
    this.settle(host);
    return this.begun;
  }

  /** The host has no stream, or its stream is over: nobody waits for it. */
  leave(host: string): void {
    this.settle(host);
  }

  /** The cursor of all; undefined for a host whose records are no stream from a place. */
  of(host: string): string | undefined {
    if (!this.byHost.has(host)) return undefined;
    return hostsCursorOf(
      new Map([...this.byHost.values()].map(({ store_id, cursor }) => [store_id, cursor])),
    );
  }

  private settle(host: string): void {
    this.settled.add(host);
    if (this.settled.size === this.hosts) this.begin();
  }
}
