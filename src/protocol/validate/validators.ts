/** The entry point of the validators. The client loads them as a separate file, only for commands that need them (scripts/build.ts). */
export { validateEnvelope } from "./envelope.ts";
export { makePrintedCheck } from "./envelope-check.ts";
export { makeEventValidator } from "./events.ts";
export { readJson } from "./json.ts";
export { makeStreamValidator } from "./stream.ts";
