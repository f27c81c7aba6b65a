import { describe, expect, it } from "vitest";
import { type Key, pressed } from "../../../src/cli/top/keys.ts";
import { cpuOf, EMPTY, heard, type TopState, viewed } from "../../../src/cli/top/state.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";
import { NOW, stateOf, supervisorNode, workerNode, workerView } from "./samples.ts";

const PAGE = 10;

const crew = (more: Partial<TopState> = {}): TopState => {
  const workers = [
    workerView("a", { name: "fixer" }),
    workerView("b", { paused: [] }),
    workerView("c", { approvals: 1 }),
    workerView("d", { ended_at: new Date(NOW).toISOString() }),
  ];
  const root = supervisorNode("root", [supervisorNode("crew", workers.map(workerNode))]);
  return stateOf(root, workers, { selected: "a", ...more });
};

const name = (text: string): Key => ({ name: text, text });
const typed = (state: TopState, ...keys: readonly Key[]) =>
  keys.reduce<ReturnType<typeof pressed>>(({ state: now }, key) => pressed(now, key, PAGE), { state });

describe("keys on the rows", () => {
  it.each([
    ["up", "crew"],
    ["down", "b"],
    ["home", "waits c"],
    ["end", "d"],
    ["pageup", "waits c"],
    ["pagedown", "d"],
  ])("%s selects %s", (key, selected) => {
    expect(typed(crew(), name(key)).state.selected).toBe(selected);
  });

  it.each([
    ["k", "kill"],
    ["r", "restart"],
  ])("%s asks first, and only y does it", (key, type) => {
    const asked = typed(crew(), name(key));
    expect([asked.state.mode.type, asked.deed]).toEqual(["sure", undefined]);
    expect(typed(asked.state, name("y"))).toMatchObject({
      state: { mode: { type: "rows" } },
      deed: { type, id: "a", ref: "fixer" },
    });
    expect(typed(asked.state, name("n")).deed).toBeUndefined();
  });

  it("p pauses one that runs, and lets one that is paused go on", () => {
    expect(typed(crew(), name("p")).deed).toMatchObject({ type: "pause", id: "a" });
    expect(typed(crew({ selected: "b" }), name("p")).deed).toMatchObject({ type: "unpause", id: "b" });
  });

  it("a looks at the question of one that waits, and says it of one that does not", () => {
    expect(typed(crew({ selected: "c" }), name("a")).deed).toMatchObject({ type: "question", id: "c" });
    expect(typed(crew(), name("a")).state.note).toBe("fixer does not wait for you.");
  });

  it.each(["k", "r", "p", "a"])("%s does nothing to a supervisor, or to a worker that has ended", (key) => {
    for (const selected of ["crew", "d"]) {
      const { state, deed } = typed(crew({ selected }), name(key));
      expect([state.mode.type, state.note, deed]).toEqual([
        "rows",
        "Select a worker that lives first.",
        undefined,
      ]);
    }
  });

  it("q, Esc and Ctrl-C leave, and Ctrl-Z suspends", () => {
    for (const key of [name("q"), name("escape"), { name: "c", ctrl: true }])
      expect(typed(crew(), key).deed).toEqual({ type: "quit" });
    expect(typed(crew(), { name: "z", ctrl: true }).deed).toEqual({ type: "suspend" });
  });
});

describe("a question", () => {
  const mode = {
    type: "question",
    hold: "h1",
    ref: "fixer",
    question: "Bash: rm -rf /",
    answers: ["allow", "deny"],
  } as const;

  it("is answered by the number of an answer", () => {
    expect(typed(crew({ mode }), name("2")).deed).toEqual({
      type: "answer",
      hold: "h1",
      ref: "fixer",
      answer: "deny",
    });
  });

  it.each(["3", "0", "y", "escape"])("stays open after %s", (key) => {
    const { state, deed } = typed(crew({ mode }), name(key));
    expect([state.mode.type, deed]).toEqual(["rows", undefined]);
  });
});

describe("the filter", () => {
  it("takes what is typed, also keys that have a meaning, until Enter", () => {
    const { state } = typed(crew(), { name: undefined, text: "/" }, name("f"), name("q"), name("backspace"));
    expect(state.filter).toBe("f");
    expect(typed(state, name("return")).state).toMatchObject({ filter: "f", mode: { type: "rows" } });
  });

  it("is as before after Esc", () => {
    const { state } = typed(crew({ filter: "x" }), { text: "/" }, name("y"), name("escape"));
    expect(state.filter).toBe("x");
  });
});

it("a page moves within its lines, and q goes back to the rows", () => {
  const mode = { type: "page", title: "log", lines: Array(25).fill(""), top: 0 } as const;
  const { state } = typed(crew({ mode }), name("end"), name("down"));
  expect(state.mode).toMatchObject({ top: 15 });
  expect(typed(state, name("q")).state.mode).toEqual({ type: "rows" });
});

describe("the knowledge of workers", () => {
  const event = (kind: string, text: string): LogRecord =>
    ({
      type: "agent.event",
      worker_id: "a",
      recorded_at: new Date(NOW).toISOString(),
      payload: { agent_kind: "command", kind, text },
    }) as unknown as LogRecord;

  it("is a tool in flight until the agent says something else", () => {
    const called = heard(EMPTY, [event("ToolCall", "Bash")]);
    expect(called.said.get("a")?.tool_since).toBe(NOW);
    expect(heard(called, [event("Status", "thinking")]).said.get("a")?.tool_since).toBe(NOW);
    expect(heard(called, [event("TextOutput", "one\ntwo\n")]).said.get("a")).toEqual({
      text: "two",
      tool_since: undefined,
    });
  });

  it("is the share of a processor between two samples, and nothing of those that are gone", () => {
    const sample = (cpu_ms: number, at_ms: number) => ({
      root: supervisorNode("root", []),
      workers: [workerView("a", { resources: { cpu_ms, memory_bytes: 1, processes: 1 } })],
      at_ms,
    });
    const state = viewed(
      heard(EMPTY, [{ ...event("TextOutput", "x"), worker_id: "gone" }]),
      sample(600, 2_000),
      cpuOf(sample(600, 2_000), sample(100, 1_000)),
    );
    expect(state.cpu.get("a")).toBe(50);
    expect(state.said.size).toBe(0);
  });
});
