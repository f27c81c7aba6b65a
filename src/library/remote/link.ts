/**
 * Connections to one daemon, made on demand. A daemon that goes away leaves its agents running, so calls wait for the next
 * one: each call that was not sent, and those that may be repeated.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { NEXT_DAEMON_POLL_MS, NEXT_DAEMON_WAIT_MS, REMOTE_REQUESTS_MAX } from "../../base/limits.ts";
import { type Client, makeClient, placeOfAge } from "../../daemon/client.ts";
import { connectDaemon, tryConnect } from "../../daemon/connect.ts";
import { artifactOfHost, connectHost, type HostAsked } from "../../daemon/host-link.ts";
import { artifactAt, makeHttpClient } from "../../daemon/http-client.ts";
import type { Replies } from "../../daemon/replies.ts";
import { readToken } from "../../daemon/token.ts";
import { asHoldfastError, HoldfastError, isOfCluster, isUnreached } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { RequestInput, RequestName } from "../../protocol/requests.ts";
import { closed } from "../promises.ts";
import { Pull } from "./pull.ts";

/** The place of a daemon, and the name of the asker. */
export interface DaemonPlace {
  readonly stateDir: string;
  /** In the place of that of the state directory. */
  readonly socketPath?: string | undefined;
  /** In the place of both: its address over HTTP. */
  readonly url?: URL | undefined;
  /** In the place of all: another host, and the state directory there. */
  readonly host?: HostAsked | undefined;
  readonly token?: string | undefined;
}

/** Requests whose answers are streams, and the seq to go on from. */
/** The place at which a stream begins: at most one of `from` and `since_ms`. */
interface StreamStart {
  readonly from?: number | string | undefined;
  readonly since_ms?: number | undefined;
  readonly tail?: number | undefined;
}

type RemoteStream = "agent/watch" | "bb/watch" | "board/watch" | "jobs/tail";

const REPEATABLE: ReadonlySet<RequestName> = new Set<RequestName>([
  "agent/approvals",
  "agent/capabilities",
  "agent/changes",
  "agent/inbox",
  "agent/info",
  "agent/list",
  "agent/messages",
  "agent/output",
  "agent/raw",
  "agent/search",
  "agent/tree",
  "agent/usage",
  "agent/wait",
  "agent/why",
  "bb/list",
  "bb/search",
  "board/list",
  "board/show",
  "daemon/status",
  "db/check",
  "jobs/info",
  "jobs/list",
  "jobs/result",
  "jobs/wait",
  "mailbox/list",
  "mailbox/show",
  "schedule/list",
  "schedule/next",
  "schedule/show",
  "skill/info",
  "skill/list",
  "token/list",
]);

export class RemoteLink {
  private readonly place: DaemonPlace;
  private readonly clients = new Set<Client>();
  /** Connections of streams. */
  private readonly streams = new Set<() => void>();
  /** Each request is sent after the one before it, so that none finds a connection that is full by then. */
  private line: Promise<unknown> = Promise.resolve();
  /** The server of the last connection. */
  private owner: Pick<Replies["daemon/status"], "served_by" | "pid"> | undefined;
  private isClosed = false;

  constructor(place: DaemonPlace) {
    this.place = place;
  }

  /** The daemon's answer. Rejects with UNAVAILABLE if the daemon goes away in the middle of a request that must not be repeated. */
  async ask<N extends RequestName>(
    name: N,
    data: RequestInput<N>,
    signal?: AbortSignal,
  ): Promise<Outcome<Replies[N]>> {
    const isKeyed = (data as { readonly idempotency_key?: string }).idempotency_key !== undefined;
    const mayRepeat = isKeyed || REPEATABLE.has(name);
    for (let failingSince = performance.now(); ; ) {
      const begun = performance.now();
      const { client, answer } = await this.send(name, data, signal);
      try {
        const outcome = await answer;
        if (outcome.ok || outcome.error.code !== "UNAVAILABLE") return outcome;
        throw outcome.error;
      } catch (cause) {
        if (this.isClosed) throw closed();
        const now = performance.now();
        if (now - begun > NEXT_DAEMON_WAIT_MS) failingSince = now;
        const isLate = now - failingSince > NEXT_DAEMON_WAIT_MS;
        const error = asHoldfastError(cause);
        if (error.code !== "UNAVAILABLE") throw cause;
        if (!mayRepeat || isLate) throw this.ofProgram("UNAVAILABLE", cause) ?? cause;
        // Other requests of the connection go on where only a node of the daemon's cluster is away.
        if (!isOfCluster(error)) this.drop(client);
        await sleep(NEXT_DAEMON_POLL_MS, undefined, { signal });
      }
    }
  }

  /** Items of a stream, which goes on with the next daemon where it was. The end of the link ends it. */
  stream<A extends { readonly seq: number }>(name: RemoteStream, data: StreamStart): AsyncIterable<A> {
    return { [Symbol.asyncIterator]: () => this.follow(name, data) };
  }

  close(): void {
    this.isClosed = true;
    for (const client of [...this.clients]) this.drop(client);
    for (const end of [...this.streams]) end();
  }

  private send<N extends RequestName>(name: N, data: RequestInput<N>, signal: AbortSignal | undefined) {
    const sent = this.line.then(async () => {
      const free = [...this.clients].find((one) => !one.isBroken() && one.inFlight() < REMOTE_REQUESTS_MAX);
      const client = free ?? (await this.connect());
      this.clients.add(client);
      const answer = client.ask(name, data, signal);
      // Its failure is told to who awaits it.
      answer.catch(() => undefined);
      return { client, answer };
    });
    this.line = sent.catch(() => undefined);
    return sent;
  }

  private drop(client: Client): void {
    this.clients.delete(client);
    client.close();
  }

  /** After the first time, it waits for a daemon. */
  private async connect(): Promise<Client> {
    const deadline = performance.now() + NEXT_DAEMON_WAIT_MS;
    for (const client of this.clients) if (client.isBroken()) this.drop(client);
    for (;;) {
      if (this.isClosed) throw closed();
      try {
        return await this.answering();
      } catch (cause) {
        const isAway = isUnreached(asHoldfastError(cause));
        if (this.owner === undefined || !isAway || performance.now() > deadline) throw cause;
        const ended = this.ofProgram("SUPERVISOR_DOWN", cause);
        if (ended !== undefined) throw ended;
        await sleep(NEXT_DAEMON_POLL_MS);
      }
    }
  }

  /** The error for a program that served the directory and has gone: unlike a daemon, nobody starts it again. */
  private ofProgram(code: "UNAVAILABLE" | "SUPERVISOR_DOWN", cause: unknown): HoldfastError | undefined {
    if (this.owner?.served_by !== "program") return undefined;
    return new HoldfastError(
      code,
      `The program that served the runtime, pid ${this.owner.pid}, has ended or closed it.`,
      {
        suggestion: "Open it again with Runtime.openOrConnect, or start a daemon: agent daemon start.",
        cause,
      },
    );
  }

  /** A daemon that stops still accepts connections, but answers nothing. */
  private async answering(): Promise<Client> {
    const client = await this.client();
    try {
      this.owner = await client.request("daemon/status", {});
      return client;
    } catch (cause) {
      client.close();
      throw cause;
    }
  }

  private async client(): Promise<Client> {
    const { stateDir, socketPath, url, host } = this.place;
    if (host !== undefined) return (await connectHost(host)).client;
    if (url !== undefined) return makeHttpClient(url, this.place.token);
    const { token = readToken(stateDir) } = this.place;
    const socket =
      socketPath === undefined
        ? await connectDaemon({ stateDir, env: process.env })
        : await tryConnect(socketPath);
    if (socket === undefined)
      throw new HoldfastError("SUPERVISOR_DOWN", `No daemon answers at ${socketPath}.`, {
        suggestion: "Start one with: agent daemon start",
      });
    return makeClient(socket, token, process.env.HOLDFAST_RUN);
  }

  /** The bytes of an artifact, of a daemon that may be on another machine; undefined for one that is not. */
  get artifact(): ((digest: string) => Promise<Uint8Array>) | undefined {
    const { url, host, token } = this.place;
    if (host !== undefined) return (digest) => artifactOfHost(host, digest);
    return url && ((digest) => artifactAt(url, token, digest));
  }

  private follow<A extends { readonly seq: number }>(
    name: RemoteStream,
    data: StreamStart,
  ): AsyncIterator<A> {
    let client: Client | undefined;
    const end = (): void => {
      this.streams.delete(end);
      items.finish();
      client?.close();
    };
    const items = new Pull<A>(() => end());
    this.streams.add(end);
    const isOver = (): boolean => !this.streams.has(end);
    const run = async (): Promise<void> => {
      let at = data;
      while (!isOver()) {
        client = await this.connect();
        try {
          // The place of a beginning is now, also if this daemon goes away before the first item.
          if (at.since_ms !== undefined)
            at = { ...at, from: await placeOfAge(client, at.since_ms), since_ms: undefined };
          if (at.from === undefined && at.tail === undefined)
            at = { ...at, from: (await client.request("daemon/status", {})).head };
          const take = (item: unknown) => {
            at = { ...at, from: (item as A).seq, tail: undefined };
            return items.push(item as A);
          };
          if (name === "jobs/tail") await client.tail(at as RequestInput<typeof name>, take);
          else await client.stream(name, at as RequestInput<typeof name>, take);
          return;
        } catch (cause) {
          if (isOver() || asHoldfastError(cause).code !== "UNAVAILABLE") throw cause;
          await sleep(NEXT_DAEMON_POLL_MS);
        } finally {
          client.close();
        }
      }
    };
    const started = run().then(
      () => items.finish(),
      (cause) => items.finish(isOver() ? undefined : cause),
    );
    void started.finally(end);
    return items;
  }
}
