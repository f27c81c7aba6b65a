/** A client's way to its daemon. Loaded by the light client: no effect, no SQLite here or in what it imports. */
import { statSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { dirname } from "node:path";
import { HoldfastError } from "../protocol/errors.ts";
import {
  DAEMON_START_CLAIM_MS,
  DAEMON_START_POLL_MS,
  DAEMON_START_WAIT_MS,
  SOCKET_AGAIN_WAIT_MS,
} from "../protocol/limits.ts";
import { isHolderAlive, readDaemonFile } from "./daemon-file.ts";
import { claimPath, type Environment, socketPath } from "./paths.ts";
import { refuseForeignDirectory } from "./private-directory.ts";

export interface ConnectOptions {
  readonly stateDir: string;
  /** The daemon program to start where none answers; without it the answer is SUPERVISOR_DOWN. */
  readonly bundle?: string;
  readonly env: Environment;
}

/** A connection to the daemon of a state directory. Fails with SUPERVISOR_DOWN, LOCK_HELD or PERMISSION_DENIED. */
export const connectDaemon = async (options: ConnectOptions): Promise<Socket> => {
  const { stateDir, bundle, env } = options;
  const path = socketPath(stateDir, process.getuid?.() ?? 0);
  if (dirname(path) !== stateDir) refuseForeignDirectory(dirname(path));
  const socket = await tryExpected(options, path);
  if (socket !== undefined) return socket;
  if (bundle === undefined)
    throw new HoldfastError("SUPERVISOR_DOWN", `No daemon runs for ${stateDir}.`, {
      suggestion: wasKilled(stateDir)
        ? "The last one was killed; agents that it ran go on. Take them over with: agent daemon start"
        : "Start it with: agent daemon start (agent spawn does so by itself).",
    });
  // Loaded here: `node:child_process` costs every client a tenth of its start, and few start a daemon.
  const { startDaemon } = await import("./start.ts");
  return startDaemon({ stateDir, bundle, env, connect: () => tryConnect(path) });
};

/** One that stops takes its file away. */
const wasKilled = (stateDir: string): boolean => {
  const holder = readDaemonFile(stateDir);
  return holder !== undefined && !isHolderAlive(holder);
};

/** Where a daemon lives whose socket is gone, it is about to stop, or to make the socket again; or the next one takes over. */
const tryExpected = async (
  { stateDir, bundle }: ConnectOptions,
  path: string,
): Promise<Socket | undefined> => {
  const deadline = performance.now() + SOCKET_AGAIN_WAIT_MS;
  for (;;) {
    const socket = await tryConnect(path);
    if (socket !== undefined || performance.now() > deadline) return socket;
    const claimed = statSync(claimPath(stateDir), { throwIfNoEntry: false });
    const isTakenOver = claimed !== undefined && Date.now() - claimed.mtimeMs < DAEMON_START_CLAIM_MS;
    const holder = readDaemonFile(stateDir);
    // A program that embeds the runtime has no socket.
    const isExpected = holder !== undefined && holder.socket !== "" && isHolderAlive(holder);
    if (!isExpected && !(isTakenOver && bundle === undefined)) return undefined;
    await new Promise((resolve) => setTimeout(resolve, DAEMON_START_POLL_MS));
  }
};

const noPlace = (path: string, cause: Error): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `${path} cannot be there: a part of its path is no directory.`, {
    cause,
    suggestion: "Choose another --state-dir or HOLDFAST_HOME.",
  });

/** undefined when nobody listens there: no socket, or one that a killed daemon left. Waits where the daemon's queue is full. */
export const tryConnect = (
  path: string,
  deadline = performance.now() + DAEMON_START_WAIT_MS,
): Promise<Socket | undefined> =>
  new Promise((resolve, reject) => {
    const socket = createConnection({ path });
    const onError = (cause: NodeJS.ErrnoException): void => {
      if (cause.code === "ENOENT" || cause.code === "ECONNREFUSED") resolve(undefined);
      else if (cause.code === "EAGAIN" && performance.now() < deadline) {
        setTimeout(() => resolve(tryConnect(path, deadline)), DAEMON_START_POLL_MS);
      } else if (cause.code === "ENOTDIR") reject(noPlace(path, cause));
      else {
        const code = cause.code === "EACCES" || cause.code === "EPERM" ? "PERMISSION_DENIED" : "UNAVAILABLE";
        reject(new HoldfastError(code, `The socket ${path} cannot be used: ${cause.message}.`, { cause }));
      }
    };
    socket.once("error", onError);
    socket.once("connect", () => {
      socket.off("error", onError);
      resolve(socket);
    });
  });
