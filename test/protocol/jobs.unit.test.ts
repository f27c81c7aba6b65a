import { expect, it } from "vitest";
import { JOB_MESSAGE_MAX_BYTES } from "../../src/base/limits.ts";
import { isJobOver, jobStateOf, lastStep, stepOf } from "../../src/protocol/jobs.ts";
import type { LogRecord } from "../../src/protocol/records.ts";
import { WorkerStatus } from "../../src/protocol/worker.ts";

const JOB = "01M852GXBZPH97KAJ2WWF4MHS5";
const AT = "2026-11-23T20:45:53.631Z";
const record = (type: string, payload: object): LogRecord =>
  ({ type, payload, seq: 7, worker_id: JOB, recorded_at: AT }) as unknown as LogRecord;
const event = (fields: object) => record("agent.event", { agent_kind: "claude_code", ...fields });
const told = (of: LogRecord) => {
  const { stage, message } = stepOf(of) ?? {};
  return [stage, message];
};

it("each status of a worker is a state of its job", () => {
  expect(Object.fromEntries(WorkerStatus.options.map((status) => [status, jobStateOf(status)]))).toEqual({
    pending: "queued",
    starting: "running",
    running: "running",
    stopping: "running",
    completed: "ok",
    failed: "error",
    cancelled: "canceled",
  });
  expect((["queued", "running", "ok", "error", "canceled"] as const).map(isJobOver)).toEqual([
    false,
    false,
    true,
    true,
    true,
  ]);
});

it.each([
  [record("worker_spawn_requested", { spec: {} }), "queued", "accepted"],
  [
    record("worker_queued", { place: 2, priority: "normal", waits_for: "slot" }),
    "queued",
    "waits for a slot",
  ],
  [
    record("worker_queued", { place: 1, priority: "normal", waits_for: "memory" }),
    "queued",
    "waits for memory",
  ],
  [record("worker_spawned", { pid: 12 }), "started", "process 12 runs"],
  [record("turn_started", { turn: 3 }), "turn", "turn 3 begins"],
  [event({ kind: "TextOutput", text: "hello\n" }), "text", "hello"],
  [event({ kind: "ToolCall", message: "Bash: ls" }), "tool", "Bash: ls"],
  [event({ kind: "ToolCall", channel: "shell" }), "tool", "shell"],
  [event({ kind: "Error", message: "no key" }), "note", "no key"],
  [record("approval_requested", { title: "run ls" }), "waiting", "asks for a permission: run ls"],
  [record("worker_paused", { reason: "budget" }), "waiting", "paused: budget"],
  [record("worker_cancel_requested", { reason: "not needed" }), "stopping", "not needed"],
])("a step tells %j", (of, stage, message) => {
  expect(told(of)).toEqual([stage, message]);
});

it.each([
  event({ kind: "Status" }),
  event({ kind: "ToolResult", message: "done" }),
  record("worker_heartbeat", { process: "running", idle_ms: 3 }),
  record("worker_completed", { completion: {} }),
])("%j is no step", (of) => {
  expect(stepOf(of)).toBeUndefined();
});

it("a message keeps its bound, and only a job that went well is at 100 %", () => {
  const long = stepOf(event({ kind: "TextOutput", text: "ä".repeat(2_000) }))!;
  expect(Buffer.byteLength(long.message)).toBeLessThanOrEqual(JOB_MESSAGE_MAX_BYTES);
  expect(long).toMatchObject({ job_id: JOB, seq: 7, at: AT });
  expect(long.pct).toBeUndefined();
  const end = { job_id: JOB, seq: 9, at: AT, message: "over" };
  expect(lastStep({ ...end, stage: "ok" })).toMatchObject({ pct: 100, final: true });
  expect(lastStep({ ...end, stage: "error" })).toEqual({ ...end, stage: "error", final: true });
});
