/** Run with a low `ulimit -n`: what a spawner does while this process can open nothing. Prints one JSON object. */
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { makeProcessSpawner } from "../../../src/adapters/process/spawner.ts";
import { RUN_POLL_MS } from "../../../src/base/limits.ts";

const runsDir = process.argv[2]!;
const spawner = makeProcessSpawner({ runsDir, storeId: "blind" });
const request = (worker_id: string) => ({
  worker_id,
  incarnation: 1,
  argv: ["sleep", "1000"],
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
  stdin: { kind: "empty" } as const,
});
const run = await spawner.launch(request("W"));
let told = 0;
void run.exited.then(() => {
  told += 1;
});

const taken: number[] = [];
try {
  for (;;) taken.push(openSync("/dev/null", "r"));
} catch {
  // None is left.
}
const refused = await spawner.launch(request("V")).catch((error) => error.code);
const killed = await run.kill();
process.kill(run.agent.pid, "SIGKILL");
// Both ways to learn of an exit pass meanwhile: the launcher's end and the poller.
await sleep(RUN_POLL_MS * 4);
const toldWhileBlind = told;
for (const fd of taken) closeSync(fd);
const exit = await run.exited;
await spawner.close();
console.log(JSON.stringify({ refused, killed, toldWhileBlind, exit }));
