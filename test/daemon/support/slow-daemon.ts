/** A daemon's program that says at once that it runs, and listens when a claim that nobody renews would be over. */
import { createServer } from "node:net";
import { join } from "node:path";
import { DAEMON_START_CLAIM_MS } from "../../../src/base/limits.ts";

console.log("started");
const server = createServer((socket) => socket.resume());
setTimeout(() => server.listen(join(process.argv.at(-1)!, "agent.sock")), DAEMON_START_CLAIM_MS + 500);
