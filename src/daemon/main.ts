/**
 * The daemon's life: lock, runtime (log, spawner, boot reconcile), socket, and an orderly end. Its agents outlive it
 * (architecture §5): a signal stops the daemon and keeps them; only `daemon/stop` with `kill` ends them.
 */
import { dirname } from "node:path";
import { Deferred, Effect, FiberSet, type Scope } from "effect";
import { findDelegated } from "../adapters/process/cgroups.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { RuntimeApi } from "../supervisor/facade.ts";
import type { OpenRuntimeOptions } from "../supervisor/open.ts";
import type { DaemonFile } from "./daemon-file.ts";
import type { Services } from "./handlers/handler.ts";
import { watchHealth } from "./health.ts";
import { limitsOf } from "./limits.ts";
import { acquireLock } from "./lock.ts";
import type { Log } from "./log.ts";
import { type Environment, runtimeLink, socketPath } from "./paths.ts";
import { ensurePrivateDirectory, refuseForeignDirectory } from "./private-directory.ts";
import { linkSocket, unlinkSocket } from "./runtime-link.ts";
import { openSession } from "./session.ts";
import { listen } from "./socket.ts";

export interface DaemonOptions {
  /** Absolute path; made if missing, mode 0700. */
  readonly stateDir: string;
  readonly version: string;
  readonly env: Environment;
  readonly home: string;
  readonly log: Log;
  /** Log, spawner and runtime in one; returns when what the last daemon left is reconciled. */
  readonly openRuntime: (
    options: OpenRuntimeOptions,
  ) => Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope>;
  /** Completes with the name of the signal that asks the daemon to stop. */
  readonly signalled: Effect.Effect<string>;
}

/** Runs until it is told to stop. Fails with LOCK_HELD where another daemon has the state directory. */
export const runDaemon = (options: DaemonOptions): Effect.Effect<void, HoldfastError> =>
  Effect.scoped(daemon(options));

const daemon = (options: DaemonOptions): Effect.Effect<void, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { stateDir, version, log } = options;
    const path = socketPath(stateDir, process.getuid?.() ?? 0);
    yield* prepareDirectories(stateDir, path);
    yield* holdLock(stateDir, {
      pid: process.pid,
      version,
      socket: path,
      started_at: new Date().toISOString(),
    });
    const runtime = yield* options.openRuntime({
      stateDir,
      version,
      cgroup: findDelegated(options.env.HOLDFAST_CGROUP, process.getuid?.() ?? 0),
      limits: yield* attempt(() => limitsOf(options.env)),
      report: (message, cause) =>
        log("error", message, { cause: cause instanceof Error ? cause.stack : cause }),
    });
    const health = yield* watchHealth;
    const run = yield* FiberSet.makeRuntime<never, unknown, unknown>();
    const stopped = yield* Deferred.make<string>();
    const stopping = new HoldfastError("UNAVAILABLE", "The daemon is stopping.");

    const services: Services = {
      runtime,
      facts: () => ({
        socket: path,
        connections: server.connections(),
        requests_in_flight: server.inFlight(),
        loop_lag_ms: health.loopLag(),
      }),
      shutdown: (agents, reason) =>
        Effect.suspend(() => {
          // A signal that comes while `daemon/stop` is at work changes nothing.
          if (!server.refuse(stopping)) return Effect.asVoid(Deferred.await(stopped));
          return Effect.ensuring(runtime.shutdown(agents, reason), Deferred.succeed(stopped, reason));
        }),
    };
    const server = yield* listen(path, (socket) => openSession(socket, services, run, log));
    yield* holdLink(options, path);
    yield* options.signalled.pipe(
      Effect.flatMap((signal) => services.shutdown("keep", signal)),
      Effect.catchCause((cause) =>
        Effect.sync(() => log("error", "the shutdown failed", { cause: String(cause) })),
      ),
      Effect.forkScoped,
    );
    log("info", "listening", { pid: process.pid, version, socket: path, state_dir: stateDir });

    const reason = yield* Deferred.await(stopped);
    yield* server.drain(stopping);
    log("info", "stopped", { reason });
  });

const prepareDirectories = (stateDir: string, socket: string): Effect.Effect<void, HoldfastError> =>
  attempt(() => {
    ensurePrivateDirectory(stateDir);
    if (dirname(socket) === stateDir) return;
    refuseForeignDirectory(dirname(socket));
    ensurePrivateDirectory(dirname(socket));
  });

const holdLock = (stateDir: string, holder: DaemonFile): Effect.Effect<void, HoldfastError, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(() => acquireLock(stateDir, holder)),
    (lock) => Effect.sync(() => lock.release()),
  ).pipe(Effect.asVoid);

/** A convenience for others: where it cannot be made, the daemon says so and goes on. */
const holdLink = (
  { stateDir, env, home, log }: DaemonOptions,
  socket: string,
): Effect.Effect<void, never, Scope.Scope> => {
  const link = runtimeLink(stateDir, env, home);
  if (link === undefined) return Effect.void;
  return Effect.acquireRelease(
    Effect.promise(async () => {
      try {
        if (!(await linkSocket(link, socket)))
          log("warn", "another daemon answers at the runtime directory", { link });
      } catch (cause) {
        log("warn", "the socket could not be linked in the runtime directory", {
          link,
          cause: String(cause),
        });
      }
    }),
    () => Effect.sync(() => unlinkSocket(link, socket)),
  );
};

const attempt = <A>(body: () => A): Effect.Effect<A, HoldfastError> =>
  Effect.try({
    try: body,
    catch: (cause) =>
      cause instanceof HoldfastError
        ? cause
        : new HoldfastError("STORE_FAILED", (cause as Error).message, { cause }),
  });
