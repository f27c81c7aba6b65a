/** Append rules, statuses, projections and the dedupe key of the runtime architecture (protocol-v1 notes 2.6, 2.7). */
import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { EventStreams } from "../../../src/protocol/run-events/append.ts";
import { dedupeKey, type StreamEvent, type WorkerEvent } from "../../../src/protocol/run-events/events.ts";
import { projectRun, type RunState, WorkerProjections } from "../../../src/protocol/run-events/project.ts";
import { isTerminal, mayFollow, type RunStatus } from "../../../src/protocol/run-events/statuses.ts";
import { hasVectors, vector, vectorNames } from "../vectors.ts";

const event = (version: number, over: Partial<StreamEvent> = {}): StreamEvent => ({
  id: `evt-${version}`,
  stream_id: "run-1",
  stream_type: "run",
  stream_version: version,
  sequence: version,
  event_type: version === 1 ? "run.started" : "tool.invoked",
  occurred_at: "2026-01-01T00:00:00Z",
  correlation_id: "c",
  causation_id: "c",
  actor_id: "a",
  request_id: "r",
  command: "spawn",
  payload: { version },
  ...over,
});
const projected = (events: readonly StreamEvent[]): RunState =>
  events.reduce<RunState | undefined>(projectRun, undefined) as RunState;

const completed = (text: string): RunState => {
  const events: StreamEvent[] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const streams = new EventStreams();
  for (const each of events) streams.append(each);
  return projected(streams.stream("run", events[0]!.stream_id));
};

describe("the golden run stream", () => {
  test("of our own is appended event by event, and projects to completed at version 5", () => {
    const own = new URL("../../golden/runs/completed.ndjson", import.meta.url);
    expect(completed(readFileSync(own, "utf8"))).toEqual({
      run_id: "run-a",
      status: "completed",
      last_event_id: "evt-5",
      last_stream_version: 5,
      command: "spawn",
      request_id: "r-1",
      actor_id: "someone",
      updated_at: "2026-05-12T00:00:05Z",
    });
  });

  describe.skipIf(!hasVectors("protocol-v1/run-events"))(
    "of the originals (only where it is at hand)",
    () => {
      test.each(vectorNames("protocol-v1/run-events"))("%s does so too", (name) => {
        expect(completed(vector("protocol-v1/run-events", name))).toEqual({
          run_id: "run-0001",
          status: "completed",
          last_event_id: "evt-0005",
          last_stream_version: 5,
          command: "spawn",
          request_id: "req-001",
          actor_id: "actor-overseer",
          updated_at: "2026-02-18T12:00:04Z",
        });
      });
    },
  );
});

describe("appending", () => {
  const conflict = expect.objectContaining({ code: "VERSION_CONFLICT" });
  const refused = (...events: readonly StreamEvent[]) => {
    const streams = new EventStreams();
    const [last, ...rest] = [...events].reverse() as [StreamEvent, ...StreamEvent[]];
    for (const each of rest.reverse()) streams.append(each);
    expect(() => streams.append(last)).toThrow(conflict);
  };
  it("takes the newest version plus one, and no other", () => {
    refused(event(2));
    refused(event(1), event(1, { id: "other" }));
    refused(event(1), event(3));
  });
  it("takes a sequence that is newer, and an id once", () => {
    refused(event(1, { sequence: 5 }), event(2, { sequence: 5 }));
    refused(event(1), event(1, { stream_id: "run-2" }));
  });
  it("numbers streams of another id or type by themselves", () => {
    const streams = new EventStreams();
    streams.append(event(1));
    streams.append(event(1, { id: "b", stream_type: "agent" }));
    streams.append(event(1, { id: "c", stream_id: "run-2" }));
    expect(streams.all()).toHaveLength(3);
  });
  it("takes nothing after the end of a run", () => {
    for (const event_type of ["run.completed", "run.failed"] as const)
      refused(event(1, { event_type }), event(2));
  });
  it("if absent gives back what is stored, wherever and whenever it was seen, and refuses another event of its id", () => {
    const streams = new EventStreams();
    expect(streams.appendIfAbsent(event(1))).toEqual(event(1));
    expect(streams.appendIfAbsent(event(1, { occurred_at: "later", stream_version: 9 }))).toEqual(event(1));
    expect(() => streams.appendIfAbsent(event(1, { payload: { version: 2 } }))).toThrow(conflict);
    expect(streams.stream("run", "run-1")).toHaveLength(1);
  });
});

describe("statuses", () => {
  const ALL: readonly RunStatus[] = [
    "pending",
    "starting",
    "running",
    "stopping",
    "completed",
    "failed",
    "cancelled",
  ];
  it("follow each other as the document says, and where a worker is stopped before it runs", () => {
    const allowed = ALL.flatMap((from) =>
      ALL.filter((to) => from !== to && mayFollow(from, to)).map((to) => `${from}→${to}`),
    );
    const documented = [
      "pending→starting",
      "starting→running",
      "starting→failed",
      ...["stopping", "completed", "failed", "cancelled"].map((to) => `running→${to}`),
      ...["completed", "failed", "cancelled"].map((to) => `stopping→${to}`),
    ];
    const added = ["pending→failed", "pending→cancelled", "starting→stopping", "starting→cancelled"];
    expect(new Set(allowed)).toEqual(new Set([...documented, ...added]));
  });
  it("that are terminal are never left, and may be told again", () => {
    for (const from of ALL.filter(isTerminal))
      for (const to of [...ALL, "unknown" as const]) expect(mayFollow(from, to)).toBe(from === to);
  });
});

describe("a run", () => {
  it("stays as it ended, and is not moved by an event that it has seen", () => {
    const ended = projected([event(1), event(2, { event_type: "run.failed" })]);
    expect(ended).toMatchObject({ status: "failed", last_stream_version: 2 });
    expect(projectRun(ended, event(2, { event_type: "run.completed" }))).toBe(ended);
    expect(projectRun(ended, event(3, { event_type: "run.completed" }))).toMatchObject({ status: "failed" });
  });
});

describe("a worker", () => {
  let number = 0;
  const told = (over: Partial<WorkerEvent>): WorkerEvent => ({
    event_id: `e${++number}`,
    event_kind: "worker_state_changed",
    observed_at: `t${number}`,
    worker_id: "subprocess:w",
    backend_kind: "subprocess",
    agent_id: "w",
    request_id: "r",
    correlation_id: "c",
    causation_id: "c",
    status: "running",
    role: "command",
    attempt: 1,
    metadata: { backend_seq: number },
    ...over,
  });
  const fold = (...events: readonly Partial<WorkerEvent>[]) => {
    const workers = new WorkerProjections();
    for (const each of events) workers.take(told(each));
    return workers.worker("subprocess:w");
  };
  const failed = { event_kind: "worker_failed", status: "failed", exit_code: 3, stop_reason: "why" } as const;

  it("stays as it ended within its attempt, and a next attempt begins anew", () => {
    expect(fold({}, failed, { status: "running" })).toMatchObject({
      status: "failed",
      exit_code: 3,
      stop_reason: "why",
    });
    expect(fold({}, failed, { status: "completed", event_kind: "worker_completed" })).toMatchObject({
      status: "failed",
    });
    expect(fold({}, failed, { status: "pending", attempt: 2 })).toMatchObject({
      status: "pending",
      attempt: 2,
    });
    expect(fold({ attempt: 2 }, { status: "failed", attempt: 1 })).toMatchObject({
      status: "running",
      attempt: 2,
    });
  });
  it("is opened by no log chunk, and a heartbeat changes its freshness alone", () => {
    for (const event_kind of ["worker_log_chunk", "worker_heartbeat"] as const)
      expect(fold({}, failed, { event_kind, status: "running", attempt: 2 })).toMatchObject({
        status: "failed",
        attempt: 1,
      });
    expect(fold({}, { event_kind: "worker_heartbeat", observed_at: "now" })).toMatchObject({
      heartbeat_at: "now",
    });
  });
  it("does not tell 0 from unknown by guessing: a code that nobody knows is null", () => {
    expect(fold({ ...failed, exit_code: null })).toMatchObject({ exit_code: null });
    expect(fold({ ...failed, exit_code: 0 })).toMatchObject({ exit_code: 0 });
  });
  it("is moved once by an event that is observed twice", () => {
    const once = told({ metadata: {} });
    const again = { ...once, event_id: "other", observed_at: "later" };
    expect(dedupeKey(again)).toBe(dedupeKey(once));
    const workers = new WorkerProjections();
    for (const each of [once, told({ status: "stopping" }), again]) workers.take(each);
    expect(workers.worker("subprocess:w")).toMatchObject({ status: "stopping" });
  });
  it("has events that differ in worker, kind, number or words", () => {
    const base = told({ metadata: { backend_seq: 7 } });
    const bare = told({ metadata: {} });
    const keys = [
      base,
      { ...base, worker_id: "subprocess:v" },
      { ...base, event_kind: "worker_heartbeat" as const },
      { ...base, metadata: { backend_seq: 8 } },
      bare,
      { ...bare, stop_reason: "another" },
    ].map(dedupeKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(dedupeKey({ ...base, stop_reason: "said otherwise" })).toBe(dedupeKey(base));
  });
});
