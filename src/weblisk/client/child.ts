/** The program of a worker whose task is done elsewhere: one line of JSON in, lines of JSON out (protocol/weblisk-lines.ts). */
import { writeSync } from "node:fs";
import { text } from "node:stream/consumers";
import type { RemoteLine, RemoteOpening } from "../../protocol/weblisk-lines.ts";

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
  const { state_dir, place, order } = JSON.parse(await text(process.stdin)) as RemoteOpening;
  try {
    if (state_dir === "") throw new Error("There is no state directory, so there is no key to sign with.");
    const task = new RemoteTask(clientGround(state_dir, tell), place, order);
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
