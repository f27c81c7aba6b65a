/** All contracts that are implemented. */
import { AGENT_EVENT } from "./agent-event.ts";
import type { Contract } from "./contract.ts";
import { ENGINE } from "./engine.ts";
import { PROTOCOL_V1 } from "./protocol-v1.ts";
import { RESPONSE_ENVELOPE } from "./response-envelope.ts";
import { RUN_EVENTS } from "./run-events.ts";
import { RUNTIME_BRIDGE } from "./runtime-bridge.ts";
import { WEBLISK } from "./weblisk.ts";

export const CONTRACTS: readonly Contract[] = [
  AGENT_EVENT,
  PROTOCOL_V1,
  RESPONSE_ENVELOPE,
  RUN_EVENTS,
  ENGINE,
  RUNTIME_BRIDGE,
  WEBLISK,
];
