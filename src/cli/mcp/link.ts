/** The server's side of the daemon, and the server's scope. */
import type { Client } from "../../daemon/client.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { LastingLink } from "../lasting-link.ts";
import { ServerScope } from "./scope.ts";

export class ServerLink extends LastingLink {
  private greeted: { readonly client: Client; readonly scope: Promise<ServerScope> } | undefined;

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
