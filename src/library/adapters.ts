/** `holdfast/adapters`: what the code of an adapter needs (docs/how-to/writing-adapters.md): its records, made in one line each. */
import "./node-version.ts";

export {
  type Channel,
  type EventFacts,
  type KindEvents,
  type RetryCount,
  sessionFacet,
  sessionStarted,
  type ToolEnd,
  type ToolFacts,
  turnCompleted,
  turnStarted,
  voiceOf as eventsOf,
} from "../adapters/decoding/events.ts";
export { AgentEvent as AgentEventSchema } from "../protocol/agent-event.ts";
export { ToolDataSchema } from "../protocol/tool-data.ts";
