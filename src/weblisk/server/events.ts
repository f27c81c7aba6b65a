/**
 * Events (notes 2.1, EventEnvelope). One for the orchestrator goes into the operator's mailbox, and one for an agent into those of the
 * sender's own tasks there, which poll them with `agent mailbox poll`. Each counts once, by its id.
 */
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_EVENT_MAX_BYTES, WEBLISK_EVENT_WORKERS_MAX, WEBLISK_EVENTS_MAX } from "../../base/limits.ts";
import { readAs } from "../types/read.ts";
import { EventEnvelope } from "../types/talk.ts";
import type { WireBody } from "../wire/body.ts";
import { wireId } from "../wire/ids.ts";
import { WebliskRefusal } from "../wire/refusal.ts";
import { AGENT, SENDER } from "./labels.ts";
import type { ServerGround } from "./ports.ts";
import { type RateTeller, RequestRate } from "./rates.ts";
import type { WireCaller } from "./registry.ts";
import { needs, PUBLISH } from "./rights.ts";

/** `namespace.entity.action`. */
const TOPIC = /^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*){2,}$/;
/** Its events are a server's own. */
const RESERVED = "system.";

export class EventPost {
  private readonly ground: Pick<ServerGround, "workers" | "now">;
  private readonly rate = new RequestRate(WEBLISK_EVENTS_MAX);

  constructor(ground: Pick<ServerGround, "workers" | "now">) {
    this.ground = ground;
  }

  /** `agent`: the served agent whose workers get it; without one, the operator does. */
  async take(body: WireBody, caller: WireCaller, told: RateTeller, agent?: string): Promise<JsonObject> {
    needs(caller, PUBLISH);
    const { name } = caller.agent;
    this.rate.take(name, this.ground.now(), told);
    const { event_id, event } = eventIn(body, name);
    const boxes = agent === undefined ? [undefined] : await this.workersOf(agent, name);
    for (const to of boxes)
      await this.ground.workers.post(to, event, `weblisk-event:${name}:${event_id}:${to ?? ""}`);
    return { status: boxes.length === 0 ? "ignored" : "accepted", event_id };
  }

  private async workersOf(agent: string, sender: string): Promise<readonly string[]> {
    const labels = { [AGENT]: agent, [SENDER]: sender };
    const workers = await this.ground.workers.running(labels, WEBLISK_EVENT_WORKERS_MAX);
    return workers.map(({ id }) => id);
  }
}

/** The event without its token. Throws EVENT_REJECTED, and FORBIDDEN in another's name. */
const eventIn = (
  { value }: WireBody,
  name: string,
): { readonly event_id: string; readonly event: JsonObject } => {
  const said = readAs(EventEnvelope, value);
  const event_id = wireId(said.event_id);
  if (event_id === undefined)
    throw rejected("id_malformed", "The event_id is not 32 hex digits; make a new one.");
  if (said.source !== name)
    throw new WebliskRefusal("FORBIDDEN", `The token is ${name}'s; send in that name.`, {
      reason: "another_name",
    });
  if (!TOPIC.test(said.topic))
    throw rejected("topic_malformed", "The topic is no namespace.entity.action; name it so.");
  if (said.topic.startsWith(RESERVED))
    throw rejected("topic_reserved", "The namespace system is the server's own; choose another one.");
  const { token: _, ...rest } = value;
  const event = { ...rest, event_id };
  if (Buffer.byteLength(JSON.stringify(event)) > WEBLISK_EVENT_MAX_BYTES)
    throw rejected("event_too_large", `The event is over ${WEBLISK_EVENT_MAX_BYTES} bytes; send less.`);
  return { event_id, event };
};

const rejected = (reason: string, message: string): WebliskRefusal =>
  new WebliskRefusal("EVENT_REJECTED", message, { reason });
