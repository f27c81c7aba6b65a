/** A feed without records: a browser has too few connections for a stream of each host, so the answers of hosts are asked for again and again. */
import { WEB_HOSTS_LOOK_MS } from "../../base/limits.ts";
import type { LiveFeed } from "./connected.ts";

export class TickingFeed implements LiveFeed {
  readonly state = "live";
  private readonly timers = new Set<ReturnType<typeof setInterval>>();

  readonly onRecords: LiveFeed["onRecords"] = () => () => undefined;

  readonly onState: LiveFeed["onState"] = (watch) => {
    const timer = setInterval(() => watch("live"), WEB_HOSTS_LOOK_MS);
    this.timers.add(timer);
    return () => {
      clearInterval(timer);
      return this.timers.delete(timer);
    };
  };

  close(): void {
    for (const timer of this.timers) clearInterval(timer);
  }
}
