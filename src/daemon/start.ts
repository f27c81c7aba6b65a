/**
 * Starts a daemon in the background for a client that found none. The light client loads this file, so it
 * must not load effect or SQLite.
 *
 * Many clients may do this at once. The daemon's lock decides which daemon wins. The claim file only keeps
 * other clients from starting daemons that would lose, so a stale or stolen claim does no harm.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, renameSync, rmSync, utimesSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  APPEND,
  clearName,
  openRegular,
  REPLACE,
  readRegular,
  sizeOfRegular,
  statAt,
} from "../base/files/regular-file.ts";
import {
  DAEMON_BOOT_WAIT_MS,
  DAEMON_LOG_MAX_BYTES,
  DAEMON_START_CLAIM_MS,
  DAEMON_START_POLL_MS,
  DAEMON_START_WAIT_MS,
} from "../base/limits.ts";
import { afterTries, ERROR_CATALOGUE, HoldfastError } from "../protocol/errors.ts";
import { silentHolder } from "./lock-holder.ts";
import { COMPILE_CACHE_VARIABLE, DAEMON_NODE_FLAGS } from "./node-flags.ts";
import { claimPath, daemonLogPath, type Environment } from "./paths.ts";
import { ensurePrivateDirectory } from "./private-directory.ts";
import { refuseFromInside } from "./start-from-inside.ts";

export interface StartOptions {
  readonly stateDir: string;
  /** The daemon's program, `entry.ts` or its bundle. */
  readonly bundle: string;
  readonly env: Environment;
  readonly connect: () => Promise<Socket | undefined>;
}

/**
 * Waits until the daemon answers, and starts it if no other client does. Fails with SUPERVISOR_DOWN, quoting
 * the daemon's last line, if it ends or does not answer within DAEMON_BOOT_WAIT_MS. It waits DAEMON_START_WAIT_MS for
 * a process that holds the state directory and that no client is starting.
 */
export const startDaemon = async ({ stateDir, bundle, env, connect }: StartOptions): Promise<Socket> => {
  ensurePrivateDirectory(stateDir);
  const began = performance.now();
  const claim = claimPath(stateDir);
  let claimed: StartClaim | undefined;
  let tries = 0;
  let child: StartedDaemon | undefined;
  try {
    // A client that is starting a daemon renews its claim, so a claim that cannot be taken is a daemon that boots.
    const isBooting = () => claimed === undefined || child !== undefined;
    const patience = () => (isBooting() ? DAEMON_BOOT_WAIT_MS : DAEMON_START_WAIT_MS);
    while (performance.now() - began < patience()) {
      tries += 1;
      const socket = await connect();
      if (socket !== undefined) return socket;
      if (claimed === undefined && child === undefined && takeClaim(claim)) {
        claimed = keepClaim(claim);
        // Between the last try and the claim, the client that had it may have started a daemon.
        continue;
      }
      claimed?.renew();
      if (claimed !== undefined && child === undefined) {
        refuseFromInside(stateDir);
        child = launch(stateDir, [process.execPath, bundle], [], env);
      }
      // It lost to a daemon that does not answer yet, or is just stopping.
      if (child?.lost()) child = undefined;
      const failed = child?.failed();
      if (failed !== undefined) throw notStarted(stateDir, failed);
      await sleep(DAEMON_START_POLL_MS);
    }
  } finally {
    claimed?.release();
  }
  const waited = Math.round((performance.now() - began) / 1000);
  const silent = `The daemon of ${stateDir} did not answer within ${waited} s.`;
  throw afterTries(silentHolder(stateDir) ?? down(stateDir, silent), tries, DAEMON_START_POLL_MS);
};

/** The last line is a line of its log, with a sentence and the next step, or an error of Node. */
const notStarted = (stateDir: string, line: string): HoldfastError => {
  let told: { message?: unknown; next?: unknown } = {};
  try {
    told = JSON.parse(line);
  } catch {
    // Not a line of the log.
  }
  const { message = line, next } = told;
  const error = down(stateDir, `The daemon did not start: ${message}`);
  return typeof next !== "string"
    ? error
    : new HoldfastError("SUPERVISOR_DOWN", error.message, { suggestion: `${next} ${error.suggestion}` });
};

const down = (stateDir: string, message: string): HoldfastError =>
  new HoldfastError("SUPERVISOR_DOWN", message, { suggestion: `See ${daemonLogPath(stateDir)}.` });

/**
 * Keeps other clients from starting a daemon for a moment; they wait for this one. Returns the function that
 * removes the claim.
 */
export const claimStart = (stateDir: string): (() => void) => {
  const path = claimPath(stateDir);
  clearName(path);
  closeSync(openRegular(path, REPLACE, 0o600));
  return () => rmSync(path, { force: true });
};

interface StartClaim {
  /** Tells other clients that this one lives. */
  renew(): void;
  release(): void;
}

const keepClaim = (path: string): StartClaim => {
  let renewed = performance.now();
  return {
    renew: () => {
      if (performance.now() - renewed < DAEMON_START_CLAIM_MS / 3) return;
      renewed = performance.now();
      const now = new Date();
      try {
        utimesSync(path, now, now);
      } catch {
        // Another client took it.
      }
    },
    release: () => rmSync(path, { force: true }),
  };
};

const takeClaim = (path: string): boolean => {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    clearName(path);
    const claimed = statAt(path);
    // The client that claimed it was killed, so the next check takes the claim. A claim from the future does
    // not count.
    if (claimed !== undefined && Math.abs(Date.now() - claimed.mtimeMs) > DAEMON_START_CLAIM_MS)
      rmSync(path, { force: true });
    return false;
  }
};

export interface StartedDaemon {
  /** True once it has ended because another daemon has the state directory. */
  lost(): boolean;
  /** Its last output, once it has ended for another reason. */
  failed(): string | undefined;
  /** All of its output. */
  said(): string;
  /** Ends it, if it still runs. */
  end(): void;
}

/** The client's place for what V8 has compiled, for the daemon, too: a start with it takes a sixth less processor time. */
const compileCache = (): Readonly<Record<string, string>> => {
  const versioned = getCompileCacheDir();
  return versioned === undefined ? {} : { [COMPILE_CACHE_VARIABLE]: dirname(versioned) };
};

/** Starts a daemon in the background: `command` is Node and the daemon's program. */
export const launch = (
  stateDir: string,
  [node, program]: readonly [string, string],
  flags: readonly string[],
  env: Environment,
): StartedDaemon => {
  const path = daemonLogPath(stateDir);
  const size = sizeOfRegular(path);
  if (size > DAEMON_LOG_MAX_BYTES) renameSync(path, `${path}.1`);
  clearName(path);
  const log = openRegular(path, APPEND, 0o600);
  let child: ChildProcess;
  let lost = false;
  let failure: string | undefined;
  try {
    // It has its own session and no marker of a run, so that it survives if the agent that started it is
    // killed.
    child = spawn(node, [...DAEMON_NODE_FLAGS, program, "--state-dir", stateDir, ...flags], {
      cwd: "/",
      detached: true,
      env: { ...daemonEnvironment(env), ...compileCache() },
      stdio: ["ignore", log, log],
    });
    child.once("error", (cause) => {
      failure = cause.message;
    });
    child.once("exit", (code, signal) => {
      lost = code === ERROR_CATALOGUE.LOCK_HELD.exit;
      if (!lost) failure = lastLine(path, size) ?? `it ended with ${signal ?? `exit code ${code}`}.`;
    });
    child.unref();
  } finally {
    closeSync(log);
  }
  return {
    lost: () => lost,
    failed: () => failure,
    said: () => textAfter(path, size),
    end: () => void child.kill("SIGKILL"),
  };
};

/**
 * The text of a log after byte `from`, or all of it if the file is shorter because the old one was moved
 * aside. A start prints less than the log's bound.
 */
const textAfter = (path: string, from: number): string => {
  const bytes = readRegular(path, 2 * DAEMON_LOG_MAX_BYTES) ?? Buffer.of();
  return bytes.subarray(from > bytes.length ? 0 : from).toString("utf8");
};

const lastLine = (path: string, from: number): string | undefined =>
  textAfter(path, from).trimEnd().split("\n").at(-1) || undefined;

const KEPT =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|TMPDIR|XDG_.*|OTEL_.*|HOLDFAST_(?!(RUN|PLACED|CRASH_AT|TOKEN|TOKEN_FILE)$).*)$/;

/**
 * The daemon gets only the variables that it needs itself. The environment of an agent comes from its own
 * client.
 */
export const daemonEnvironment = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && KEPT.test(entry[0]),
    ),
  );
