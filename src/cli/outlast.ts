/**
 * Commands that wait (watch, logs -f, wait) outlast their daemon, because agents do. They continue where they were when the
 * next daemon answers, and meanwhile say in one line what they wait for.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { NEXT_DAEMON_POLL_MS, NEXT_DAEMON_WAIT_MS } from "../base/limits.ts";
import type { Client } from "../daemon/client.ts";
import { afterTries, asHoldfastError, HoldfastError } from "../protocol/errors.ts";
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
  for (;;) {
    try {
      return await ask(client);
    } catch (cause) {
      // The connection broke, or the daemon said that it is stopping.
      if (asHoldfastError(cause).code !== "UNAVAILABLE") throw cause;
      const crashed = client.isBroken();
      client.close();
      const start = options.start === true && crashed;
      context.notice(
        `The daemon is gone; its agents keep running. ${start ? "Starting" : "Waiting for"} the next one${start ? "." : ": agent daemon start"}`,
      );
      client = await nextDaemon(context, options, start);
      context.retried();
      context.notice("The next daemon answers.");
    }
  }
};

const nextDaemon = async (context: Context, options: OutlastOptions, start: boolean): Promise<Client> => {
  const deadline = Math.min(
    performance.now() + NEXT_DAEMON_WAIT_MS,
    options.deadline ?? Number.POSITIVE_INFINITY,
  );
  let tries = 0;
  do {
    tries += 1;
    const client = await answering(context, start);
    if (client !== undefined) return client;
    await sleep(NEXT_DAEMON_POLL_MS);
  } while (performance.now() < deadline);
  const error = new HoldfastError("UNAVAILABLE", "The daemon went away, and no other one started.", {
    suggestion: `Its agents keep running. To continue here: agent daemon start && ${options.resume()}`,
  });
  throw afterTries(error, tries, NEXT_DAEMON_POLL_MS);
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
