/** Requests of a command that serves others for long: they outlast a daemon, and the connection is made again. */
import { setTimeout as sleep } from "node:timers/promises";
import { NEXT_DAEMON_POLL_MS, SERVED_TRIES_MAX } from "../base/limits.ts";
import { type Client, valueOrThrow } from "../daemon/client.ts";
import type { Replies } from "../daemon/replies.ts";
import { cursorOf } from "../protocol/cursor.ts";
import { asHoldfastError } from "../protocol/errors.ts";
import type { RequestInput, RequestName } from "../protocol/requests.ts";
import type { Context } from "./context.ts";

export class LastingLink {
  private readonly connect: Context["connect"];

  /** `connect` keeps one connection. */
  constructor(connect: Context["connect"]) {
    this.connect = connect;
  }

  /**
   * Does `work` with the daemon, and again with the next one if this one goes away: `work` may be repeated. `start`: a daemon is
   * started if none runs; after one that was stopped in order, none is.
   */
  async outlasting<T>(work: (client: Client) => Promise<T>, start = true): Promise<T> {
    let mayStart = start;
    for (let tries = 1; ; tries += 1) {
      let client: Client | undefined;
      try {
        client = await this.connect({ start: mayStart });
        return await work(client);
      } catch (cause) {
        const isGone = asHoldfastError(cause).code === "UNAVAILABLE";
        if (!isGone || tries >= SERVED_TRIES_MAX) throw cause;
        mayStart &&= client === undefined || client.isBroken();
        client?.close();
        await sleep(NEXT_DAEMON_POLL_MS);
      }
    }
  }

  /** The answer, also of a request that only some of its workers refused: it names them. */
  ask<N extends RequestName>(name: N, data: RequestInput<N>, signal?: AbortSignal): Promise<Replies[N]> {
    return this.outlasting(async (client) => {
      const outcome = await client.ask(name, data, signal);
      const isPartly = !outcome.ok && outcome.error.code === "PARTIAL_FAILURE";
      return isPartly && outcome.value !== undefined ? outcome.value : valueOrThrow(outcome);
    });
  }

  /** The newest record now. */
  async cursor(): Promise<string> {
    const { epoch, head } = await this.ask("daemon/status", {});
    return cursorOf(epoch, head);
  }
}
