/** The places of a call that follows several hosts. */
import { HOSTS_MAX } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { hostsCursorOf, readHostsCursor } from "../protocol/hosts-cursor.ts";
import type { StreamPlace } from "./context.ts";

/**
 * The newest place of each stream of the call. No record is shown before all hosts have begun or failed: each cursor has a place
 * of every host that was there. A place of `--from` stays until its host has a newer one, also while the host is away.
 */
export class StreamPlaces {
  /** Resolves once each host has begun or failed. */
  readonly begun: Promise<void>;
  private readonly byHost = new Map<string, StreamPlace>();
  private readonly known: ReadonlyMap<string, string>;
  private readonly hosts: number;
  private readonly settled = new Set<string>();
  private begin: () => void = () => undefined;

  /** `from`: as the call has it. */
  constructor(hosts: number, from: unknown) {
    this.hosts = hosts;
    this.known = (typeof from === "string" && readHostsCursor(from)) || new Map();
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
    this.leave(host);
    return this.begun;
  }

  /** The host is away, or has no stream, or its stream is over: nobody waits for it. */
  leave(host: string): void {
    this.settled.add(host);
    if (this.settled.size === this.hosts) this.begin();
  }

  /** Whether any host has begun. */
  get isFollowed(): boolean {
    return this.byHost.size > 0;
  }

  /** The cursor of all; undefined for a host whose records are no stream from a place. */
  of(host: string): string | undefined {
    if (!this.byHost.has(host)) return undefined;
    const own = new Map([...this.byHost.values()].map(({ store_id, cursor }) => [store_id, cursor]));
    const others = [...this.known].filter(([store_id]) => !own.has(store_id));
    return hostsCursorOf(new Map([...own, ...others].slice(0, HOSTS_MAX)));
  }
}
