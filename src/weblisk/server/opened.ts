/** The server as the command line loads it. */
export { ServerFiles } from "./files.ts";
export { fingerprintOf, grant, grantedTo, registered } from "./grants.ts";
export { listen } from "./listener.ts";
export type { ServedAgent, TaskEnd, TaskOrder, TaskWorker, TaskWorkers } from "./ports.ts";
export { WebliskServer } from "./server.ts";
