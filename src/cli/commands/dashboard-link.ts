/** The dashboard's link to one host: one connection for all requests, and one of its own for each stream. */
import type { NamedHost } from "../../base/host-address.ts";
import type { Client } from "../../daemon/client.ts";
import type { HostAsker, RecordTaker } from "../../daemon/http/over-hosts.ts";
import { cursorOf } from "../../protocol/cursor.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import { failure, type Outcome, success } from "../../protocol/outcome.ts";
import type { RequestInput, RequestName } from "../../protocol/requests.ts";
import { leadingTo } from "../at-host.ts";
import type { Context } from "../context.ts";

export class DashboardLink implements HostAsker {
  private readonly host: NamedHost;
  private readonly shared: Context["connect"];
  /** A keeper of another connection: a reader that takes nothing stops all that comes over its own. */
  private readonly another: () => Context["connect"];
  private opening: Promise<Client> | undefined;

  constructor(host: NamedHost, another: () => Context["connect"]) {
    this.host = host;
    this.another = another;
    this.shared = another();
  }

  get name(): string {
    return this.host.name;
  }

  ask<N extends RequestName>(name: N, data: RequestInput<N>, signal: AbortSignal): Promise<Outcome<object>> {
    return this.told(async () => (await this.connect()).ask(name, data, signal) as Promise<Outcome<object>>);
  }

  watch(
    data: RequestInput<"agent/watch">,
    taker: RecordTaker,
    signal: AbortSignal,
  ): Promise<Outcome<object>> {
    return this.told(async () => {
      const client = await this.another()();
      try {
        const { epoch } = await client.request("daemon/status", {});
        const watching = client.stream(
          "agent/watch",
          data,
          (record) => taker.take(record, cursorOf(epoch, record.seq)),
          signal,
        );
        taker.begin();
        return success(await watching);
      } finally {
        client.close();
      }
    });
  }

  /** Requests that come at once share one connection. */
  private connect(): Promise<Client> {
    this.opening ??= this.shared().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  /** The outcome, with advice that leads to the host. */
  private async told(work: () => Promise<Outcome<object>>): Promise<Outcome<object>> {
    const outcome = await work().catch((cause) => failure<object>(asHoldfastError(cause)));
    return leadingTo(this.host, outcome) as Outcome<object>;
  }
}
