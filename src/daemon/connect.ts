/**
 * Connects a client to its daemon. The light client loads this file, so neither it nor its imports may load
 * effect or SQLite.
 */
import { createConnection, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { statAt } from "../base/files/regular-file.ts";
import {
  DAEMON_START_CLAIM_MS,
  DAEMON_START_POLL_MS,
  DAEMON_START_WAIT_MS,
  SOCKET_AGAIN_WAIT_MS,
} from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import {
  AFTER_EMBEDDING,
  type DaemonFile,
  holderWords,
  isEmbedding,
  isHolderAlive,
  readDaemonFile,
} from "./daemon-file.ts";
import { lockHolder, silentHolder } from "./lock-holder.ts";
import { claimPath, type Environment, socketPath } from "./paths.ts";
import { refuseForeignDirectory } from "./private-directory.ts";

export interface DaemonAddress {
  readonly stateDir: string;
  /** The daemon program to start if no daemon answers. Without it the error is SUPERVISOR_DOWN. */
  readonly bundle?: string;
  readonly env: Environment;
}

/**
 * Connects to the daemon of a state directory. Fails with SUPERVISOR_DOWN, LOCK_HELD or PERMISSION_DENIED.
 */
export const connectDaemon = async (options: DaemonAddress): Promise<Socket> => {
  const { stateDir, bundle, env } = options;
  const path = socketPath(stateDir, process.getuid?.() ?? 0);
  if (dirname(path) !== stateDir) refuseForeignDirectory(dirname(path));
  const socket = await tryExpected(options, path);
  if (socket !== undefined) return socket;
  const holder = readDaemonFile(stateDir);
  if (holder !== undefined && isEmbedding(holder) && isHolderAlive(holder))
    throw embedded(stateDir, holder, bundle !== undefined);
  if (bundle === undefined) throw silentHolder(stateDir) ?? (await noDaemon(stateDir));
  // Loaded only now, because `node:child_process` takes a tenth of a client's start and few clients start a
  // daemon.
  const { startDaemon } = await import("./start.ts");
  return startDaemon({ stateDir, bundle, env, connect: () => tryConnect(path) });
};

/** The error for an embedding program: no client reaches it, and no daemon can start beside it. */
const embedded = (stateDir: string, holder: DaemonFile, isStart: boolean): HoldfastError =>
  new HoldfastError(
    isStart ? "LOCK_HELD" : "SUPERVISOR_DOWN",
    `${holderWords(holder)} holds ${stateDir}, and no daemon runs for it.`,
    { suggestion: AFTER_EMBEDDING, details: { pid: holder.pid, version: holder.version } },
  );

/** Agents outlive a daemon, so the error says how many of them wait for the next one. */
const noDaemon = async (stateDir: string): Promise<HoldfastError> => {
  const { livingUnder } = await import("../adapters/process/living.ts");
  const living = new Set((await livingUnder(join(stateDir, "runs"))).map(({ worker_id }) => worker_id)).size;
  const killed = wasKilled(stateDir) ? "The last one was killed. " : "";
  const suggestion =
    living === 0
      ? `${killed}Start it with: agent daemon start (agent spawn does so by itself).`
      : `${killed}${living === 1 ? "1 worker goes" : `${living} workers go`} on without it. Take over with: agent daemon start`;
  return new HoldfastError("SUPERVISOR_DOWN", `No daemon runs for ${stateDir}.`, { suggestion });
};

/** A daemon that stops in order removes its file. */
const wasKilled = (stateDir: string): boolean => {
  const holder = readDaemonFile(stateDir);
  return holder !== undefined && !isHolderAlive(holder);
};

/**
 * A daemon without a socket is about to stop or to make the socket again; after a stop the next daemon takes
 * over.
 */
const tryExpected = async (
  { stateDir, bundle }: DaemonAddress,
  path: string,
): Promise<Socket | undefined> => {
  const deadline = performance.now() + SOCKET_AGAIN_WAIT_MS;
  for (;;) {
    const socket = await tryConnect(path);
    if (socket !== undefined || performance.now() > deadline) return socket;
    const claimed = statAt(claimPath(stateDir));
    const isTakenOver = claimed !== undefined && Date.now() - claimed.mtimeMs < DAEMON_START_CLAIM_MS;
    const holder = readDaemonFile(stateDir);
    // A program that embeds the runtime has no socket. A daemon whose file is gone makes it again.
    const isExpected =
      holder === undefined
        ? bundle === undefined && lockHolder(stateDir) !== undefined
        : !isEmbedding(holder) && isHolderAlive(holder);
    if (!isExpected && !(isTakenOver && bundle === undefined)) return undefined;
    await new Promise((resolve) => setTimeout(resolve, DAEMON_START_POLL_MS));
  }
};

const noPlace = (path: string, cause: Error): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `${path} cannot exist: a part of its path is not a directory.`, {
    cause,
    suggestion: "Choose another --state-dir or HOLDFAST_HOME.",
  });

/** ELOOP: instead of the socket there is a link to itself. ECONNRESET: the daemon was killed before it took the connection. */
const NOBODY: ReadonlySet<string | undefined> = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "ELOOP"]);

/**
 * Undefined if no process listens: there is no socket, or a killed daemon left it. Waits while the daemon's
 * connection queue is full.
 */
export const tryConnect = (
  path: string,
  deadline = performance.now() + DAEMON_START_WAIT_MS,
): Promise<Socket | undefined> =>
  new Promise((resolve, reject) => {
    const socket = createConnection({ path });
    const onError = (cause: NodeJS.ErrnoException): void => {
      if (NOBODY.has(cause.code)) resolve(undefined);
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
