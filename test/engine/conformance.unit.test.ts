/** The engine of Holdfast and the one without a model keep the duties of every engine; one that breaks a duty is found. */
import { describe, expect, test } from "vitest";
import { echoEngine } from "../../src/engine/echo.ts";
import type { AgentEngine, EngineRun } from "../../src/engine/engine.ts";
import { type EngineBench, engineConformance } from "../../src/engine/engine-conformance.ts";
import { memoryJournals } from "../../src/engine/journals.ts";
import type { Model } from "../../src/engine/model.ts";
import { nativeEngine } from "../../src/engine/native.ts";
import { partsOf } from "../../src/engine/parts.ts";
import { scriptedModel } from "../../src/engine/scripted.ts";
import type { EngineOpening } from "../../src/protocol/engine-lines.ts";

const OPENING: EngineOpening = {
  type: "open",
  worker_id: "w1",
  model: "scripted/any",
  cwd: "/",
  interactive: true,
  settings: {},
  policy: { permission: "deny", rules: [] },
  ground: { providers: {}, mcp: {} },
};
const [PROMPT, SLOW] = ["Answer.", "Take your time."];

/** Answers every message, after a call of a tool; but SLOW only once it is aborted. */
const model: Model = {
  async *stream({ messages, ...request }, signal) {
    const last = messages.at(-1);
    if (last?.role === "user" && last.text === SLOW)
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const isFirst = last?.role === "user";
    const answer = isFirst ? { text: "I look.", calls: [{ id: "c", name: "look" }] } : { text: "Answered." };
    yield* scriptedModel([answer]).stream({ ...request, messages: [] }, signal);
  },
};

const native = (): EngineBench => ({
  engine: nativeEngine({
    journals: memoryJournals(),
    parts: (opening) => partsOf(opening, { model }),
    sleep: async () => undefined,
  }),
  opening: OPENING,
  prompt: PROMPT,
  slow_prompt: SLOW,
});

const echo = (engine: AgentEngine = echoEngine): EngineBench => ({
  engine,
  opening: OPENING,
  prompt: PROMPT,
});

describe("the engine with a model", () => {
  for (const { title, check } of engineConformance(native)) test(title, check);
});

describe("the engine without one", () => {
  const cases = engineConformance(echo, { lacks: ["sessions", "interrupting"] });
  for (const { title, check } of cases) test(title, check);

  test("has its lacks in the titles of its cases", () => {
    expect(cases.filter(({ title }) => title.includes("(declared lack: "))).toHaveLength(4);
  });
});

describe("an engine that breaks a duty is found", () => {
  const told =
    (change: (run: EngineRun) => EngineRun["tell"]): (() => EngineBench) =>
    () =>
      echo({ name: "bad", run: (run) => echoEngine.run({ ...run, tell: change(run) }) });
  const caseOf = (title: RegExp, open: () => EngineBench) =>
    engineConformance(open, { lacks: ["sessions", "interrupting"] }).find((one) => title.test(one.title))!;

  test("by a turn that ends twice", async () => {
    const open = told(({ tell }) => (line) => {
      tell(line);
      if (line.type === "end") tell(line);
    });
    await expect(caseOf(/^prompt: one message/, open).check()).rejects.toThrow("a turn has one end");
  });

  test("by pieces that are not the answer", async () => {
    const open = told(
      ({ tell }) =>
        (line) =>
          tell(line.type === "text" ? { ...line, text: "other" } : line),
    );
    await expect(caseOf(/pieces/, open).check()).rejects.toThrow("make another text");
  });

  test("by tokens that are none", async () => {
    const open = told(
      ({ tell }) =>
        (line) =>
          tell(line.type === "end" ? { ...line, usage: { ...line.usage, input_tokens: -1 } } : line),
    );
    await expect(caseOf(/tokens/, open).check()).rejects.toThrow("-1 is no number of tokens");
  });

  test("by a lack that it does not declare", async () => {
    const undeclared = engineConformance(echo).find(({ title }) => title.startsWith("interruption"))!;
    await expect(undeclared.check()).rejects.toThrow('declare the lack "interrupting"');
  });
});
