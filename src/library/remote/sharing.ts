/** One runtime for the programs of a directory: the first one opens it and serves, and the others connect. */
import { setTimeout as sleep } from "node:timers/promises";
import { NEXT_DAEMON_POLL_MS, NEXT_DAEMON_WAIT_MS } from "../../base/limits.ts";
import { isEmbedding, readDaemonFile } from "../../daemon/daemon-file.ts";
import { type ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import { aborted } from "../promises.ts";

interface SharedRuntime<R> {
  readonly connect: () => Promise<R>;
  readonly open: () => Promise<R>;
  readonly stateDir: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * The lock decides, so there is one owner. A program that finds neither a server nor a free lock meets an owner that begins or
 * ends, and tries again for NEXT_DAEMON_WAIT_MS.
 */
export const shared = async <R>({ connect, open, stateDir, signal }: SharedRuntime<R>): Promise<R> => {
  const deadline = performance.now() + NEXT_DAEMON_WAIT_MS;
  for (;;) {
    const client = await unless(["SUPERVISOR_DOWN", "UNAVAILABLE"], connect);
    if (!(client instanceof HoldfastError)) return client;
    const owner = await unless(["LOCK_HELD"], open);
    if (!(owner instanceof HoldfastError)) return owner;
    const holder = readDaemonFile(stateDir);
    const isUnserved = holder !== undefined && isEmbedding(holder);
    if (isUnserved || performance.now() > deadline) throw owner;
    await sleep(NEXT_DAEMON_POLL_MS, undefined, { signal }).catch(() => {
      throw aborted(signal as AbortSignal);
    });
  }
};

/** An error with one of these codes as a value; any other is thrown. */
const unless = async <R>(
  codes: readonly ErrorCode[],
  attempt: () => Promise<R>,
): Promise<R | HoldfastError> => {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof HoldfastError && codes.includes(error.code)) return error;
    throw error;
  }
};
