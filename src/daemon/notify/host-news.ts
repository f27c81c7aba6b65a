/**
 * The news of one other host: its log is followed over a link of its own, as long as the daemon runs. A second link asks about
 * what a record says, because the first one waits meanwhile.
 */
import { Effect, type Scope } from "effect";
import { attemptAsync } from "../../actors/machine/attempt.ts";
import { backoffDelay } from "../../base/backoff.ts";
import type { HostAddress } from "../../base/host-address.ts";
import { NOTIFY_HOST_AGAIN_MAX_MS, NOTIFY_HOST_AGAIN_MIN_MS } from "../../base/limits.ts";
import { NOTICE_TYPES, type Notice, noticeOf } from "../../control/notify/notice.ts";
import { noticeOfHost } from "../../control/notify/of-host.ts";
import { cursorOf } from "../../protocol/cursor.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import type { HoldAnswer } from "../../protocol/holds.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { RequestInput, RequestName } from "../../protocol/requests.ts";
import type { Client } from "../client.ts";
import { connectHost } from "../host-link.ts";
import type { Log } from "../log.ts";
import type { Replies } from "../replies.ts";
import { subjectOf } from "./subjects.ts";

/** A host of `notifications.hosts`. */
export interface FollowedHost {
  readonly name: string;
  /** Undefined if `hosts:` has no such name. */
  readonly address: HostAddress | undefined;
}

/** The outbox, as the news of a host need it. */
export interface HostOutbox {
  readonly log: Log;
  /** The name by which the daemon with this log is followed: this one, or one that came before. */
  claim(store_id: string, name: string): string;
  /** Undefined for a log that was not followed yet. */
  placeIn(store_id: string): string | undefined;
  /** Takes the news of a record, once there is room, and the place behind it. An undefined place is forgotten. */
  take(notice: Notice | undefined, store_id: string, cursor: string | undefined): Effect.Effect<void>;
}

const away = (name: string): HoldfastError => new HoldfastError("UNAVAILABLE", `The host ${name} is away.`);

export class HostNews {
  readonly name: string;
  /** Why its log is not followed now. */
  failing: string | undefined = "It is not reached yet.";
  private readonly address: HostAddress | undefined;
  private readonly outbox: HostOutbox;
  /** Tries since it was followed last. */
  private tries = 0;
  private asking: Promise<Client> | undefined;

  constructor({ name, address }: FollowedHost, outbox: HostOutbox) {
    this.name = name;
    this.address = address;
    this.outbox = outbox;
  }

  /** Follows the host until the scope ends. A host that is away is tried again, more and more seldom. */
  readonly run: Effect.Effect<void, never, Scope.Scope> = Effect.gen({ self: this }, function* () {
    yield* Effect.addFinalizer(() => Effect.sync(() => this.hangUp()));
    const address = this.address;
    if (address === undefined) {
      this.fail(`hosts: of config.yaml has no ${this.name}.`);
      return yield* Effect.never;
    }
    const again = Effect.suspend(() => {
      this.tries += 1;
      const bounds = { min_ms: NOTIFY_HOST_AGAIN_MIN_MS, max_ms: NOTIFY_HOST_AGAIN_MAX_MS };
      return Effect.sleep(backoffDelay(this.tries, bounds, Math.random()));
    });
    const tried = Effect.catch(this.followed(address), (error) =>
      Effect.sync(() => this.fail(error.message)),
    );
    yield* Effect.forever(Effect.andThen(tried, again));
  });

  /** As the runtime's; fails with UNAVAILABLE while the host is away. */
  approvals(query: RequestInput<"agent/approvals">) {
    return this.ask("agent/approvals", query);
  }

  inbox(query: RequestInput<"agent/inbox">) {
    return this.ask("agent/inbox", query);
  }

  /** It is recorded there as an answer of the user: that daemon knows the account of the relay, and no target of ours. */
  answer(hold: string, answer: HoldAnswer): Effect.Effect<unknown, HoldfastError> {
    return this.ask("agent/answer", { id: hold, answer });
  }

  /** Ends with the link. */
  private followed(address: HostAddress): Effect.Effect<void, HoldfastError> {
    return Effect.acquireUseRelease(
      Effect.sync(() => new AbortController()),
      (over) => attemptAsync(() => this.follow(address, over.signal)),
      (over) => Effect.sync(() => over.abort()),
    );
  }

  private async follow(address: HostAddress, over: AbortSignal): Promise<void> {
    const { client } = await connectHost({ host: address, start: false });
    over.addEventListener("abort", () => client.close());
    try {
      if (over.aborted) return;
      const { store_id, epoch, head } = await client.request("daemon/status", {});
      const other = this.outbox.claim(store_id, this.name);
      if (other !== this.name)
        throw new HoldfastError("INVALID_REQUEST", `${this.name} and ${other} are the same daemon.`);
      await this.read(client, store_id, epoch, this.outbox.placeIn(store_id) ?? cursorOf(epoch, head));
    } finally {
      client.close();
    }
  }

  private async read(client: Client, store_id: string, epoch: string, from: string): Promise<void> {
    const { outbox } = this;
    // A host that is new tells what happens from now on.
    await Effect.runPromise(outbox.take(undefined, store_id, from));
    this.failing = undefined;
    this.tries = 0;
    const asked = { all: true, from, types: [...NOTICE_TYPES] };
    try {
      await client.watch(asked, async (record) => {
        const notice = await Effect.runPromise(this.noticeOf(record));
        await Effect.runPromise(outbox.take(notice, store_id, cursorOf(epoch, record.seq)));
      });
    } catch (cause) {
      // The log is another one: nothing of it was told, and what it has is no news.
      if (asHoldfastError(cause).code === "CURSOR_UNKNOWN")
        await Effect.runPromise(outbox.take(undefined, store_id, undefined));
      throw cause;
    }
  }

  private noticeOf(record: LogRecord): Effect.Effect<Notice | undefined, HoldfastError> {
    const info = (id: string) => this.ask("agent/info", { id });
    return Effect.map(subjectOf(record, { info }), (subject) => {
      const notice = subject && noticeOf(record, subject);
      return notice && noticeOfHost(this.name, notice);
    });
  }

  private ask<N extends RequestName>(
    name: N,
    data: RequestInput<N>,
  ): Effect.Effect<Replies[N], HoldfastError> {
    return attemptAsync(async () => (await this.askedClient()).request(name, data));
  }

  private async askedClient(): Promise<Client> {
    const { address, name } = this;
    if (address === undefined || this.failing !== undefined) throw away(name);
    const known = await this.asking?.catch(() => undefined);
    if (known !== undefined && !known.isBroken()) return known;
    this.asking = connectHost({ host: address, start: false }).then(({ client }) => client);
    return this.asking;
  }

  private fail(message: string): void {
    if (this.failing !== message)
      this.outbox.log("warn", "the news of a host cannot be read", { host: this.name, cause: message });
    this.failing = message;
    this.hangUp();
  }

  private hangUp(): void {
    this.asking?.then(
      (client) => client.close(),
      () => undefined,
    );
    this.asking = undefined;
  }
}
