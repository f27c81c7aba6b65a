/** The door of the validators. For the client they are a file of their own, which it loads when a command asks for one (scripts/build.ts). */
export { validateEnvelope } from "./envelope.ts";
export { makeEventValidator } from "./events.ts";
export { readJson } from "./json.ts";
export { makePrintedCheck } from "./printed.ts";
export { makeStreamValidator } from "./stream.ts";
