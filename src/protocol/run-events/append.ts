/** The rules for appending events to their streams (protocol-v1 notes 2.7), as a store in memory. */
import { canonicalJson } from "../canonical-json.ts";
import { HoldfastError } from "../errors.ts";
import type { StreamEvent } from "./events.ts";

const conflict = ({ id, stream_id, stream_version }: StreamEvent, why: string): HoldfastError =>
  new HoldfastError(
    "VERSION_CONFLICT",
    `Event ${id} cannot be version ${stream_version} of ${stream_id}: ${why}.`,
  );

const keyOf = ({ stream_type, stream_id }: StreamEvent): string => `${stream_type}/${stream_id}`;

const RUN_ENDS: readonly string[] = ["run.completed", "run.failed"];

export class EventStreams {
  private readonly byId = new Map<string, StreamEvent>();
  private readonly streams = new Map<string, StreamEvent[]>();

  stream(stream_type: StreamEvent["stream_type"], stream_id: string): readonly StreamEvent[] {
    return this.streams.get(`${stream_type}/${stream_id}`) ?? [];
  }

  all(): readonly (readonly StreamEvent[])[] {
    return [...this.streams.values()];
  }

  /** Throws VERSION_CONFLICT unless the version is the newest one plus one, the sequence is newer, the id is new and the run has not ended. */
  append(event: StreamEvent): void {
    const stream = this.streams.get(keyOf(event)) ?? [];
    const next = stream.length + 1;
    if (this.byId.has(event.id)) throw conflict(event, "its id is taken");
    if (event.stream_version !== next) throw conflict(event, `the next version is ${next}`);
    if (event.sequence <= (stream.at(-1)?.sequence ?? 0)) throw conflict(event, "its sequence is not newer");
    if (RUN_ENDS.includes(stream.at(-1)?.event_type ?? "")) throw conflict(event, "the run has ended");
    stream.push(event);
    this.streams.set(keyOf(event), stream);
    this.byId.set(event.id, event);
  }

  /** Returns the event stored under the id; throws VERSION_CONFLICT if it differs in a material fact. */
  appendIfAbsent(event: StreamEvent): StreamEvent {
    const stored = this.byId.get(event.id);
    if (stored === undefined) {
      this.append(event);
      return event;
    }
    if (canonicalJson(material(stored)) !== canonicalJson(material(event)))
      throw conflict(event, "its id is taken by an event that says something else");
    return stored;
  }
}

/** The facts by which two events are the same: not the time of observation or the position. */
const material = ({ stream_version: _, sequence: __, occurred_at: ___, ...rest }: StreamEvent) => rest;
