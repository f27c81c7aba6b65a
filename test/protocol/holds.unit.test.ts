import { describe, expect, it } from "vitest";
import { answersOf, foldHolds, type Hold, holdOf, NO_HOLDS } from "../../src/protocol/holds.ts";
import type { PauseReason, RecordDraft, RecordPayloads, RecordType } from "../../src/protocol/records.ts";

const clock = { boot_id: "boot", mono_ns: "0" };
const record = <T extends RecordType>(type: T, payload: unknown): RecordDraft =>
  ({ stream: "worker:W", worker_id: "W", incarnation: 1, type, payload }) as RecordDraft;
const state = (to: RecordPayloads["worker_state_changed"]["to"]): RecordDraft =>
  record("worker_state_changed", { from: "running", to, reason: "", clock });

const asks = {
  approval: record("approval_requested", {
    approval_id: "A",
    tool: "Bash",
    tool_use_id: null,
    title: "run ls",
    input: { command: "ls" },
    reply: null,
  }),
  stall: record("worker_question", {
    question_id: "1.stall",
    about: "stall",
    idle_ms: 5,
    answers: ["wait", "restart", "kill"],
    answer_within_ms: 60,
    clock,
  }),
  interrupted: record("worker_question", {
    question_id: "1.interrupted",
    about: "interrupted",
    tools: ["Bash"],
    session_id: "s",
    answers: ["continue", "fresh", "stop"],
    clock,
  }),
  budget: record("worker_question", {
    question_id: "B",
    about: "budget",
    owner: "W",
    limit: "usd",
    value: 2,
    bound: 1,
    answers: ["continue", "stop"],
    clock,
  }),
};
const paused = (reason: PauseReason, question_id?: string): RecordDraft =>
  record("worker_paused", { reason, detail: "", pids: [], clock, ...(question_id ? { question_id } : {}) });
const answered = (question_id: string): RecordDraft =>
  record("worker_answered", { question_id, answer: "stop", by: "user", clock });
const withdrawn = (question_id: string): RecordDraft =>
  record("worker_question_withdrawn", { question_id, reason: "progress", clock });
const exited = record("worker_exited", {});
const ended = record("worker_ended", { state: "failed", reason: "" });
const scheduled = record("worker_restart_scheduled", {});
const cancel = record("worker_cancel_requested", {});
const limit = record("worker_limit_reached", {});
const goesOn = (reason: PauseReason): RecordDraft => record("worker_unpaused", { by: "user", reason, clock });
const said = record("approval_answered", { approval_id: "A", decision: "allow", by: "user", clock });
const tookBack = record("approval_withdrawn", { approval_id: "A" });

const opened = (...records: readonly RecordDraft[]): readonly Hold[] => records.reduce(foldHolds, NO_HOLDS);
const ids = (holds: readonly Hold[]): readonly string[] => holds.map(({ id }) => id);

describe("a hold", () => {
  it.each<[string, readonly RecordDraft[], Partial<Hold>, readonly string[]]>([
    ["of an approval", [asks.approval], { reason: "approval", id: "A", tool: "Bash" }, ["allow", "deny"]],
    ["of a stall", [asks.stall], { reason: "stall", within_ms: 60 }, ["wait", "restart", "kill"]],
    [
      "of an interrupted turn",
      [asks.interrupted, state("waiting")],
      { reason: "interrupted", tools: ["Bash"], session_id: "s" },
      ["continue", "fresh", "stop"],
    ],
    ["of a budget", [asks.budget], { reason: "budget", owner: "W", limit: "usd" }, ["continue", "stop"]],
    ["of a person's pause", [paused("operator")], { reason: "pause", id: "operator" }, ["continue"]],
    ["of a full disk", [paused("disk")], { reason: "pause", id: "disk" }, []],
    ["of a budget's pause", [paused("budget", "B")], { reason: "pause", question_id: "B" }, []],
    ["of a conversation at rest", [state("waiting")], { reason: "passivated" }, []],
  ])("%s has its reason and its answers", (_, records, hold, answers) => {
    const holds = opened(...records);
    expect(holds).toMatchObject([hold]);
    expect(answersOf(holds[0]!)).toEqual(answers);
  });

  it.each<[string, readonly RecordDraft[], readonly RecordDraft[]]>([
    ["an approval", [asks.approval], [said, tookBack, exited, ended]],
    ["a stall", [asks.stall], [answered("1.stall"), withdrawn("1.stall"), limit, cancel, exited, ended]],
    [
      "an interrupted turn",
      [asks.interrupted, state("waiting")],
      [answered("1.interrupted"), state("backing_off"), state("pending"), scheduled, ended],
    ],
    ["a budget", [asks.budget], [answered("B"), withdrawn("B"), record("tree_removed", {})]],
    [
      "a pause",
      [paused("operator")],
      [goesOn("operator"), state("stopping"), state("starting"), exited, ended],
    ],
    ["a rest", [state("waiting")], [state("pending"), scheduled, ended]],
  ])("of %s ends with each of these, and with nothing else", (_, records, ends) => {
    const open = opened(...records);
    for (const end of ends) expect(foldHolds(open, end), end.type).toEqual([]);
    const others = [
      answered("other"),
      withdrawn("other"),
      goesOn("output"),
      record("approval_answered", { approval_id: "other", decision: "deny", by: "user", clock }),
      record("turn_completed", {}),
    ];
    for (const other of others) expect(foldHolds(open, other), other.type).toBe(open);
  });

  it("of a budget outlives the worker whose it is: others count in it", () => {
    expect(ids(opened(asks.budget, exited, ended))).toEqual(["B"]);
  });

  it("stands once, however often it is recorded, and beside others", () => {
    const holds = opened(asks.approval, asks.approval, paused("disk"), paused("operator"), goesOn("disk"));
    expect(ids(holds)).toEqual(["A", "operator"]);
    expect(holdOf(holds, "stall")).toBeUndefined();
  });
});
