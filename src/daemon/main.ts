/**
 * The daemon's life: lock, runtime (log, spawner, boot reconcile), socket, and an orderly end. Agents outlive
 * the daemon (architecture §5): a signal stops the daemon and keeps them. Only `daemon/stop` with `kill` ends
 * them.
 */
import { flushCompileCache } from "node:module";
import { dirname } from "node:path";
import { Deferred, Effect, FiberSet, type Scope } from "effect";
import type { Defects } from "../actors/defects.ts";
import { attempt, attemptAsync } from "../actors/machine/attempt.ts";
import { bridgeMakerOf } from "../adapters/bridge/maker.ts";
import { findDelegated } from "../adapters/process/cgroups.ts";
import { lineageOf } from "../adapters/process/origin.ts";
import { type MakeRuntime, makerOf } from "../adapters/user-runtimes.ts";
import { crashPoint } from "../base/crash-point.ts";
import { DAEMON_START_POLL_MS, TAKE_OVER_WAIT_MS } from "../base/limits.ts";
import { COMMAND_PROGRAM } from "../base/own-command.ts";
import { isOfTheSystem } from "../base/system-errors.ts";
import { artifactizer } from "../protocol/artifactize.ts";
import type { Configuration } from "../protocol/configuration.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { RuntimeApi } from "../runtime/api.ts";
import type { OpenRuntimeOptions } from "../runtime/open.ts";
import { openPrices } from "../runtime/prices/lists.ts";
import { artifactsOfReplies } from "./artifacts.ts";
import { configuredRegistry, readConfiguration } from "./configuration.ts";
import { type DaemonFile, ownIdentity } from "./daemon-file.ts";
import type { Guard } from "./guard.ts";
import type { HandlerServices } from "./handlers/handler.ts";
import { watchHealth } from "./health.ts";
import { type HttpServer, keptHttp, openHttp, withHttp } from "./http/open.ts";
import { judged } from "./judged.ts";
import { type KeptFile, keepInPlace, keptDaemonFile, keptLink } from "./keeping.ts";
import { removeLeftovers } from "./leftovers.ts";
import { connectionsOf, limitsOf, outputOf, retentionOf, retentionSizeOf } from "./limits.ts";
import { acquireLock, type StateLock, tryLock } from "./lock.ts";
import { type Log, textOf } from "./log.ts";
import { keptLog } from "./log-file.ts";
import type { LogOutput } from "./log-output.ts";
import { softLimitOf, textAt } from "./machine-files.ts";
import { closeToOthers, isOpenToOthers } from "./modes.ts";
import { referencedAside } from "./offline.ts";
import { Once } from "./once.ts";
import { type Environment, runtimeLink, socketPath } from "./paths.ts";
import { makePeers, peerPid } from "./peer.ts";
import { ensurePrivateDirectory, refuseForeignDirectory } from "./private-directory.ts";
import { type Pulse, startPulse } from "./pulse.ts";
import { linkSocket, unlinkSocket } from "./runtime-link.ts";
import { Session } from "./session.ts";
import { listen, type SocketServer } from "./socket.ts";
import { ensureToken, keepToken } from "./token.ts";
import { makeTrim } from "./trim.ts";
import { makeTurns, type Turns } from "./turns.ts";
import { watchLoop } from "./watchdog.ts";

export interface DaemonOptions {
  /** Absolute path; created with mode 0700 if missing. */
  readonly stateDir: string;
  readonly version: string;
  readonly env: Environment;
  readonly home: string;
  readonly log: Log;
  /** The output of `log`. */
  readonly output: LogOutput;
  readonly defects: Defects;
  /**
   * Wait until the running daemon gives up the state directory; `check` throws if this version could not take
   * it over.
   */
  readonly takeOver?: { readonly check: () => void } | undefined;
  /** Opens log, spawner and runtime. Completes when everything that the last daemon left is reconciled. */
  readonly openRuntime: (
    options: OpenRuntimeOptions,
  ) => Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope>;
  /** Completes with the name of the signal that asks the daemon to stop. */
  readonly signalled: Effect.Effect<string>;
}

/** Runs until it is told to stop. Fails with LOCK_HELD if another daemon has the state directory. */
export const runDaemon = (options: DaemonOptions): Effect.Effect<void, HoldfastError> =>
  Effect.scoped(daemon(options));

const daemon = (options: DaemonOptions): Effect.Effect<void, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { stateDir, version, log } = options;
    // Read now: the client that started this daemon may be killed with its agent while the daemon waits for the lock.
    const startedBy = lineageOf(process.ppid, process.pid) ?? [];
    const place = yield* takePlace(options);
    const { path } = place;
    let facts: HandlerServices["facts"] | undefined;
    const pulse = yield* startPulse;
    const watchdog = yield* watchLoop(
      pulse,
      stateDir,
      options.output.place,
      () => facts?.() ?? {},
      (cause) => options.defects.tell("the watchdog", cause),
    );
    const output = yield* attempt(() => outputOf(options.env));
    const registry = yield* attemptAsync(() => configuredRegistry(stateDir));
    for (const { module, why } of registry.refused)
      log("warn", "an adapter, or the configuration, is left out", { module, why });
    crashPoint("boot-before-log");
    const runtime = yield* openRuntime(options, path, registry, output.capture_max_bytes, () => {
      watchdog.ticked();
      pulse.join();
    });
    // An agent that was ended with the last daemon must not undo that by starting the next one.
    yield* runtime.permitStart(runtime.identifyIn(startedBy));
    // A boot takes some time without ticks.
    watchdog.ticked();
    const health = yield* watchHealth(pulse, makeTrim());
    const stopped = yield* Deferred.make<string, HoldfastError>();
    const artifacts = yield* openArtifacts(options);
    const peers = makePeers(runtime.identify, (reason) =>
      log("warn", "callers are known only by what they say of themselves", { reason }),
    );
    const services: Omit<HandlerServices, "caller"> = {
      runtime,
      artifactize: artifactizer(async (bytes) => (await artifacts.put(bytes)).digest, output),
      once: new Once(),
      facts: () => ({
        socket: path,
        connections: server.connections(),
        requests_in_flight: server.inFlight(),
        loop_lag_ms: health.loopLag(),
        defects: options.defects.counted(),
        health: watchdog.health(),
        configuration_changed: registry.isOutdated?.() ?? false,
        callers: peers.evidence(),
        http: http === undefined ? null : { url: http.url() ?? null, trouble: http.trouble() ?? null },
      }),
      shutdown: (agents, reason, by) =>
        shutdown(
          Effect.suspend(() => runtime.shutdown(agents, reason, by)),
          reason,
          door,
          stopped,
        ),
    };
    crashPoint("boot-before-socket");
    const turns = makeTurns(() => performance.now(), setImmediate);
    const server = yield* listenFor(options, place, services, { peers, turns, output });
    const http = yield* openHttp(options, services, turns, artifacts.get, () => watchdog.health().ok);
    const door = http === undefined ? server : withHttp(server, http);
    facts = services.facts;
    watchdog.beat();
    yield* keepPlace(options, pulse, place, { server, http }, stopped);
    yield* stopOnSignal(options, services);
    // Written now, because a killed daemon would leave no cache to the next one.
    flushCompileCache();
    log("info", "listening", { pid: process.pid, version, socket: path, state_dir: stateDir });

    const reason = yield* Deferred.await(stopped);
    yield* door.drain(stopping());
    log("info", "stopped", { reason });
  });

const stopping = (): HoldfastError => new HoldfastError("UNAVAILABLE", "The daemon is stopping.");

/** The state directory that this daemon holds. */
interface OwnedStateDirectory {
  /** The path of its socket. */
  readonly path: string;
  readonly own: DaemonFile;
  readonly lock: StateLock;
  readonly token: string;
}

/** The lock comes first, because nothing in the state directory may change while another daemon has it. */
const takePlace = (options: DaemonOptions): Effect.Effect<OwnedStateDirectory, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { stateDir, version, log } = options;
    const path = socketPath(stateDir, process.getuid?.() ?? 0);
    yield* prepareDirectories(stateDir, path);
    const own: DaemonFile = {
      pid: process.pid,
      version,
      socket: path,
      started_at: new Date().toISOString(),
      identity: ownIdentity(),
      command: [process.execPath, ...process.argv.slice(1, 2)],
    };
    const lock = yield* holdLock(options, own);
    yield* atStart(() => {
      for (const { path, mode } of closeToOthers(stateDir))
        log("warn", "was open to others, and is closed", { path, mode: mode.toString(8) });
    });
    yield* atStart(() => removeLeftovers(stateDir));
    const token = yield* atStart(() => ensureToken(stateDir));
    return { path, own, lock, token };
  });

const openRuntime = (
  options: DaemonOptions,
  socket: string,
  registry: OpenRuntimeOptions["registry"],
  captureMaxBytes: number,
  onTick: () => void,
): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { stateDir, version, log } = options;
    const { roles, skills, runtimes = {} } = readConfiguration(stateDir)?.configuration ?? {};
    return yield* options.openRuntime({
      stateDir,
      version,
      cgroup: findDelegated(options.env.HOLDFAST_CGROUP, process.getuid?.() ?? 0),
      registry,
      limits: yield* atStart(() => limitsOf(options.env)),
      retentionMs: yield* atStart(() => retentionOf(options.env)),
      retentionBytes: yield* atStart(() => retentionSizeOf(options.env)),
      captureMaxBytes,
      roles,
      runtimes: new Map(
        Object.entries(runtimes).map(([name, one]) => [name, makerFor(name, one, options, socket)]),
      ),
      prices: yield* atStart(() => openPrices(options.env.HOLDFAST_PRICES)),
      skills,
      report: (message, cause) => log("error", message, { cause: textOf(cause) }),
      defects: options.defects,
      onTick,
    });
  });

const makerFor = (
  name: string,
  { module, options, bridge }: Configuration["runtimes"][string],
  { env, log }: DaemonOptions,
  daemonSocket: string,
): MakeRuntime => {
  if (bridge === undefined) return makerOf({ module: module ?? "", options });
  const report = (message: string) => log("warn", message);
  return bridgeMakerOf(name, bridge, { env, daemonSocket, binary: COMMAND_PROGRAM, peerPid, report });
};

const openArtifacts = (options: DaemonOptions) =>
  Effect.gen(function* () {
    const aside = yield* Effect.acquireRelease(
      Effect.sync(() => referencedAside(options.stateDir)),
      (thread) => Effect.sync(() => thread.close()),
    );
    return yield* attempt(() => artifactsOfReplies(options.stateDir, options.env, aside));
  });

interface ListeningParts {
  readonly peers: ReturnType<typeof makePeers>;
  readonly turns: Turns;
  readonly output: { readonly inline_max_bytes: number };
}

const listenFor = (
  { env, defects }: DaemonOptions,
  { path, token }: OwnedStateDirectory,
  services: Omit<HandlerServices, "caller">,
  { peers, turns, output }: ListeningParts,
): Effect.Effect<SocketServer, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const connectionsMax = yield* atStart(() =>
      connectionsOf(env, softLimitOf(textAt("/proc/self/limits") ?? "", "Max open files")),
    );
    const run = yield* FiberSet.makeRuntime<never, unknown, unknown>();
    const guard: Guard = { token, isNeeded: () => isOpenToOthers(path) };
    const isTest = env.HOLDFAST_VALIDATE === "1";
    return yield* listen(path, connectionsMax, (socket) => {
      const callerOf = peers.callerOf(socket);
      const judgedSocket = isTest ? judged(socket, output.inline_max_bytes) : socket;
      const { principalOf } = services.runtime;
      const lane = turns.lane();
      return new Session(judgedSocket, { services, callerOf, principalOf, run, defects, guard, turns: lane });
    });
  });

/** `ending` shuts the runtime down. Afterwards the daemon stops. */
const shutdown = (
  ending: Effect.Effect<void, HoldfastError>,
  reason: string,
  server: Pick<SocketServer, "refuse" | "accept">,
  stopped: Deferred.Deferred<string, HoldfastError>,
): Effect.Effect<void, HoldfastError> =>
  Effect.suspend(() => {
    // A signal during `daemon/stop` changes nothing.
    if (!server.refuse(stopping())) return Effect.asVoid(Deferred.await(stopped));
    let goesOn = false;
    const served = Effect.tapError(ending, ({ code }) => {
      // Its agents still run, and no other daemon would supervise them.
      goesOn = code === "AGENTS_RUNNING";
      return goesOn ? server.accept : Effect.void;
    });
    const told = Effect.suspend(() => (goesOn ? Effect.void : Deferred.succeed(stopped, reason)));
    return Effect.ensuring(served, told);
  });

const keepPlace = (
  options: DaemonOptions,
  pulse: Pulse,
  { path, own, lock, token }: OwnedStateDirectory,
  { server, http }: { readonly server: SocketServer; readonly http: HttpServer | undefined },
  stopped: Deferred.Deferred<string, HoldfastError>,
) =>
  Effect.gen(function* () {
    const { stateDir, log } = options;
    const link = yield* holdLink(options, path);
    const kept: readonly KeptFile[] = [
      keptDaemonFile(stateDir, own),
      { what: "the socket", keep: server.keep() },
      ...keptLog(stateDir, options.output),
      { what: "daemon.token", keep: Effect.sync(() => keepToken(stateDir, token)) },
      ...(link === undefined ? [] : [keptLink(link, path)]),
      ...(http === undefined ? [] : [keptHttp(http)]),
    ];
    // The log belongs to the other daemon now, so nothing more is written to it.
    yield* keepInPlace(pulse, stateDir, lock, kept, log, (error) => Deferred.fail(stopped, error));
  });

const stopOnSignal = ({ signalled, log }: DaemonOptions, services: Pick<HandlerServices, "shutdown">) =>
  signalled.pipe(
    Effect.flatMap((signal) => services.shutdown("keep", signal)),
    Effect.catchCause((cause) =>
      Effect.sync(() => log("error", "the shutdown failed", { cause: String(cause) })),
    ),
    Effect.forkScoped,
  );

const prepareDirectories = (stateDir: string, socket: string): Effect.Effect<void, HoldfastError> =>
  atStart(() => {
    ensurePrivateDirectory(stateDir);
    if (dirname(socket) === stateDir) return;
    refuseForeignDirectory(dirname(socket));
    ensurePrivateDirectory(dirname(socket));
  });

const holdLock = (
  { stateDir, takeOver, log }: DaemonOptions,
  holder: DaemonFile,
): Effect.Effect<StateLock, HoldfastError, Scope.Scope> =>
  Effect.acquireRelease(
    takeOver === undefined
      ? atStart(() => acquireLock(stateDir, holder))
      : Effect.gen(function* () {
          yield* atStart(takeOver.check);
          log("info", "ready to take over", { pid: process.pid });
          crashPoint("take-over-ready");
          const deadline = performance.now() + TAKE_OVER_WAIT_MS;
          while (performance.now() < deadline) {
            const lock = yield* atStart(() => tryLock(stateDir, holder, 0));
            if (lock !== undefined) return lock;
            yield* Effect.sleep(DAEMON_START_POLL_MS);
          }
          return yield* atStart(() => acquireLock(stateDir, holder));
        }),
    (lock) => Effect.sync(() => lock.release()),
  );

/**
 * The link is a convenience for other programs: if it cannot be made, the daemon logs that and continues.
 * Returns the link's path.
 */
const holdLink = (
  { stateDir, env, home, log }: DaemonOptions,
  socket: string,
): Effect.Effect<string | undefined, never, Scope.Scope> => {
  const link = runtimeLink(stateDir, env, home);
  if (link === undefined) return Effect.succeed(undefined);
  const held = Effect.acquireRelease(
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
  return Effect.as(held, link);
};

/**
 * A system error about the state directory stops the start with the system's own message; any other error is
 * a defect.
 */
const atStart = <A>(body: () => A): Effect.Effect<A, HoldfastError> =>
  Effect.mapError(attempt(body), (error) =>
    error.code === "INTERNAL" && isOfTheSystem(error.cause)
      ? new HoldfastError("STORE_FAILED", error.cause.message, { cause: error.cause })
      : error,
  );
