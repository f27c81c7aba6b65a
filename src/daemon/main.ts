/**
 * The daemon's life: lock, runtime (log, spawner, boot reconcile), socket, and an orderly end. Agents outlive
 * the daemon (architecture §5): a signal stops the daemon and keeps them. Only `daemon/stop` with `kill` ends
 * them.
 */
import { flushCompileCache } from "node:module";
import { Deferred, Effect, type Scope } from "effect";
import type { Defects } from "../actors/defects.ts";
import { attempt, attemptAsync } from "../actors/machine/attempt.ts";
import { bridgeMakerOf } from "../adapters/bridge/maker.ts";
import { findDelegated } from "../adapters/process/cgroups.ts";
import { lineageOf } from "../adapters/process/origin.ts";
import type { Registry } from "../adapters/registry.ts";
import { type MakeRuntime, makerOf } from "../adapters/user-runtimes.ts";
import { crashPoint } from "../base/crash-point.ts";
import { COMMAND_PROGRAM } from "../base/own-command.ts";
import { artifactizer } from "../protocol/artifactize.ts";
import type { Configuration } from "../protocol/configuration.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { RuntimeApi } from "../runtime/api.ts";
import type { OpenRuntimeOptions } from "../runtime/open.ts";
import { openPrices } from "../runtime/prices/lists.ts";
import { answerCallsBy } from "./call-answers.ts";
import type { AnswerCall } from "./cluster/call-desk.ts";
import type { TellNotice } from "./cluster/questions.ts";
import { openCluster } from "./clustering.ts";
import { configuredRegistry, readConfiguration } from "./configuration.ts";
import type { HandlerServices } from "./handlers/handler.ts";
import { watchHealth } from "./health.ts";
import { type HttpServer, keptHttp, openHttp, withHttp } from "./http/open.ts";
import { type KeptFile, keepInPlace, keptDaemonFile, keptLink } from "./keeping.ts";
import { limitsOf, outputOf, retentionOf, retentionSizeOf } from "./limits.ts";
import { type Log, textOf } from "./log.ts";
import { keptLog } from "./log-file.ts";
import type { LogOutput } from "./log-output.ts";
import type { NotificationsApi } from "./notifications-api.ts";
import { openNotifications } from "./notifying.ts";
import { Once } from "./once.ts";
import { type Environment, runtimeLink } from "./paths.ts";
import { makePeers, peerPid } from "./peer.ts";
import { atStart, type OwnedStateDirectory, takePlace } from "./place.ts";
import { withPlaceQuestions } from "./place-questions.ts";
import { type Pulse, startPulse } from "./pulse.ts";
import { Rights } from "./rights.ts";
import { linkSocket, unlinkSocket } from "./runtime-link.ts";
import { openArtifacts, serveSocket } from "./serving.ts";
import type { SocketServer } from "./socket.ts";
import { isTraced, openTelemetry } from "./telemetering.ts";
import { keepToken } from "./token.ts";
import { makeTrim } from "./trim.ts";
import { makeTurns } from "./turns.ts";
import { type Watchdog, watchLoop } from "./watchdog.ts";

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
    const place = yield* takePlace(options, { command: ownCommand() });
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
    tellRefused(registry, log);
    crashPoint("boot-before-log");
    const rights = new Rights();
    const given = { registry, output, leases: rights, budgets: rights, onTick: ticking(watchdog, pulse) };
    const runtime = yield* openRuntime(options, place.path, given);
    // An agent that was ended with the last daemon must not undo that by starting the next one.
    yield* runtime.permitStart(runtime.identifyIn(startedBy));
    // A boot takes some time without ticks.
    watchdog.ticked();
    const health = yield* watchHealth(pulse, makeTrim());
    const stopped = yield* Deferred.make<string, HoldfastError>();
    // A client may connect before both doors are open.
    let doors: Doors | undefined;
    const opened = yield* Deferred.make<Pick<SocketServer, "refuse" | "accept">>();
    const artifacts = yield* openArtifacts(options);
    const peers = peersOf(runtime, log);
    const isHealthy = () => watchdog.health().ok;
    const told = { ...options, runtime, rights, url: () => doors?.http?.url(), isHealthy };
    const { parts, telemetry, answersBy } = yield* openSides(told);
    const services: Omit<HandlerServices, "caller"> = {
      ...parts,
      artifactize: artifactizer(async (bytes) => (await artifacts.put(bytes)).digest, output),
      once: new Once(),
      facts: () => ({
        socket: place.path,
        ...factsOf(doors),
        loop_lag_ms: health.loopLag(),
        defects: options.defects.counted(),
        health: watchdog.health(),
        configuration_changed: registry.isOutdated?.() ?? false,
        callers: peers.evidence(),
        telemetry: telemetry.standing(),
        served_by: "daemon",
      }),
      shutdown: (agents, reason, by) =>
        Effect.flatMap(Deferred.await(opened), (door) =>
          shutdown(parts.cluster.stopping(runtime.shutdown(agents, reason, by)), reason, door, stopped),
        ),
    };
    yield* answersBy(services);
    crashPoint("boot-before-socket");
    const turns = makeTurns(() => performance.now(), setImmediate);
    const server = yield* serveSocket(options, place, services, { peers, turns, output });
    const http = yield* openHttp(options, services, turns, artifacts.get, isHealthy);
    doors = { server, http };
    const door = http === undefined ? server : withHttp(server, http);
    yield* Deferred.succeed(opened, door);
    ({ facts } = services);
    watchdog.beat();
    yield* keepPlace(options, pulse, place, doors, stopped);
    yield* stopOnSignal(options, services);
    // Written now, because a killed daemon would leave no cache to the next one.
    flushCompileCache();
    log("info", "listening", { pid: process.pid, version, socket: place.path, state_dir: stateDir });
    yield* untilStopped(stopped, door, log);
  });

const ticking = (watchdog: Pick<Watchdog, "ticked">, pulse: Pick<Pulse, "join">) => (): void => {
  watchdog.ticked();
  pulse.join();
};

const untilStopped = (
  stopped: Deferred.Deferred<string, HoldfastError>,
  door: Pick<SocketServer, "drain">,
  log: Log,
): Effect.Effect<void, HoldfastError> =>
  Effect.gen(function* () {
    const reason = yield* Deferred.await(stopped);
    yield* door.drain(stopping());
    log("info", "stopped", { reason });
  });

type SideGround = Omit<Parameters<typeof openNotifications>[0], "cluster"> &
  Parameters<typeof openTelemetry>[0] &
  Omit<Parameters<typeof openCluster>[0], "tell" | "answer">;

/** The parts beside the runtime, each only where it is configured; the runtime with the questions of the cluster; and the way to the requests of other nodes. */
const openSides = (told: SideGround) =>
  Effect.gen(function* () {
    const opened = yield* Deferred.make<NotificationsApi>();
    const tell: TellNotice = (notice, isMine) =>
      Effect.runPromise(Effect.flatMap(Deferred.await(opened), ({ tell }) => tell(notice, isMine)));
    const answers = yield* Deferred.make<AnswerCall>();
    const answer: AnswerCall = (...asked) =>
      Effect.flatMap(Deferred.await(answers), (answered) => answered(...asked));
    const cluster = yield* openCluster({ ...told, tell, answer });
    const runtime = withPlaceQuestions(told.runtime, cluster);
    const notifications = yield* openNotifications({ ...told, runtime, cluster });
    yield* Deferred.succeed(opened, notifications);
    const answersBy = (services: Omit<HandlerServices, "caller">) =>
      Deferred.succeed(answers, answerCallsBy(services, told.defects));
    return { parts: { runtime, notifications, cluster }, telemetry: yield* openTelemetry(told), answersBy };
  });

const tellRefused = ({ refused }: Registry, log: Log): void => {
  for (const { module, why } of refused)
    log("warn", "an adapter, or the configuration, is left out", { module, why });
};

const peersOf = ({ identify }: RuntimeApi, log: Log) =>
  makePeers(identify, (reason) =>
    log("warn", "callers are known only by what they say of themselves", { reason }),
  );

interface Doors {
  readonly server: SocketServer;
  readonly http: HttpServer | undefined;
}

const factsOf = ({ server, http }: Partial<Doors> = {}) => ({
  connections: server?.connections() ?? 0,
  requests_in_flight: server?.inFlight() ?? 0,
  http: http === undefined ? null : { url: http.url() ?? null, trouble: http.trouble() ?? null },
});

/** Node and the daemon's program. */
const ownCommand = (): readonly string[] => [process.execPath, ...process.argv.slice(1, 2)];

const stopping = (): HoldfastError => new HoldfastError("UNAVAILABLE", "The daemon is stopping.");

interface OpeningParts extends Pick<OpenRuntimeOptions, "registry" | "onTick" | "leases" | "budgets"> {
  readonly output: ReturnType<typeof outputOf>;
}

const openRuntime = (
  options: DaemonOptions,
  socket: string,
  { output, ...parts }: OpeningParts,
): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { stateDir, version, log } = options;
    const { configuration, problems = [] } = readConfiguration(stateDir) ?? {};
    const { roles, skills, federation, runtimes = {} } = configuration ?? {};
    return yield* options.openRuntime({
      stateDir,
      version,
      cgroup: findDelegated(options.env.HOLDFAST_CGROUP, process.getuid?.() ?? 0),
      limits: yield* atStart(() => limitsOf(options.env)),
      retentionMs: yield* atStart(() => retentionOf(options.env)),
      retentionBytes: yield* atStart(() => retentionSizeOf(options.env)),
      roles,
      peers: problems.length > 0 ? null : federation?.peers,
      runtimes: new Map(
        Object.entries(runtimes).map(([name, one]) => [name, makerFor(name, one, options, socket)]),
      ),
      prices: yield* atStart(() => openPrices(options.env.HOLDFAST_PRICES)),
      skills,
      isTraced: isTraced(options),
      report: (message, cause) => log("error", message, { cause: textOf(cause) }),
      defects: options.defects,
      captureMaxBytes: output.capture_max_bytes,
      ...parts,
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
  return bridgeMakerOf(name, bridge, {
    env,
    daemon: { socket: daemonSocket, binary: COMMAND_PROGRAM },
    peerPid,
    report,
  });
};

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
  { server, http }: Doors,
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
