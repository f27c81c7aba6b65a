/** The dialogue with codex: `codex app-server`, over its stdin and stdout. */
export { decode } from "./decode.ts";
export { messages } from "./messages.ts";
export { finish } from "./outcome.ts";
export { initial, plan } from "./plan.ts";
