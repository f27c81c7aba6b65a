/**
 * In test mode (HOLDFAST_VALIDATE=1, which the tests set), checks each exported event against the rules by which other
 * programs store and fold it: the rules for appending, for dedupe keys, and for the order of statuses.
 */
import { HoldfastError } from "../errors.ts";
import { EventStreams } from "./append.ts";
import { dedupeKey, type StreamEvent, type WorkerEvent } from "./events.ts";
import { projectRun, type RunState } from "./project.ts";
import { isTerminal, mayFollow } from "./statuses.ts";

export class ExportCheck {
  private readonly streams = new EventStreams();
  private readonly runs = new Map<string, RunState>();
  private readonly keys = new Set<string>();
  private readonly last = new Map<string, WorkerEvent>();

  /** Returns the event. Throws VERSION_CONFLICT if it cannot be appended, and INTERNAL if it breaks another rule. */
  take(event: StreamEvent): StreamEvent {
    this.streams.append(event);
    const problem =
      event.stream_type === "run" ? this.runProblem(event) : this.workerProblem(event.payload as WorkerEvent);
    if (problem === undefined) return event;
    throw new HoldfastError("INTERNAL", `Event ${event.id} of ours breaks the contract: ${problem}.`);
  }

  private runProblem(event: StreamEvent): string | undefined {
    const state = projectRun(this.runs.get(event.stream_id), event);
    this.runs.set(event.stream_id, state);
    return state.last_event_id === event.id ? undefined : "a reader of the run would pass it over";
  }

  private workerProblem(event: WorkerEvent): string | undefined {
    const key = dedupeKey(event);
    if (this.keys.has(key)) return `its dedupe key ${key} is that of an earlier event`;
    this.keys.add(key);
    const before = this.last.get(event.worker_id);
    this.last.set(event.worker_id, event);
    // Retention may have removed the beginning of the log.
    if (before === undefined) return undefined;
    if (event.attempt === before.attempt)
      return mayFollow(before.status, event.status)
        ? undefined
        : `${event.status} cannot follow ${before.status}`;
    const isNext = event.attempt === before.attempt + 1 && event.event_kind === "worker_spawn_requested";
    return isNext && isTerminal(before.status)
      ? undefined
      : `attempt ${event.attempt} cannot begin so after attempt ${before.attempt}`;
  }
}
