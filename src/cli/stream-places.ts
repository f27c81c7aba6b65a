/** The places of a call that follows several hosts. */
import { HostPlaces, type StreamPlace } from "../protocol/host-places.ts";

/** No record is shown before all hosts have begun or failed: each cursor has a place of every host that was there. */
export class StreamPlaces {
  /** Resolves once each host has begun or failed. */
  readonly begun: Promise<void>;
  private readonly places: HostPlaces;
  private readonly hosts: number;
  private readonly settled = new Set<string>();
  private begin: () => void = () => undefined;

  /** `from`: as the call has it. */
  constructor(hosts: number, from: unknown) {
    this.hosts = hosts;
    this.places = new HostPlaces(from);
    this.begun = new Promise((resolve) => {
      this.begin = resolve;
    });
  }

  at(host: string, place: StreamPlace): Promise<void> {
    this.places.at(host, place);
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
    return !this.places.isEmpty;
  }

  /** The cursor of all; undefined for a host whose records are no stream from a place. */
  of(host: string): string | undefined {
    return this.places.of(host) && this.places.cursor();
  }
}
