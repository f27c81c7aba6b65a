/** The validators of Protocol v1 and AgentEvent: what `agent proto validate` and `agent event validate` use, and tests on all that we print. */
export { ENVELOPE_RULE_TABLE, type Options, validateEnvelope } from "./envelope.ts";
export type { Finding, Findings, Level, Rule } from "./finding.ts";
export { makeStreamValidator } from "./stream.ts";
export { STREAM_RULES } from "./stream-rules.ts";
