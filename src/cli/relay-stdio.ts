/** How `agent relay` joins stdin and stdout to the socket of a daemon. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { REPLY_MAX_BYTES } from "../base/limits.ts";
import { makeLineSplitter } from "../base/line-splitter.ts";
import { readToken } from "../daemon/token.ts";
import type { Env } from "./context.ts";
import { presentedToken } from "./presented-token.ts";

/**
 * Asks the daemon for its status, with the token and the run of this host's user, so that no secret leaves the host. The answer is the
 * first line of a relay, without its line end; undefined if the daemon goes away before it.
 */
export const introduced = async (
  socket: Socket,
  { stateDir, env, cwd }: { readonly stateDir: string; readonly env: Env; readonly cwd: string },
): Promise<string | undefined> => {
  const token = presentedToken(env, cwd) ?? readToken(stateDir);
  const run = env.HOLDFAST_RUN;
  const meta = { ...(token !== undefined && { token }), ...(run !== undefined && { run }) };
  socket.write(`${JSON.stringify({ version: 1, command: "daemon/status", data: {}, meta })}\n`);
  const splitter = makeLineSplitter(REPLY_MAX_BYTES);
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    const [line] = splitter.push(chunk as Buffer);
    if (line === undefined) continue;
    return "tooLong" in line ? undefined : line.text.toString("utf8");
  }
  return undefined;
};

/** Until the daemon or the client goes away. The end of stdin ends the client's waits and watches; the answers to its commands still come. */
export const joinStdio = async (socket: Socket): Promise<void> => {
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
  process.stdout.on("error", () => socket.destroy());
  await once(socket, "close").catch(() => undefined);
  process.stdin.destroy();
};
