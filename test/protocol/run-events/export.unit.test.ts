/** The log of a fleet exports to streams that keep every rule and agree with `agent list`, whatever has happened. */
import { describe, expect, it } from "vitest";
import type { LogRecord } from "../../../src/protocol/records.ts";
import { EventStreams } from "../../../src/protocol/run-events/append.ts";
import {
  RUN_EVENT_TYPES,
  type StreamEvent,
  WORKER_EVENT_KINDS,
  type WorkerEvent,
} from "../../../src/protocol/run-events/events.ts";
import { Exporter } from "../../../src/protocol/run-events/export.ts";
import { projectRun, type RunState, WorkerProjections } from "../../../src/protocol/run-events/project.ts";
import { isTerminal, mayFollow } from "../../../src/protocol/run-events/statuses.ts";
import { statusOf } from "../../../src/protocol/worker-status.ts";
import { evolve, newChild } from "../../../src/supervisor/child/evolve.ts";
import type { ChildState } from "../../../src/supervisor/child/inputs.ts";
import { clock, draft, requested, W } from "../../store/sqlite/support.ts";
import { full } from "../../support/figures.ts";
import { history } from "./simulated.ts";

/** The last ones were found by a long run: workers that ended while no daemon had their start on record. */
const SEEDS = [...new Set([...Array.from({ length: full ? 500 : 20 }, (_, at) => at + 1), 37, 47, 86])];
const STEPS = 600;
const ENDS: readonly string[] = ["worker_completed", "worker_failed", "worker_cancelled"];
const workerOf = ({ payload }: StreamEvent) => payload as WorkerEvent;

/** Records from which `agent list` folds its states. */
const statusesOf = (children: ReadonlyMap<string, ChildState>) =>
  Object.fromEntries([...children].map(([id, { state }]) => [id, statusOf(state)]));

describe("the log of a simulated fleet", () => {
  it.each(SEEDS)(
    "seed %i: keeps the rules of appending and of statuses, and says what the list says after each decision",
    (seed) => {
      const { batches, specOf } = history(seed, STEPS);
      const [exporter, streams] = [new Exporter(), new EventStreams()];
      const children = new Map<string, ChildState>();
      const workers = new WorkerProjections();
      const runs = new Map<string, RunState>();
      const last = new Map<string, WorkerEvent>();
      for (const batch of batches) {
        for (const record of batch) {
          const { worker_id: id } = record;
          if (id !== undefined)
            children.set(id, evolve(children.get(id) ?? newChild(id, specOf(id)), record, 0));
          for (const event of exporter.take(record)) {
            streams.append(event);
            if (event.stream_type === "run") {
              expect(RUN_EVENT_TYPES).toContain(event.event_type);
              runs.set(event.stream_id, projectRun(runs.get(event.stream_id), event));
              continue;
            }
            const told = workerOf(event);
            const before = last.get(told.agent_id);
            expect(WORKER_EVENT_KINDS).toContain(told.event_kind);
            // One attempt after the other, each begun by a request, each with one end.
            if (told.attempt !== (before?.attempt ?? 0)) {
              expect(told).toMatchObject({
                attempt: (before?.attempt ?? 0) + 1,
                event_kind: "worker_spawn_requested",
                status: "pending",
              });
              if (before !== undefined) expect(isTerminal(before.status)).toBe(true);
            } else if (isTerminal(before!.status) && ENDS.includes(told.event_kind))
              expect.fail(`${told.event_kind} of ${event.id} ends an attempt that has ended`);
            else if (!mayFollow(before!.status, told.status))
              expect.fail(`${before!.status} → ${told.status} at ${told.event_kind} of ${event.id}`);
            last.set(told.agent_id, told);
            workers.take(told);
          }
        }
        const projected = [...children.keys()].map((id) => [id, workers.worker(`subprocess:${id}`)?.status]);
        expect(Object.fromEntries(projected)).toEqual(statusesOf(children));
      }
      const ends = batches.flat().filter(({ type }) => type === "worker_exited").length;
      const ended = [...runs.values()].filter(({ status }) => status !== "running").length;
      expect({ ended, min: ended > 0 }).toEqual({ ended: ends, min: true });
    },
  );

  it("exports to the same events each time, so that a store which has some of them takes the rest", () => {
    const records = history(3, STEPS).batches.flat();
    const exported = (): StreamEvent[] => {
      const exporter = new Exporter();
      return records.flatMap((record) => exporter.take(record));
    };
    const [first, again] = [exported(), exported()];
    expect(again).toEqual(first);
    const streams = new EventStreams();
    for (const event of first.slice(0, first.length / 2)) streams.append(event);
    for (const event of again) streams.appendIfAbsent(event);
    expect(streams.all().flat()).toHaveLength(first.length);
  });
});

describe("the run of an agent", () => {
  const tool = (kind: "ToolCall" | "ToolResult", tool_name: string | null, status: string) =>
    draft("agent.event", {
      agent_kind: "claude_code",
      kind,
      channel: "tool",
      data: { tool: { tool_name, tool_use_id: "u1", kind: "tool_use", status } },
    });
  const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0, reasoning_tokens: 0, cost_usd: null };
  const status = { code: 0, signal: null };
  const digest = `sha256:${"a".repeat(64)}`;
  const recorded = (drafts: readonly object[]): LogRecord[] =>
    drafts.map((each, at) => {
      const id = `r${at + 1}`;
      return {
        ...each,
        seq: at + 1,
        id,
        version: at + 1,
        recorded_at: "2026-01-01T00:00:00.000Z",
        correlation_id: "c",
        causation_id: "c",
      } as LogRecord;
    });
  const life = (...rest: readonly object[]) => {
    const exporter = new Exporter();
    return recorded([
      requested(W, { kind: "claude_code", prompt: "mend it" }),
      draft("worker_state_changed", { from: "pending", to: "starting", reason: "spawn", clock }),
      ...rest,
    ]).flatMap((record) => exporter.take(record));
  };
  const runOf = (events: readonly StreamEvent[]) =>
    events
      .filter(({ stream_type }) => stream_type === "run")
      .map(({ stream_version, event_type, payload }) => [stream_version, event_type, payload]);

  it("tells the newest look at a worker behind its records, and of no worker that it does not know", () => {
    const [exporter, streams, workers] = [new Exporter(), new EventStreams(), new WorkerProjections()];
    const records = [requested(), draft("worker_started", { clock })] as unknown as readonly LogRecord[];
    const told = records.flatMap((record, at) =>
      exporter.take({
        ...record,
        id: `r${at}`,
        seq: at + 1,
        recorded_at: "2026-11-20T12:00:00.000Z",
      } as LogRecord),
    );
    const beats = exporter.beat(W, 1, Date.parse("2026-11-20T12:01:00.000Z"));
    for (const event of [...told, ...beats]) {
      streams.append(event);
      if (event.stream_type === "agent") workers.take(workerOf(event));
    }
    expect(beats).toMatchObject([
      { event_type: "worker_heartbeat", occurred_at: "2026-11-20T12:01:00.000Z" },
    ]);
    expect(workers.worker(workerOf(beats[0]!).worker_id)).toMatchObject({
      heartbeat_at: "2026-11-20T12:01:00.000Z",
    });
    expect(exporter.beat("01KXA0000000000000000000ZZ", 1, 0)).toEqual([]);
  });

  it("tells its tools, its turns and its end in the order of the golden stream", () => {
    const events = life(
      tool("ToolCall", "Bash", "running"),
      tool("ToolResult", null, "failed"),
      draft("turn_completed", { turn: 1, usage, duration_ms: 5 }),
      draft("worker_completed", {
        completion: { status, final_text: "done" },
        artifact: { digest, size_bytes: 40_000 },
      }),
    );
    expect(runOf(events)).toEqual([
      [1, "run.started", { mode: "autonomous", prompt: "mend it" }],
      [2, "tool.invoked", { name: "Bash", iteration_index: 1 }],
      [3, "tool.responded", { name: "Bash", status: "error" }],
      [4, "turn.recorded", { turn_id: `run:${W}:1:turn:1`, iterations: 1, tool_calls: 1 }],
      [5, "run.completed", { summary: "done", artifact: digest }],
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it("tells a turn that failed, an answer that was not kept, and why it failed", () => {
    const error = { code: "RATE_LIMITED", message: "Too many requests." } as const;
    const tooLarge = { code: "CAPTURE_TOO_LARGE", message: "Too long." } as const;
    const events = life(
      draft("turn_completed", { turn: 1, usage, duration_ms: null, error }),
      draft("worker_failed", { error, artifact: { digest: null, size_bytes: 2_000_000, error: tooLarge } }),
    );
    const payloads = runOf(events).slice(1);
    expect(payloads.map(([, type]) => type)).toEqual([
      "stage.failed",
      "turn.recorded",
      "artifact.failed",
      "run.failed",
    ]);
    expect(payloads[0]![2]).toMatchObject({
      kind: "dependency",
      fatal: false,
      envelope_code: "ERATELIMIT",
      http_status: 429,
    });
    expect(payloads[2]![2]).toMatchObject({ envelope_code: "EOUTPUT_TOO_LARGE", fatal: false });
    expect(payloads[3]![2]).toMatchObject({ kind: "dependency", message: "Too many requests.", fatal: true });
  });

  it("tells what it printed as log chunks, and how its process ended at its end", () => {
    const events = life(
      draft("worker_exited", {
        exit_code: null,
        signal: "SIGKILL",
        signal_inferred: false,
        raw_status: 137,
        reason: "signalled",
        duration_ms: 1,
        clock,
      }),
      draft("agent.event", { agent_kind: "command", kind: "TextOutput", channel: "stderr", text: "oh" }),
      draft("worker_failed", { error: { code: "AGENT_FAILED", message: "It was killed." } }),
    ).filter(({ stream_type }) => stream_type === "agent");
    expect(workerOf(events.at(-2)!)).toMatchObject({
      event_kind: "worker_log_chunk",
      status: "starting",
      metadata: { stream: "stderr", chunk: "oh" },
    });
    expect(workerOf(events.at(-1)!)).toMatchObject({
      event_kind: "worker_failed",
      status: "failed",
      worker_id: `subprocess:${W}`,
      run_id: `run:${W}:1`,
      exit_code: null,
      stop_reason: "It was killed.",
      metadata: { signal: "SIGKILL", incarnation: 1 },
    });
  });
});
