/**
 * Commands that wait (watch, logs -f, wait) outlast their daemon, because agents do. They continue where they were when the
 * next daemon answers, and meanwhile say in one line what they wait for.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  CLUSTER_ANSWER_OF_NODE_MS,
  HOST_AGAIN_POLL_MS,
  HOST_AGAIN_WAIT_MS,
  NEXT_DAEMON_POLL_MS,
  NEXT_DAEMON_WAIT_MS,
} from "../base/limits.ts";
import type { Client } from "../daemon/client.ts";
import { afterTries, asHoldfastError, HoldfastError, isOfCluster } from "../protocol/errors.ts";
import type { Context } from "./context.ts";

export interface OutlastOptions {
  /** The command may start a daemon itself, but only after a crash, not after a stop. */
  readonly start?: boolean;
  /** The value of `performance.now()` after which the command stops waiting for the next daemon. */
  readonly deadline?: number | undefined;
  /** The command line that continues from here, for the case that no daemon comes. */
  readonly resume: () => string;
}

/** Asks the daemon, and the next daemon if this one goes away. `ask` must continue where it was. */
export const outlasting = async <T>(
  context: Context,
  options: OutlastOptions,
  ask: (client: Client) => Promise<T>,
): Promise<T> => {
  let client = await context.connect({ start: options.start === true });
  const outlastCluster = clusterAgain(context, options);
  for (;;) {
    const begun = performance.now();
    try {
      return await ask(client);
    } catch (cause) {
      const error = asHoldfastError(cause);
      // The connection broke, or the daemon said that it is stopping.
      if (error.code !== "UNAVAILABLE") throw cause;
      if (isOfCluster(error)) {
        await outlastCluster(error, begun);
        continue;
      }
      const crashed = client.isBroken();
      client.close();
      const start = options.start === true && crashed;
      context.notice(lostSentence(context, start));
      client = await nextDaemon(context, options, start);
      context.retried();
      context.notice(context.host === undefined ? "The next daemon answers." : "The host answers again.");
    }
  }
};

/** The daemon answers, and a node of its cluster or the database does not: the worker may go on elsewhere meanwhile. */
const clusterAgain = (context: Context, { deadline = Number.POSITIVE_INFINITY }: OutlastOptions) => {
  let failingSince = Number.NEGATIVE_INFINITY;
  let told = "";
  return async (error: HoldfastError, begun: number): Promise<void> => {
    const now = performance.now();
    // An answer that fails takes at most so long, and so a longer one was a wait that went well.
    if (now - begun > 2 * CLUSTER_ANSWER_OF_NODE_MS || failingSince < 0) failingSince = now;
    if (now > Math.min(failingSince + HOST_AGAIN_WAIT_MS, deadline)) throw error;
    if (told !== error.message) context.notice(`${error.message} This waits for it.`);
    told = error.message;
    await sleep(HOST_AGAIN_POLL_MS);
    context.retried();
  };
};

const lostSentence = ({ host }: Context, start: boolean): string => {
  if (host !== undefined)
    return `The connection to ${host} is gone; its agents keep running. Connecting again.`;
  return `The daemon is gone; its agents keep running. ${start ? "Starting" : "Waiting for"} the next one${start ? "." : ": agent daemon start"}`;
};

/** A host may be away for long: a laptop sleeps, a network is down. */
const waitsOf = (host: string | undefined): { readonly wait_ms: number; readonly poll_ms: number } =>
  host === undefined
    ? { wait_ms: NEXT_DAEMON_WAIT_MS, poll_ms: NEXT_DAEMON_POLL_MS }
    : { wait_ms: HOST_AGAIN_WAIT_MS, poll_ms: HOST_AGAIN_POLL_MS };

const nextDaemon = async (context: Context, options: OutlastOptions, start: boolean): Promise<Client> => {
  const { host } = context;
  const { wait_ms, poll_ms } = waitsOf(host);
  const deadline = Math.min(performance.now() + wait_ms, options.deadline ?? Number.POSITIVE_INFINITY);
  let tries = 0;
  do {
    tries += 1;
    const client = await answering(context, start);
    if (client !== undefined) return client;
    await sleep(poll_ms);
  } while (performance.now() < deadline);
  const error =
    host === undefined
      ? new HoldfastError("UNAVAILABLE", "The daemon went away, and no other one started.", {
          suggestion: `Its agents keep running. To continue here: agent daemon start && ${options.resume()}`,
        })
      : new HoldfastError("UNAVAILABLE", `The host ${host} went away, and did not come back.`, {
          suggestion: `Its agents keep running. To continue here: ${options.resume()}`,
        });
  throw afterTries(error, tries, poll_ms);
};

/** Connects to a daemon that answers. A stopping daemon still accepts connections but answers nothing. */
const answering = async (context: Context, start: boolean): Promise<Client | undefined> => {
  let client: Client | undefined;
  try {
    client = await context.connect({ start });
    await client.request("daemon/status", {});
    return client;
  } catch {
    client?.close();
    return undefined;
  }
};
