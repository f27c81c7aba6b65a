/**
 * The socket of a runtime that a program embeds: clients and the `agent` command use it as they use a daemon. It has no
 * watchdog, no log file and no HTTP, and it ends with the program.
 */
import { Effect, type Scope } from "effect";
import { type Defects, makeDefects } from "../actors/defects.ts";
import { attempt } from "../actors/machine/attempt.ts";
import { CLOCK_TICK_MS, TICKS_MISSED_MAX } from "../base/limits.ts";
import { artifactizer } from "../protocol/artifactize.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { RuntimeApi } from "../runtime/api.ts";
import { NO_CLUSTER } from "./cluster-api.ts";
import type { HandlerServices } from "./handlers/handler.ts";
import { watchHealth } from "./health.ts";
import { keepInPlace, keptDaemonFile } from "./keeping.ts";
import { outputOf } from "./limits.ts";
import type { Log } from "./log.ts";
import { NO_NOTIFICATIONS } from "./notifications-api.ts";
import { Once } from "./once.ts";
import type { Environment } from "./paths.ts";
import { makePeers } from "./peer.ts";
import { type OwnedStateDirectory, takePlace } from "./place.ts";
import { type Pulse, startPulse } from "./pulse.ts";
import { openArtifacts, serveSocket } from "./serving.ts";
import type { SocketServer } from "./socket.ts";
import { keepToken } from "./token.ts";
import { makeTurns } from "./turns.ts";

interface EmbeddedOptions {
  /** Absolute path; created with mode 0700 if missing. */
  readonly stateDir: string;
  readonly version: string;
  readonly env: Environment;
  /** Gets each problem that fails no call. */
  readonly report: (message: string, cause?: unknown) => void;
}

export interface EmbeddedServer {
  /** Absolute path. */
  readonly socket: string;
  readonly defects: Defects;
  /** Called with each tick of the runtime. */
  readonly onTick: () => void;
  /** Serves the runtime until the end of the scope, which first lets requests in flight be answered. */
  serve(runtime: RuntimeApi): Effect.Effect<void, HoldfastError, Scope.Scope>;
}

/** Takes the state directory. Fails with LOCK_HELD if another process has it. */
export const embeddedServer = (
  options: EmbeddedOptions,
): Effect.Effect<EmbeddedServer, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { stateDir, version, report } = options;
    const log: Log = (level, message, facts) => {
      if (level !== "info") report(message, facts?.cause);
    };
    const place = yield* takePlace({ stateDir, version, log }, { program: true });
    const pulse = yield* startPulse;
    const defects = makeDefects(report);
    let tickedAt = performance.now();
    return {
      socket: place.path,
      defects,
      onTick: () => {
        tickedAt = performance.now();
        pulse.join();
      },
      serve: (runtime) => served(options, { place, pulse, defects, log, tickedAt: () => tickedAt }, runtime),
    };
  });

interface EmbeddedParts {
  readonly place: OwnedStateDirectory;
  readonly pulse: Pulse;
  readonly defects: Defects;
  readonly log: Log;
  readonly tickedAt: () => number;
}

const served = (
  options: EmbeddedOptions,
  { place, pulse, defects, log, tickedAt }: EmbeddedParts,
  runtime: RuntimeApi,
): Effect.Effect<void, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { stateDir, env, report } = options;
    const output = yield* attempt(() => outputOf(env));
    const health = yield* watchHealth(pulse, () => undefined);
    const artifacts = yield* openArtifacts(options);
    const peers = makePeers(runtime.identify, (reason) =>
      report(`callers are known only by what they say of themselves: ${reason}`),
    );
    const services: Omit<HandlerServices, "caller"> = {
      runtime,
      artifactize: artifactizer(async (bytes) => (await artifacts.put(bytes)).digest, output),
      once: new Once(),
      notifications: NO_NOTIFICATIONS,
      cluster: NO_CLUSTER,
      facts: () => {
        const tick_age_ms = Math.round(performance.now() - tickedAt());
        const ok = tick_age_ms <= TICKS_MISSED_MAX * CLOCK_TICK_MS;
        return {
          socket: place.path,
          connections: server.connections(),
          requests_in_flight: server.inFlight(),
          loop_lag_ms: health.loopLag(),
          defects: defects.counted(),
          health: { ok, tick_age_ms, stalls: { count: 0, longest_ms: 0 } },
          configuration_changed: false,
          callers: peers.evidence(),
          served_by: "program",
          http: null,
          telemetry: null,
        };
      },
      shutdown: () => Effect.fail(ofTheProgram()),
    };
    const server: SocketServer = yield* serveSocket({ env, defects }, place, services, {
      peers,
      turns: makeTurns(() => performance.now(), setImmediate),
      output,
    });
    yield* Effect.addFinalizer(() => server.drain(closing(stateDir)));
    const kept = [
      keptDaemonFile(stateDir, place.own),
      { what: "the socket", keep: server.keep() },
      { what: "daemon.token", keep: Effect.sync(() => keepToken(stateDir, place.token)) },
    ];
    yield* keepInPlace(pulse, stateDir, place.lock, kept, log, (error) =>
      Effect.sync(() => report(error.message, error)),
    );
  });

const ofTheProgram = (): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    `A program, pid ${process.pid}, embeds this runtime and alone stops it.`,
    {
      suggestion:
        "Close the runtime in that program, or end the program: its agents go on, and the next one takes them over.",
    },
  );

const closing = (stateDir: string): HoldfastError =>
  new HoldfastError(
    "UNAVAILABLE",
    `The program that serves ${stateDir}, pid ${process.pid}, closes its runtime.`,
    {
      suggestion: "Open the directory again, for example with Runtime.openOrConnect, or: agent daemon start.",
    },
  );
