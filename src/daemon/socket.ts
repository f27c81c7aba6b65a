/**
 * The Unix socket of a daemon: mode 0600 in a directory 0700, a bounded number of connections. A file that a killed daemon or somebody else left at its path is removed; that is safe only because the caller holds the lock of the state directory.
 */
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { Effect, type Scope } from "effect";
import { BACKLOG_MAX, CONNECTION_IDLE_MIN_MS, DAEMON_DRAIN_MS, FAREWELLS_MAX } from "../base/limits.ts";
import { encodeEnvelope, errorEnvelope } from "../protocol/envelope-v1.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { clearName } from "../store/regular-file.ts";
import { farewell } from "./farewell.ts";
import { UNREADABLE } from "./request.ts";
import type { Session } from "./session.ts";

export interface SocketServer {
  connections(): number;
  inFlight(): number;
  /** No new connections; each session drains. Completes when all are closed, by force after DAEMON_DRAIN_MS. */
  drain(reason: HoldfastError): Effect.Effect<void>;
  /** No new connections or requests from now on; requests in flight go on. False when that is so already. */
  refuse(reason: HoldfastError): boolean;
  /** New connections and requests are taken again, after `refuse`. */
  readonly accept: Effect.Effect<void, HoldfastError>;
  /** Listen anew where the socket is gone or is somebody else's; connections that are open go on. True when that was needed. */
  keep(): Effect.Effect<boolean, HoldfastError>;
}

/** Listen at `path`, giving each connection to `open`. Fails with STORE_FAILED or PERMISSION_DENIED. */
export const listen = (
  path: string,
  connectionsMax: number,
  open: (socket: Socket) => Session,
): Effect.Effect<SocketServer, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const sessions = new Map<Socket, Session>();
    /** Clients that were turned away and may not have read why. */
    const turnedAway = new Set<Socket>();
    /** If all places are taken, the connection that was idle for longest gives way: clients that leak them lock nobody out. */
    const makeRoom = (): boolean => {
      let longest: { readonly socket: Socket; readonly session: Session; readonly since: number } | undefined;
      for (const [socket, session] of sessions) {
        const since = session.idleSince();
        if (since !== undefined && since < (longest?.since ?? Number.POSITIVE_INFINITY))
          longest = { socket, session, since };
      }
      if (longest === undefined || performance.now() - longest.since < CONNECTION_IDLE_MIN_MS) return false;
      const { socket, session } = longest;
      session.turnOut(
        new HoldfastError(
          "QUEUE_FULL",
          `${sessions.size} connections were open, and this one was idle: another client has its place.`,
        ),
      );
      sessions.delete(socket);
      return true;
    };
    const newServer = (): Server =>
      createServer({ allowHalfOpen: true }, (socket) => {
        if (sessions.size >= connectionsMax && !makeRoom())
          return turnAway(socket, sessions.size, turnedAway);
        socket.once("close", () => {
          sessions.delete(socket);
          if (sessions.size === 0) onEmpty?.();
        });
        sessions.set(socket, open(socket));
      });
    let server = newServer();
    let isOpen = true;
    let onEmpty: (() => void) | undefined;
    const close = (): void => {
      isOpen = false;
      server.close();
    };
    let bound = yield* Effect.acquireRelease(bind(server, path), () =>
      Effect.sync(() => {
        for (const socket of [...sessions.keys(), ...turnedAway]) socket.destroy();
        close();
      }),
    );
    return {
      connections: () => sessions.size,
      inFlight: () => [...sessions.values()].reduce((sum, session) => sum + session.inFlight(), 0),
      refuse: (reason) => {
        if (!isOpen) return false;
        close();
        for (const session of sessions.values()) session.refuse(reason);
        return true;
      },
      accept: Effect.gen(function* () {
        server = newServer();
        bound = yield* bind(server, path);
        isOpen = true;
        for (const session of sessions.values()) session.refuse(undefined);
      }),
      drain: (reason) =>
        Effect.callback<void>((resume) => {
          close();
          onEmpty = () => resume(Effect.void);
          if (sessions.size === 0) onEmpty();
          for (const session of sessions.values()) session.drain(reason);
        }).pipe(Effect.timeoutOption(DAEMON_DRAIN_MS), Effect.asVoid),
      keep: () =>
        Effect.gen(function* () {
          if (!isOpen || (bound !== undefined && fileId(path) === bound)) return false;
          // Closing removes whatever has its path, so it comes before the new one.
          server.close();
          server = newServer();
          bound = undefined;
          bound = yield* bind(server, path);
          if (!isOpen) server.close();
          return true;
        }),
    };
  });

const fileId = (path: string): string | undefined => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isSocket() ? `${stats.dev}:${stats.ino}` : undefined;
};

const turnAway = (socket: Socket, open: number, turnedAway: Set<Socket>): void => {
  const error = new HoldfastError("QUEUE_FULL", `${open} connections are open, and no more are taken.`);
  const line = encodeEnvelope(errorEnvelope(UNREADABLE, { now_ms: Date.now(), duration_ms: 0 }, error));
  farewell(socket, line);
  if (turnedAway.size >= FAREWELLS_MAX) socket.destroySoon();
  else {
    turnedAway.add(socket);
    socket.once("close", () => turnedAway.delete(socket));
  }
};

/** Answers which file is bound. */
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
        // Out of descriptors nobody is accepted: who connects waits for the kernel's next try, and it is no defect.
        server.on("error", () => undefined);
        // Until here the directory alone keeps others out.
        chmodSync(path, 0o600);
        resume(Effect.sync(() => fileId(path)));
      });
    } catch (cause) {
      fail(cause as NodeJS.ErrnoException);
    }
  });
