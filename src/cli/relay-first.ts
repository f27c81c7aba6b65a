/**
 * `agent relay` where a daemon listens, without the rest of the client: a command for several hosts waits for a relay at each, and the
 * client takes longer to load than Node. All that is not as usual is left to the whole client, which tells what is wrong.
 */
import { homedir } from "node:os";
import { dirname, resolve } from "node:path";
import { tryConnect } from "../daemon/connect.ts";
import { socketPath, stateDirectory } from "../daemon/paths.ts";
import { introduced, joinStdio } from "./relay-stdio.ts";

/** True once it is over; false if nothing was done. `words`: those after `agent relay`. */
export const relayFirst = async (words: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> => {
  const place = placeOf(words, env);
  const path = place && socketPath(place.stateDir, process.getuid?.() ?? 0);
  // Another user may have made the directory of a short path.
  if (path === undefined || dirname(path) !== place?.stateDir) return false;
  const socket = await tryConnect(path).catch(() => undefined);
  if (socket === undefined) return false;
  const status = await introduced(socket, place).catch(() => undefined);
  if (status === undefined) {
    socket.destroy();
    return false;
  }
  process.stdout.write(`${status}\n`);
  await joinStdio(socket);
  return true;
};

/** Undefined where the words are not those that clients use. */
const placeOf = (words: readonly string[], env: NodeJS.ProcessEnv) => {
  const [first, ...flags] = words.filter((word) => word !== "--start");
  const cwd = process.cwd();
  if (first !== "--stdio") return undefined;
  if (flags.length === 0) return { stateDir: stateDirectory(env, homedir(), cwd), env, cwd };
  const [flag, given, ...more] = flags;
  if (flag !== "--state-dir" || given === undefined || given.startsWith("-") || more.length > 0)
    return undefined;
  return { stateDir: resolve(cwd, given), env, cwd };
};
