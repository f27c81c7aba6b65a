/** The places of one reader in the logs of several hosts, and its cursor of all of them. */
import { HOSTS_MAX } from "../base/limits.ts";
import { HoldfastError } from "./errors.ts";
import { hostsCursorOf, readHostsCursor } from "./hosts-cursor.ts";

/** A place in one log, as its daemon knows it. */
export interface StreamPlace {
  readonly store_id: string;
  /** Undefined if it is known with the first record. */
  readonly cursor: string | undefined;
}

export class HostPlaces {
  private readonly byHost = new Map<string, StreamPlace>();
  private readonly begun: ReadonlyMap<string, string>;

  /** `from`: the cursor with which the reader begins, if it has one. Its places stay until their hosts have newer ones, also while a host is away. */
  constructor(from: unknown) {
    this.begun = (typeof from === "string" && readHostsCursor(from)) || new Map();
  }

  /** The place in a log with which the reader began. */
  beginningOf(store_id: string): string | undefined {
    return this.begun.get(store_id);
  }

  /** Throws INVALID_REQUEST if another host has the same log. */
  at(host: string, place: StreamPlace): void {
    const twin = [...this.byHost].find(
      ([other, { store_id }]) => other !== host && store_id === place.store_id,
    );
    if (twin !== undefined)
      throw new HoldfastError("INVALID_REQUEST", `${twin[0]} and ${host} are the same daemon.`, {
        suggestion: "Name one of them.",
      });
    this.byHost.set(host, place);
  }

  of(host: string): StreamPlace | undefined {
    return this.byHost.get(host);
  }

  get isEmpty(): boolean {
    return this.byHost.size === 0;
  }

  /** At most HOSTS_MAX places: those of the hosts first. */
  cursor(): string {
    const own = [...this.byHost.values()].flatMap(({ store_id, cursor }) =>
      cursor === undefined ? [] : [[store_id, cursor] as const],
    );
    const stores = new Set(own.map(([store_id]) => store_id));
    const others = [...this.begun].filter(([store_id]) => !stores.has(store_id));
    return hostsCursorOf(new Map([...own, ...others].slice(0, HOSTS_MAX)));
  }
}
