/** In test mode no event leaves us that a store or a fold of the contract would refuse. */
import { describe, expect, it } from "vitest";
import type { StreamEvent, WorkerEvent } from "../../../src/library/index.ts";
import { Exporter } from "../../../src/protocol/run-events/export.ts";
import { ExportCheck } from "../../../src/protocol/run-events/export-check.ts";
import { history } from "./simulated.ts";

const eventsOf = (seed: number): readonly StreamEvent[] => {
  const exporter = new Exporter();
  return history(seed, 400)
    .batches.flat()
    .flatMap((record) => exporter.take(record));
};
const events = eventsOf(3);
const judge = (given: readonly StreamEvent[]) => () => {
  const check = new ExportCheck();
  for (const event of given) check.take(event);
};
const workerOf = (event: StreamEvent) => event.payload as WorkerEvent;
/** Up to the last event within an attempt, with a change. */
const changed = (change: (event: WorkerEvent) => Partial<WorkerEvent>): readonly StreamEvent[] => {
  const at = events.findLastIndex(
    (event) => event.stream_type === "agent" && workerOf(event).event_kind !== "worker_spawn_requested",
  );
  const event = events[at]!;
  return [...events.slice(0, at), { ...event, payload: { ...event.payload, ...change(workerOf(event)) } }];
};

describe("our export", () => {
  it.each([3, 4, 5, 6, 7, 8])("passes, of the simulated fleet %i", (seed) => {
    expect(judge(eventsOf(seed))).not.toThrow();
  });

  it.each<[string, () => readonly StreamEvent[], RegExp]>([
    ["an event twice", () => [events[0]!, events[0]!], /its id is taken/],
    ["a gap in the versions", () => events.filter((_, at) => at !== 0), /the next version is 1/],
    [
      "an attempt that nobody asked for",
      () => changed(({ attempt }) => ({ attempt: attempt + 2 })),
      /cannot begin so/,
    ],
    ["a status that cannot be", () => changed(() => ({ status: "unknown" })), /unknown cannot follow/],
    [
      "the dedupe key of another event",
      () => [
        ...events,
        {
          ...events.findLast((event) => event.stream_type === "agent")!,
          id: "x",
          stream_id: "x",
          stream_version: 1,
          sequence: 1,
        },
      ],
      /dedupe key/,
    ],
  ])("is refused with %s", (_name, given, message) => {
    expect(judge(given())).toThrow(message);
  });
});
