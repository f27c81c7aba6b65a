/** The server's side of the daemon: a connection that is made again, requests that outlast a daemon, and the server's scope. */
import { setTimeout as sleep } from "node:timers/promises";
import { MCP_SERVED_TRIES_MAX, NEXT_DAEMON_POLL_MS } from "../../base/limits.ts";
import { type Client, valueOrThrow } from "../../daemon/client.ts";
import type { Replies } from "../../daemon/replies.ts";
import { cursorOf } from "../../protocol/cursor.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import type { RequestInput, RequestName } from "../../protocol/requests.ts";
import { ServerScope } from "./scope.ts";

export class ServerLink {
  private readonly connect: () => Promise<Client>;
  private greeted: { readonly client: Client; readonly scope: Promise<ServerScope> } | undefined;

  /** `connect` keeps one connection, and starts a daemon if none runs. */
  constructor(connect: () => Promise<Client>) {
    this.connect = connect;
  }

  /** Does `work` with the daemon, and again with the next one if this one goes away: `work` may be repeated. */
  async outlasting<T>(work: (client: Client) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      let client: Client | undefined;
      try {
        client = await this.connect();
        return await work(client);
      } catch (cause) {
        const isGone = asHoldfastError(cause).code === "UNAVAILABLE";
        if (!isGone || tries >= MCP_SERVED_TRIES_MAX) throw cause;
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

  /** As the daemon of this connection knows its caller. Rejects with POLICY_VIOLATION if it does not. */
  scope(): Promise<ServerScope> {
    return this.outlasting((client) => {
      if (this.greeted?.client !== client) this.greeted = { client, scope: this.scopeOf(client) };
      return this.greeted.scope;
    });
  }

  private async scopeOf(client: Client): Promise<ServerScope> {
    const { caller } = await client.request("protocol/hello", {});
    if (caller === "unknown")
      throw new HoldfastError("POLICY_VIOLATION", "The daemon does not know from which run this server is.", {
        suggestion: "Start the server from a process that goes on running.",
      });
    const [, worker] = /^worker:(.+)$/.exec(caller) ?? [];
    return new ServerScope(
      worker,
      async (below) => (await this.ask("agent/list", { all: true, below })).workers,
    );
  }
}
