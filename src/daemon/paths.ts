/**
 * The paths of a daemon's files (architecture §8), as pure functions of the environment. A state directory
 * has one socket, inside it, so that a client can never reach the daemon of another state directory. Other
 * programs look for `$XDG_RUNTIME_DIR/holdfast/agent.sock`, which is a link to the socket of the default
 * state directory.
 */
import { isAbsolute, join, resolve } from "node:path";
import { SOCKET_PATH_MAX_BYTES } from "../base/limits.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** XDG Base Directory: a relative or empty path in a variable is ignored. */
const absolute = (value: string | undefined): string | undefined =>
  value && isAbsolute(value) ? value : undefined;

/** `HOLDFAST_HOME`, else `XDG_STATE_HOME/holdfast`, else `~/.local/state/holdfast`. */
export const stateDirectory = (env: Environment, home: string, cwd: string): string => {
  if (env.HOLDFAST_HOME) return resolve(cwd, env.HOLDFAST_HOME);
  return join(absolute(env.XDG_STATE_HOME) ?? join(home, ".local", "state"), "holdfast");
};

/**
 * The socket of a state directory. If its path does not fit into `sockaddr_un`, a short path in a private
 * directory below /tmp. `TMPDIR` is not used, because it may be long and may differ between a client and its
 * daemon.
 */
export const socketPath = (stateDir: string, uid: number): string => {
  const inside = join(stateDir, "agent.sock");
  if (Buffer.byteLength(inside) <= SOCKET_PATH_MAX_BYTES) return inside;
  // Loaded only here, because it is rarely needed and takes a tenth of the client's start.
  const { hash } = process.getBuiltinModule("node:crypto");
  return join(`/tmp/holdfast-${uid}`, `${hash("sha256", stateDir).slice(0, 16)}.sock`);
};

/**
 * The path of the documented link to the socket; undefined unless `stateDir` is the default one and a runtime
 * directory is set.
 */
export const runtimeLink = (stateDir: string, env: Environment, home: string): string | undefined => {
  const runtimeDir = absolute(env.XDG_RUNTIME_DIR);
  if (runtimeDir === undefined || env.HOLDFAST_HOME || stateDir !== stateDirectory(env, home, "/"))
    return undefined;
  return join(runtimeDir, "holdfast", "agent.sock");
};

/** The configuration of the user (docs/reference/daemon.md, Configuration). */
export const configurationPath = (stateDir: string): string => join(stateDir, "config.yaml");
export const daemonFilePath = (stateDir: string): string => join(stateDir, "daemon.json");
/** Exists while the daemon's loop or tick is blocked (watchdog.ts). */
export const stalledFilePath = (stateDir: string): string => join(stateDir, "daemon.stalled");
/** Exists while a client starts a daemon. */
export const claimPath = (stateDir: string): string => join(stateDir, "daemon.starting");
/** Which node of a cluster this daemon is; none without it. */
export const clusterFile = (stateDir: string): string => join(stateDir, "cluster.json");
/** The node's lease, for its guard. */
export const clusterLeaseFile = (stateDir: string): string => join(stateDir, "cluster.lease");
/** The guard of that lease: a lock, and the process that holds it. */
export const clusterGuardFile = (stateDir: string): string => join(stateDir, "cluster.guard");
export const daemonLogPath = (stateDir: string): string => join(stateDir, "daemon.log");
