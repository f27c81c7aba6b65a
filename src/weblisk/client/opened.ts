/** The client of orchestrators elsewhere, as the command line and its own program load it. */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { RemoteLine } from "../../protocol/weblisk-lines.ts";
import { ensureIdentity, ORCHESTRATOR, publicPart } from "../identity/opened.ts";
import { ServerFiles } from "../server/files.ts";
import { exchange } from "./exchange.ts";
import type { RemoteTaskGround } from "./remote-task.ts";

export { endBy, endOf, failureOf } from "./ends.ts";
export { exchange } from "./exchange.ts";
export { OrchestratorClient } from "./orchestrator.ts";
export { RemoteTask } from "./remote-task.ts";
export { noteRotation, readyToRotate, tellRotation } from "./rotating.ts";

/** SHA-256 of the public key by which an orchestrator knows this side. */
export const fingerprintOf = (stateDir: string, as: string = ORCHESTRATOR): string =>
  publicPart(as, ensureIdentity(stateDir, as).key).fingerprint;

/** A client over the network of this machine, with the files of a state directory. */
export const clientGround = (
  stateDir: string,
  tell: (line: Exclude<RemoteLine, { readonly type: "end" }>) => void = () => undefined,
): RemoteTaskGround => ({
  stateDir,
  files: new ServerFiles(stateDir),
  exchange,
  now: Date.now,
  pause,
  randomBytes,
  random: Math.random,
  tell,
});
