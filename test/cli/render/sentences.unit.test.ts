import { describe, expect, it } from "vitest";
import { LineWriter } from "../../../src/cli/render/line.ts";
import { sentenceOf } from "../../../src/cli/render/sentences.ts";
import { plainPaint, width } from "../../../src/cli/render/terminal.ts";
import type { LogRecord, MessageStep, RecordPayloads } from "../../../src/protocol/records.ts";
import { clock, ID, lifecycle, record, said } from "../support/samples.ts";

const exit = (changes: Partial<RecordPayloads["worker_exited"]>): LogRecord =>
  record("worker_exited", {
    exit_code: 0,
    signal: null,
    signal_inferred: false,
    raw_status: 0,
    reason: "exited",
    duration_ms: 1200,
    clock,
    ...changes,
  });

const messageStep = (step: MessageStep): LogRecord => record("worker_message", { message_id: ID, ...step });

describe("a record as a sentence", () => {
  it.each<[LogRecord, string]>([
    [exit({}), "exited with code 0 after 1.2s"],
    [messageStep({ state: "delivered", end: 9, acknowledges: true }), "message delivered"],
    [messageStep({ state: "delivered", end: 9, acknowledges: true, closes: true }), "its input was closed"],
    [messageStep({ state: "acknowledged", turn: null, closes: true }), "it has read its input to the end"],
    [
      messageStep({ state: "delivered", end: 9, acknowledges: false, purpose: "answer" }),
      "answer to its request for permission delivered",
    ],
    [
      messageStep({ state: "delivered", end: 9, acknowledges: false, purpose: "interrupt" }),
      "interrupt of its turn delivered",
    ],
    [
      messageStep({ state: "accepted", bytes: 9, line: true, purpose: "interrupt", turn: 2 }),
      "interrupt of its turn, 9 bytes accepted",
    ],
    [messageStep({ state: "accepted", bytes: 9 }), "message of 9 bytes accepted"],
    [messageStep({ state: "accepted", bytes: 9, line: true }), "line of its protocol, 9 bytes accepted"],
    [exit({ exit_code: 3 }), "exited with code 3 after 1.2s"],
    [exit({ exit_code: null, signal: "SIGKILL", reason: "signalled" }), "ended by SIGKILL after 1.2s"],
    [
      exit({ exit_code: 137, signal: "SIGKILL", signal_inferred: true, reason: "signalled" }),
      "ended by SIGKILL (according to its exit status; Holdfast did not send it) after 1.2s",
    ],
    [exit({ exit_code: null, reason: "unknown" }), "ended, and nobody saw how"],
    [
      exit({
        reason: "start_failed",
        error: { code: "BINARY_NOT_FOUND", message: "There is no program foo." },
      }),
      "did not start: There is no program foo.",
    ],
    [
      exit({ sweep: { method: "marker", unreadable: 0, survivors: [], killed: 2 } }),
      "exited with code 0 after 1.2s; ended 2 processes that it left behind",
    ],
    [
      exit({ sweep: { method: "marker", unreadable: 0, survivors: [77], killed: 0 } }),
      "exited with code 0 after 1.2s; still alive: pid 77",
    ],
    [
      exit({
        sweep: { method: "marker", unreadable: 0, survivors: [], killed: 0, left_container: "holdfast-a" },
      }),
      "exited with code 0 after 1.2s; its container is still there: podman rm --force holdfast-a",
    ],
    [
      record("worker_restart_scheduled", {
        delay_ms: 1000,
        restarts_in_window: 1,
        max_restarts: 3,
        period_ms: 60_000,
        reason: "failed",
        clock,
      }),
      "restart 1 of at most 3 in 1m; it starts after 1s",
    ],
    [
      record("worker_heartbeat", { process: "stopped", idle_ms: 30_000 }),
      "process is stopped, silent for 30s",
    ],
    [
      record("worker_limit_reached", { limit: "stall", value: 601_000, bound: 600_000 }),
      "stuck: silent for 10m, 10m allowed",
    ],
    [
      record("worker_question", {
        question_id: "1.5",
        about: "stall",
        idle_ms: 630_000,
        answers: ["wait", "restart", "kill"],
        answer_within_ms: 120_000,
        clock,
      }),
      "stuck? silent for 10m. Answer within 2m: agent answer ID wait|restart|kill",
    ],
    [
      record("worker_paused", { reason: "operator", detail: "too hot", pids: [7], clock }),
      "paused (too hot)",
    ],
    [record("worker_paused", { reason: "disk", detail: "", pids: [], clock }), "paused (disk)"],
    [record("worker_unpaused", { by: "user", reason: "operator", clock }), "continues, by user (operator)"],
    [
      record("worker_queued", { place: 2, priority: "low", waits_for: "memory" }),
      "waits for memory: place 2, priority low",
    ],
    [
      record("daemon_resumed", { kind: "suspended", gap_ms: 3_600_000, counted_ms: 0, clock }),
      "the machine slept for 1h; all clocks start over",
    ],
    [
      record("log_epoch_began", { epoch: "E", former_epoch: "D", why: "older", up_to: 7, lost: 1, clock }),
      "An older copy of the event log was put back: 1 record after 7, at least, is gone.",
    ],
    [record("worker_limit_reached", { limit: "usd", value: 5.1, bound: 5 }), "usd limit reached: $5.1 of $5"],
    [
      record("supervisor_escalated", { supervisor: "root", restarts: 4, max_restarts: 3, period_ms: 60_000 }),
      "supervisor gave up: 3 restarts in 1m were not enough",
    ],
    [
      record("supervisor_escalated", {
        supervisor: "crew",
        child: "fixer",
        action: "park",
        restarts: 1,
        max_restarts: 1,
        period_ms: 60_000,
      }),
      "crew gave up on fixer: 1 restart in 1m was not enough; parked",
    ],
    [
      record("supervisor_state_changed", {
        supervisor: "crew",
        from: "terminated",
        to: "backing_off",
        reason: "it gave up",
        operation: { kind: "start", stage: "starting", scope: ["fixer"], delay_ms: 1000 },
        clock,
      }),
      "crew backing off: starting fixer (it gave up)",
    ],
    [
      record("worker_restart_scheduled", {
        delay_ms: 0,
        restarts_in_window: 0,
        max_restarts: 3,
        period_ms: 60_000,
        reason: "started by its supervisor",
        clock,
      }),
      "started again by its supervisor",
    ],
    [
      record("worker_signal_sent", { signal: "SIGTERM", pids: [1, 2], reason: "kill" }),
      "sent SIGTERM to 2 processes",
    ],
    [
      record("agent.event", {
        agent_kind: "codex",
        kind: "ToolCall",
        channel: "tool",
        data: { tool: { tool_name: "shell" } },
      }),
      "uses shell",
    ],
    [
      record("agent.event", { agent_kind: "codex", kind: "Error", message: "bad\x1b[31m thing" }),
      "error: bad thing",
    ],
  ])("%#", (each, text) => {
    expect(sentenceOf(each).text).toBe(text);
  });

  it("shows a type that this client does not know by its name", () => {
    expect(sentenceOf({ ...lifecycle[0]!, type: "worker_levitated" } as never).text).toBe("worker_levitated");
  });
});

describe("lines of watch", () => {
  it("say who, which run and what, and leave out what another record says", () => {
    const writer = new LineWriter(plainPaint, { verbose: false });
    writer.know(ID, "fixer");
    const lines = lifecycle
      .map(writer.line)
      .filter((line) => line !== undefined)
      .map((line) => line.slice("12:00:00.123  ".length));
    expect(lines).toEqual([
      "fixer.1       started, pid 4242: sh -c 'echo hi; exit 3'",
      "fixer.1       │ hi",
      "fixer.1       exited with code 3 after 1.2s",
      "fixer.1       failed: The program exited with code 3.",
      "fixer.1       restart 1 of at most 3 in 1m; it starts after 1s",
    ]);
  });

  it("name who has no name by a prefix that can be typed, longer where two would look alike", () => {
    const writer = new LineWriter(plainPaint, { verbose: false });
    const tag = (id: string): string => writer.line({ ...said("x"), worker_id: id })!.split(/ +/)[1]!;
    expect(tag("01KXA00000AAAAAAAAAAAAAAAA")).toBe("01KXA00000.1");
    expect(tag("01KXA00001AAAAAAAAAAAAAAAA")).toBe("01KXA00001.1");
    expect(tag("01KXA00001BAAAAAAAAAAAAAAA")).toBe("01KXA00001B.1");
    expect(tag("01KXA00001AAAAAAAAAAAAAAAA")).toBe("01KXA00001A.1");
  });

  it("leave out the error of a command, which its exit tells, and tell who asked for a restart", () => {
    const { line } = new LineWriter(plainPaint, { verbose: false });
    const end = (message: string) => record("worker_failed", { error: { code: "AGENT_FAILED", message } });
    const failed = { agent_kind: "command", kind: "Error", message: "`sh` exited with code 3." } as const;
    expect(line(record("agent.event", failed))).toBeUndefined();
    expect(line(end(failed.message))).toBeUndefined();
    expect(line(end("It ran longer than 5s"))).toContain("failed: It ran longer than 5s");
    expect(line(record("agent.event", { ...failed, agent_kind: "codex" }))).toContain("error: `sh`");
    const restarted = {
      delay_ms: 0,
      restarts_in_window: 0,
      max_restarts: 3,
      period_ms: 60_000,
      reason: "user",
      clock,
    };
    expect(line(record("worker_restart_scheduled", restarted))).toMatch(/restarted by user$/);
  });

  it.each(["fixer", "workers/a-rather-long-name"])(
    "of %s break between words in a terminal of 60 columns, and what the agent said stays as it is",
    (name) => {
      const writer = new LineWriter(plainPaint, { verbose: true, columns: 60 });
      writer.know(ID, name);
      const words = "an agent's own words, which are longer than the room that is beside the bar";
      const lines = lifecycle.map((each) => writer.line(each)!);
      expect(lines.some((line) => line.includes("\n"))).toBe(true);
      for (const line of lines.flatMap((each) => each.split("\n")))
        expect(width(line)).toBeLessThanOrEqual(60);
      const [restart] = lines.slice(-1);
      expect(restart!.replace(/\n +/g, " ")).toMatch(/restart 1 of at most 3 in 1m; it starts after 1s$/);
      expect(writer.line(said(words))).toMatch(new RegExp(`│ ${words}$`));
    },
  );

  it("show every record with --verbose", () => {
    const writer = new LineWriter(plainPaint, { verbose: true });
    expect(lifecycle.map(writer.line)).not.toContain(undefined);
  });

  it("keep the lines of an agent's text under each other, and its escapes out", () => {
    const line = new LineWriter(plainPaint, { verbose: false }).line(said("one\n\x1b[2Jtwo\n"))!;
    const [first, second] = line.split("\n");
    expect(first!.indexOf("│")).toBe(second!.indexOf("│"));
    expect(second).toMatch(/│ two$/);
    expect(line).not.toContain("\x1b");
  });
});
