/** News of requests for permission, by one stream of the daemon's log for everybody who waits. */
import { setTimeout as sleep } from "node:timers/promises";
import { NEXT_DAEMON_POLL_MS } from "../../base/limits.ts";
import { cursorOf } from "../../protocol/cursor.ts";
import type { LastingLink } from "../lasting-link.ts";

interface NewsListener {
  readonly worker: string;
  readonly wake: () => void;
}

export class ApprovalNews {
  private readonly link: Pick<LastingLink, "outlasting">;
  private readonly listeners = new Set<NewsListener>();
  private following: AbortController | undefined;

  constructor(link: Pick<LastingLink, "outlasting">) {
    this.link = link;
  }

  /**
   * Calls `wake` when this worker has asked for something, and whenever it may have: when the stream begins, also again. Returns
   * the function that ends it.
   */
  listen(worker: string, wake: () => void): () => void {
    const listener = { worker, wake };
    this.listeners.add(listener);
    if (this.following === undefined) {
      this.following = new AbortController();
      void this.follow(this.following.signal);
    }
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.following?.abort();
      this.following = undefined;
    };
  }

  private async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.link.outlasting(async (client) => {
          const { epoch, head } = await client.request("daemon/status", {});
          if (signal.aborted) return;
          // Older requests are in the list that they look at; newer ones come by the stream.
          for (const { wake } of this.listeners) wake();
          const asked = {
            all: true,
            types: ["approval_requested"],
            from: cursorOf(epoch, head),
            follow: true,
          };
          await client.stream("agent/watch", asked, ({ worker_id }) => this.tell(worker_id), signal);
        }, false);
      } catch {
        // Each of them learns by its own request that the daemon is away.
      }
      if (!signal.aborted) await sleep(NEXT_DAEMON_POLL_MS);
    }
  }

  private tell(id: string | undefined): void {
    for (const { worker, wake } of this.listeners) if (worker === id) wake();
  }
}
