/** The program of a worker whose task is done elsewhere: its prompt in, lines of JSON out (protocol/weblisk-lines.ts). */
import { writeSync } from "node:fs";
import { text } from "node:stream/consumers";
import { REMOTE_OPENING, type RemoteLine, type RemoteOpening } from "../../protocol/weblisk-lines.ts";

/** The spool of the run is a file, so a line is there for the runtime once this returns. */
const tell = (line: RemoteLine): void => {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
};

const main = async (): Promise<void> => {
  const stopped = new AbortController();
  process.once("SIGTERM", () => stopped.abort());
  process.once("SIGINT", () => stopped.abort());
  // The rest is loaded now that a stop is heard: an earlier incarnation may have given the task.
  const { clientGround, endBy, endOf, RemoteTask } = await import("./opened.ts");
  const { state_dir, place, order } = JSON.parse(process.env[REMOTE_OPENING] ?? "{}") as RemoteOpening;
  const inputs = { ...order.inputs, prompt: await text(process.stdin) };
  try {
    if (state_dir === "") throw new Error("There is no state directory, so there is no key to sign with.");
    const task = new RemoteTask(clientGround(state_dir, tell), place, { ...order, inputs });
    tell(endOf(order.agent, await task.result(stopped.signal)));
  } catch (cause) {
    tell(endBy(cause));
  }
};

main().then(
  () => process.exit(0),
  (cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`);
    process.exit(1);
  },
);
