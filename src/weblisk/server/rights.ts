/** Rights that a person grants by name, and the answer to a sender that lacks one. Pure. */
import { WebliskRefusal } from "../wire/refusal.ts";
import type { NamedCaller } from "./ports.ts";

/** To answer approvals of tasks. Neither this nor the next one is of the document's list: no manifest of others asks for them by chance. */
export const APPROVE = "approval:answer";
export const AUDIT = "audit:read";
/** weblisk.txt, Capability Format: "inter-agent communication", which messages and tasks for other agents are. */
export const MESSAGE = "agent:message";
/** weblisk.txt, Capability Format: "inbound HTTP". An agent elsewhere with it gets tasks at its address. */
export const RECEIVE = "http:receive";
/** weblisk.txt, Capability Format: "real-time channel publishing". */
export const PUBLISH = "realtime:publish";

/** Throws FORBIDDEN unless the sender has the capability. */
export const needs = ({ agent, capabilities }: NamedCaller, capability: string): void => {
  if (!capabilities.includes(capability))
    throw new WebliskRefusal(
      "FORBIDDEN",
      `The token lacks ${capability}; a person grants it: agent weblisk grant ${agent.name} ${capability}. Then register again, with a nonce.`,
      { reason: "capability_missing", detail: { missing: [capability] } },
    );
};
