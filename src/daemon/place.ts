/** A state directory that this process owns: its directories, its lock with the holder's name, and its token. */
import { dirname } from "node:path";
import { Effect, type Scope } from "effect";
import { attempt } from "../actors/machine/attempt.ts";
import { crashPoint } from "../base/crash-point.ts";
import { DAEMON_START_POLL_MS, TAKE_OVER_WAIT_MS } from "../base/limits.ts";
import { isOfTheSystem } from "../base/system-errors.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { type DaemonFile, ownIdentity } from "./daemon-file.ts";
import { removeLeftovers } from "./leftovers.ts";
import { acquireLock, type StateLock, tryLock } from "./lock.ts";
import type { Log } from "./log.ts";
import { closeToOthers } from "./modes.ts";
import { socketPath } from "./paths.ts";
import { ensurePrivateDirectory, refuseForeignDirectory } from "./private-directory.ts";
import { ensureToken } from "./token.ts";

interface PlaceOptions {
  /** Absolute path; created with mode 0700 if missing. */
  readonly stateDir: string;
  readonly version: string;
  readonly log: Log;
  /**
   * Wait until the running daemon gives up the state directory; `check` throws if this version could not take
   * it over.
   */
  readonly takeOver?: { readonly check: () => void } | undefined;
}

export interface OwnedStateDirectory {
  /** The path of its socket. */
  readonly path: string;
  readonly own: DaemonFile;
  readonly lock: StateLock;
  readonly token: string;
}

/** The lock comes first, because nothing in the state directory may change while another daemon has it. */
export const takePlace = (
  options: PlaceOptions,
  holder: Pick<DaemonFile, "command" | "program">,
): Effect.Effect<OwnedStateDirectory, HoldfastError, Scope.Scope> =>
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
      ...holder,
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

const prepareDirectories = (stateDir: string, socket: string): Effect.Effect<void, HoldfastError> =>
  atStart(() => {
    ensurePrivateDirectory(stateDir);
    if (dirname(socket) === stateDir) return;
    refuseForeignDirectory(dirname(socket));
    ensurePrivateDirectory(dirname(socket));
  });

const holdLock = (
  { stateDir, takeOver, log }: PlaceOptions,
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
 * A system error about the state directory stops the start with the system's own message; any other error is
 * a defect.
 */
export const atStart = <A>(body: () => A): Effect.Effect<A, HoldfastError> =>
  Effect.mapError(attempt(body), (error) =>
    error.code === "INTERNAL" && isOfTheSystem(error.cause)
      ? new HoldfastError("STORE_FAILED", error.cause.message, { cause: error.cause })
      : error,
  );
