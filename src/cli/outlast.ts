/**
 * Commands that wait (watch, logs -f, wait) outlast their daemon. Agents do, so whoever looks at them goes on where it
 * was when the next daemon answers, and says in one line what it waits for meanwhile.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { NEXT_DAEMON_POLL_MS, NEXT_DAEMON_WAIT_MS } from "../base/limits.ts";
import { afterTries, asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import type { Client } from "./client.ts";
import type { Context } from "./context.ts";

export interface Outlasting {
  /** The command may start a daemon itself: it does where the last one crashed, not where somebody stopped it. */
  readonly start?: boolean;
  /** Instant of `performance.now()` after which nobody waits for the next daemon. */
  readonly deadline?: number | undefined;
  /** The command that goes on from here, when no daemon comes. */
  readonly resume: () => string;
}

/** Asks the daemon, and the next one when this one goes away. `ask` goes on from where it was. */
export const outlasting = async <T>(
  context: Context,
  options: Outlasting,
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
        `The daemon is gone; its agents go on. ${start ? "Starting" : "Waiting for"} the next one${start ? "." : ": agent daemon start"}`,
      );
      client = await nextDaemon(context, options, start);
      context.retried();
      context.notice("The next daemon answers.");
    }
  }
};

const nextDaemon = async (context: Context, options: Outlasting, start: boolean): Promise<Client> => {
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
  const error = new HoldfastError("UNAVAILABLE", "The daemon went away, and no other one came.", {
    suggestion: `Its agents go on. To go on here: agent daemon start && ${options.resume()}`,
  });
  throw afterTries(error, tries, NEXT_DAEMON_POLL_MS);
};

/** A daemon that is about to stop still lets clients connect, and answers nothing. */
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
