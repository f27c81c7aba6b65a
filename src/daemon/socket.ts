/**
 * The Unix socket of a daemon: mode 0600 in a directory 0700, with a bounded number of connections. An old
 * file at its path is removed, which is safe only because the caller holds the lock of the state directory.
 */
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { Effect, type Scope } from "effect";
import { clearName } from "../base/files/regular-file.ts";
import { BACKLOG_MAX, CONNECTION_IDLE_MIN_MS, DAEMON_DRAIN_MS, FAREWELLS_MAX } from "../base/limits.ts";
import { encodeEnvelope, errorEnvelope } from "../protocol/envelope-v1.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { ClientConnection } from "./connection.ts";
import { farewell } from "./farewell.ts";
import { UNREADABLE } from "./request.ts";

export interface SocketServer {
  connections(): number;
  inFlight(): number;
  /**
   * Accepts no new connections and drains each connection. Completes when all are closed, by force after
   * DAEMON_DRAIN_MS.
   */
  drain(reason: HoldfastError): Effect.Effect<void>;
  /**
   * Refuses new connections and requests from now on; requests in flight continue. False if they are refused
   * already.
   */
  refuse(reason: HoldfastError): boolean;
  /** Accepts new connections and requests again, after `refuse`. */
  readonly accept: Effect.Effect<void, HoldfastError>;
  /** Listens again if the socket is gone or replaced; open connections continue. True if that was needed. */
  keep(): Effect.Effect<boolean, HoldfastError>;
}

/** Listens at `path` and passes each connection to `open`. Fails with STORE_FAILED or PERMISSION_DENIED. */
export const listen = (
  path: string,
  connectionsMax: number,
  open: (socket: Socket) => ClientConnection,
): Effect.Effect<SocketServer, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const listener = new Listener(path, connectionsMax, open);
    yield* Effect.acquireRelease(listener.bind(), () => Effect.sync(() => listener.end()));
    return listener;
  });

class Listener implements SocketServer {
  private readonly path: string;
  private readonly connectionsMax: number;
  private readonly open: (socket: Socket) => ClientConnection;
  private readonly opened = new Map<Socket, ClientConnection>();
  /** Rejected clients that may not have read the reason yet. */
  private readonly turnedAway = new Set<Socket>();
  private server: Server;
  private isOpen = true;
  private bound: string | undefined;
  private onEmpty: (() => void) | undefined;

  constructor(path: string, connectionsMax: number, open: (socket: Socket) => ClientConnection) {
    this.path = path;
    this.connectionsMax = connectionsMax;
    this.open = open;
    this.server = this.newServer();
  }

  connections(): number {
    return this.opened.size;
  }

  inFlight(): number {
    return [...this.opened.values()].reduce((sum, connection) => sum + connection.inFlight(), 0);
  }

  bind(): Effect.Effect<void, HoldfastError> {
    return Effect.map(bind(this.server, this.path), (bound) => {
      this.bound = bound;
    });
  }

  end(): void {
    for (const socket of [...this.opened.keys(), ...this.turnedAway]) socket.destroy();
    this.close();
  }

  refuse(reason: HoldfastError): boolean {
    if (!this.isOpen) return false;
    this.close();
    for (const connection of this.opened.values()) connection.refuse(reason);
    return true;
  }

  get accept(): Effect.Effect<void, HoldfastError> {
    return Effect.suspend(() => {
      this.server = this.newServer();
      return Effect.map(this.bind(), () => {
        this.isOpen = true;
        for (const connection of this.opened.values()) connection.refuse(undefined);
      });
    });
  }

  drain(reason: HoldfastError): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      this.close();
      this.onEmpty = () => resume(Effect.void);
      if (this.opened.size === 0) this.onEmpty();
      for (const connection of this.opened.values()) connection.drain(reason);
    }).pipe(Effect.timeoutOption(DAEMON_DRAIN_MS), Effect.asVoid);
  }

  keep(): Effect.Effect<boolean, HoldfastError> {
    return Effect.suspend(() => {
      const isThere = this.bound !== undefined && fileId(this.path) === this.bound;
      if (!this.isOpen || isThere) return Effect.succeed(false);
      // Closing removes whatever is at the path, so it comes before the new socket.
      this.server.close();
      this.server = this.newServer();
      this.bound = undefined;
      return Effect.map(this.bind(), () => {
        if (!this.isOpen) this.server.close();
        return true;
      });
    });
  }

  private close(): void {
    this.isOpen = false;
    this.server.close();
  }

  private newServer(): Server {
    const { opened } = this;
    return createServer({ allowHalfOpen: true }, (socket) => {
      if (opened.size >= this.connectionsMax && !this.makeRoom())
        return turnAway(socket, opened.size, this.turnedAway);
      socket.once("close", () => {
        opened.delete(socket);
        if (opened.size === 0) this.onEmpty?.();
      });
      opened.set(socket, this.open(socket));
    });
  }

  /**
   * When all places are taken, closes the connection that was idle longest, so that clients with leaked
   * connections lock nobody out.
   */
  private makeRoom(): boolean {
    let longest:
      | { readonly socket: Socket; readonly connection: ClientConnection; readonly since: number }
      | undefined;
    for (const [socket, connection] of this.opened) {
      const since = connection.idleSince();
      if (since !== undefined && since < (longest?.since ?? Number.POSITIVE_INFINITY))
        longest = { socket, connection, since };
    }
    if (longest === undefined || performance.now() - longest.since < CONNECTION_IDLE_MIN_MS) return false;
    const { socket, connection } = longest;
    connection.turnOut(
      new HoldfastError(
        "QUEUE_FULL",
        `${this.opened.size} connections were open, and this one was idle: it was closed for another client.`,
      ),
    );
    this.opened.delete(socket);
    return true;
  }
}

const fileId = (path: string): string | undefined => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isSocket() ? `${stats.dev}:${stats.ino}` : undefined;
};

const turnAway = (socket: Socket, open: number, turnedAway: Set<Socket>): void => {
  const error = new HoldfastError("QUEUE_FULL", `${open} connections are open, and no more are accepted.`);
  const line = encodeEnvelope(errorEnvelope(UNREADABLE, { now_ms: Date.now(), duration_ms: 0 }, error));
  farewell(socket, line);
  if (turnedAway.size >= FAREWELLS_MAX) socket.destroySoon();
  else {
    turnedAway.add(socket);
    socket.once("close", () => turnedAway.delete(socket));
  }
};

/** Returns the id of the bound file. */
const bind = (server: Server, path: string): Effect.Effect<string | undefined, HoldfastError> =>
  Effect.callback((resume) => {
    const fail = (cause: NodeJS.ErrnoException): void => {
      const code = cause.code === "EACCES" || cause.code === "EPERM" ? "PERMISSION_DENIED" : "STORE_FAILED";
      resume(
        Effect.fail(
          new HoldfastError(code, `The socket ${path} cannot be made: ${cause.message}.`, { cause }),
        ),
      );
    };
    try {
      clearName(path);
      rmSync(path, { force: true });
      server.once("error", fail);
      server.listen({ path, backlog: BACKLOG_MAX }, () => {
        server.off("error", fail);
        // Without free descriptors no client is accepted. The client waits for the kernel's next try; this is
        // not a defect.
        server.on("error", () => undefined);
        // Before this, only the directory keeps others out.
        chmodSync(path, 0o600);
        resume(Effect.sync(() => fileId(path)));
      });
    } catch (cause) {
      fail(cause as NodeJS.ErrnoException);
    }
  });
