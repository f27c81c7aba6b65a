/** The server as the command line loads it. */

export { KeptKeys } from "../identity/kept-keys.ts";
export { newAdminToken } from "./admin-token.ts";
export { ServerFiles } from "./files.ts";
export { fingerprintOf, grant, grantedTo, registered } from "./grants.ts";
export { listen } from "./listener.ts";
export type {
  ServedAgent,
  TaskApproval,
  TaskChange,
  TaskEnd,
  TaskOrder,
  TaskWorker,
  TaskWorkers,
  TrailPage,
} from "./ports.ts";
export { WebliskServer } from "./server.ts";
export { readTlsPair, type TlsFiles } from "./tls-files.ts";
