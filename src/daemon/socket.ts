/**
 * The Unix socket of a daemon: mode 0600 in a directory 0700, a bounded number of connections. What a killed daemon or
 * somebody else left at its path is removed; that is safe only because the caller holds the lock of the state directory.
 */
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { Effect, type Scope } from "effect";
import { encodeEnvelope, errorEnvelope } from "../protocol/envelope-v1.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { BACKLOG_MAX, DAEMON_DRAIN_MS } from "../protocol/limits.ts";
import { UNREADABLE } from "./request.ts";
import type { Session } from "./session.ts";

export interface SocketServer {
  connections(): number;
  inFlight(): number;
  /** No new connections; each session drains. Completes when all are closed, by force after DAEMON_DRAIN_MS. */
  drain(reason: HoldfastError): Effect.Effect<void>;
  /** No new connections or requests from now on; requests in flight go on. False when that is so already. */
  refuse(reason: HoldfastError): boolean;
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
    const newServer = (): Server =>
      createServer({ allowHalfOpen: true }, (socket) => {
        if (sessions.size >= connectionsMax) return turnAway(socket, sessions.size);
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
        for (const socket of sessions.keys()) socket.destroy();
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

const turnAway = (socket: Socket, open: number): void => {
  socket.on("error", () => {});
  const error = new HoldfastError("QUEUE_FULL", `${open} connections are open, and no more are taken.`);
  socket.write(encodeEnvelope(errorEnvelope(UNREADABLE, { now_ms: Date.now(), duration_ms: 0 }, error)));
  socket.destroySoon();
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
