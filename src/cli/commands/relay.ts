/** agent relay: joins stdin and stdout to the socket of this host's daemon, for clients on other hosts. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { REPLY_MAX_BYTES } from "../../base/limits.ts";
import { makeLineSplitter } from "../../base/line-splitter.ts";
import { connectDaemon } from "../../daemon/connect.ts";
import { readToken } from "../../daemon/token.ts";
import { encodeEnvelope, errorEnvelope } from "../../protocol/envelope-v1.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler, Context } from "../context.ts";
import { DAEMON_PROGRAM } from "../package.ts";
import { presentedToken } from "../presented.ts";

/**
 * The first line is the daemon's answer to a `daemon/status` of the relay, which presents the token and the run of this host's
 * user: no secret leaves the host. Everything after it belongs to the client.
 */
export const relay: CommandHandler = async (context) => {
  let socket: Socket;
  try {
    socket = await introduced(context);
  } catch (cause) {
    const error = asHoldfastError(cause);
    const time = { now_ms: Date.now(), duration_ms: 0 };
    await context.stdout(
      encodeEnvelope(errorEnvelope({ command: "daemon/status", profiles: [] }, time, error)),
    );
    throw error;
  }
  // The end of stdin ends the client's waits and watches; the answers to its commands still come.
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
  process.stdout.on("error", () => socket.destroy());
  await once(socket, "close").catch(() => undefined);
  process.stdin.destroy();
  return success({});
};

/** A connection whose first request is answered, and the answer is told. */
const introduced = async ({ stateDir, env, cwd, flags, stdout }: Context): Promise<Socket> => {
  const token = presentedToken(env, cwd) ?? readToken(stateDir);
  const run = env.HOLDFAST_RUN;
  const bundle = flags.start === true ? { bundle: DAEMON_PROGRAM } : {};
  const socket = await connectDaemon({ stateDir, env, ...bundle });
  const meta = { ...(token !== undefined && { token }), ...(run !== undefined && { run }) };
  socket.write(`${JSON.stringify({ version: 1, command: "daemon/status", data: {}, meta })}\n`);
  const splitter = makeLineSplitter(REPLY_MAX_BYTES);
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    const [line] = splitter.push(chunk as Buffer);
    if (line === undefined) continue;
    if ("tooLong" in line) break;
    await stdout(`${line.text.toString("utf8")}\n`);
    return socket;
  }
  throw new HoldfastError("UNAVAILABLE", "The daemon went away before it had answered.");
};
