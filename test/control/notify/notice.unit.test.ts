/** Which records are told of, and in which words. */
import { expect, it } from "vitest";
import { NOTIFY_TEXT_MAX_CHARS } from "../../../src/base/limits.ts";
import { type NoticeSubject, noticeOf } from "../../../src/control/notify/notice.ts";
import type { LogRecord, RecordType } from "../../../src/protocol/records.ts";

const SUBJECT: NoticeSubject = {
  worker_id: "W",
  name: "fixer",
  labels: {},
  within: [],
  is_spawned: false,
  rules: { permission: "ask", permission_rules: [] },
  error: "it exited with code 3",
};
const record = (type: RecordType, payload: object) =>
  ({
    type,
    payload,
    id: "R",
    seq: 1,
    recorded_at: "2026-11-27T00:00:00.000Z",
    stream: "worker:W",
  }) as unknown as LogRecord;
const told = (type: RecordType, payload: object, subject: Partial<NoticeSubject> = {}) =>
  noticeOf(record(type, payload), { ...SUBJECT, ...subject });

const asked = { approval_id: "A", tool: "Bash", title: "runs a command", input: { command: "npm test" } };

it("a request for permission is told with its command and its answers", () => {
  expect(told("approval_requested", asked)).toMatchObject({
    id: "R",
    kind: "approval",
    title: "fixer asks for Bash",
    text: "npm test",
    asks: { hold: "A", answers: ["allow", "deny"] },
  });
});

it("one that a rule answers is not", () => {
  const rules = { permission: "ask", permission_rules: [{ tool: "Bash", action: "allow" }] } as const;
  expect(told("approval_requested", asked, { rules: rules as never })).toBeUndefined();
  expect(
    told("approval_requested", asked, { rules: { permission: "deny", permission_rules: [] } }),
  ).toBeUndefined();
});

it.each([
  ["worker_ended", { state: "failed", reason: "x" }, "failed", "it exited with code 3"],
  ["worker_ended", { state: "parked", reason: "x" }, "parked", "it exited with code 3"],
  ["worker_ended", { state: "completed", reason: "done" }, "completed", "done"],
  [
    "worker_limit_reached",
    { limit: "usd", value: 5.014, bound: 5 },
    "budget",
    "$5.01 of $5.00. It is stopped.",
  ],
  [
    "daemon_started",
    { start: "after_crash" },
    "daemon",
    "Its agents ran on, and the new daemon supervises them.",
  ],
  ["daemon_defect", { where: "the tick", error: "TypeError" }, "daemon", "the tick: TypeError"],
  [
    "worker_restart_scheduled",
    { cause: "rate_limited", delay_ms: 60_000, restarts_in_window: 0 },
    "rate_limit",
    "The rate limit is reached. It goes on in 1m.",
  ],
  [
    "supervisor_escalated",
    { supervisor: "crew", child: "crew/a", action: "park", max_restarts: 3, period_ms: 5_000 },
    "parked",
    "More than 3 restarts in 5s, the last of crew/a.",
  ],
] as const)("%s %j is told as %s", (type, payload, kind, text) =>
  expect(told(type, payload)).toMatchObject({ kind, text }),
);

it.each([
  ["worker_ended", { state: "cancelled", reason: "killed" }],
  ["worker_restart_scheduled", { cause: "ended", delay_ms: 1, restarts_in_window: 1 }],
  ["worker_limit_reached", { limit: "timeout", value: 1, bound: 1 }],
  ["supervisor_escalated", { supervisor: "W", max_restarts: 3, period_ms: 5_000 }],
  ["daemon_started", { start: "first" }],
  ["turn_started", { turn: 1 }],
] as const)("%s %j is told to nobody", (type, payload) => expect(told(type, payload)).toBeUndefined());

it("a question names its hold as the inbox does", () => {
  const stall = {
    question_id: "1.stall",
    about: "stall",
    idle_ms: 60_000,
    answers: ["wait"],
    answer_within_ms: 9_000,
  };
  expect(told("worker_question", stall)?.asks).toEqual({ hold: "W:1.stall", answers: ["wait"] });
  const budget = {
    question_id: "7",
    about: "budget",
    owner: "crew",
    limit: "turns",
    value: 4,
    bound: 4,
    answers: ["stop"],
  };
  expect(told("worker_question", budget)).toMatchObject({ kind: "budget", asks: { hold: "W:7" } });
  expect(told("worker_question", budget, { worker_id: null })?.asks?.hold).toBe("crew:7");
});

it("the text of an agent is one line of bounded length, and shows what it hides", () => {
  const input = { command: `rm \u202e-rf \u200b~\n\u001b[2J${"x".repeat(9_999)}` };
  const text = told("approval_requested", { ...asked, input })!.text;
  expect(text).toHaveLength(NOTIFY_TEXT_MAX_CHARS);
  expect(text).toMatch(/^rm \ufffd-rf \ufffd~ \ufffd\[2Jx+…$/);
});
