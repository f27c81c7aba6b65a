/** Takes the lock of a state directory at the instant (milliseconds) of the first line on stdin, says at the second whether it holds it. */
import { createInterface } from "node:readline";
import { identityOf, readStat } from "../../../src/adapters/process/identity.ts";
import { LOCK_WAIT_MS } from "../../../src/base/limits.ts";
import { tryLock } from "../../../src/daemon/lock.ts";

const [stateDir = ""] = process.argv.slice(2);
const identity = identityOf(process.pid, readStat(process.pid)!.start_time);
const say = (word: string) => process.stdout.write(`${word}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

say("ready");
const instant = Number((await lines.next()).value);
while (Date.now() < instant);
try {
  const lock = tryLock(
    stateDir,
    { pid: process.pid, version: "0", identity } as Parameters<typeof tryLock>[1],
    LOCK_WAIT_MS,
  );
  say(lock === undefined ? "lost" : "won");
  await lines.next();
  // False: it is still the file that it holds.
  say(String(lock?.keep() ?? "nothing"));
} catch (cause) {
  say(String(cause));
}
await lines.next();
process.exit();
