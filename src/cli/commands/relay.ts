/** agent relay: joins stdin and stdout to the socket of this host's daemon, for clients on other hosts. */
import type { Socket } from "node:net";
import { connectDaemon } from "../../daemon/connect.ts";
import { encodeEnvelope, errorEnvelope } from "../../protocol/envelope-v1.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler, Context } from "../context.ts";
import { DAEMON_PROGRAM } from "../package.ts";
import { introduced, joinStdio } from "../relay-stdio.ts";

/** The first line is the daemon's answer to a `daemon/status` of the relay, or an error. Everything after it belongs to the client. */
export const relay: CommandHandler = async (context) => {
  let socket: Socket;
  try {
    socket = await connected(context);
  } catch (cause) {
    const error = asHoldfastError(cause);
    const time = { now_ms: Date.now(), duration_ms: 0 };
    await context.stdout(
      encodeEnvelope(errorEnvelope({ command: "daemon/status", profiles: [] }, time, error)),
    );
    throw error;
  }
  await joinStdio(socket);
  return success({});
};

/** A connection whose first request is answered, and the answer is told. */
const connected = async (context: Context): Promise<Socket> => {
  const { stateDir, env, flags } = context;
  const bundle = flags.start === true ? { bundle: DAEMON_PROGRAM } : {};
  const socket = await connectDaemon({ stateDir, env, ...bundle });
  const status = await introduced(socket, context);
  if (status === undefined)
    throw new HoldfastError("UNAVAILABLE", "The daemon went away before it had answered.");
  await context.stdout(`${status}\n`);
  return socket;
};
