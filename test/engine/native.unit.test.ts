/** The loop as its runtime sees it: what is told, in which order, for each way in which a turn may go. */
import { describe, expect, it } from "vitest";
import {
  ENGINE_CALLS_AT_ONCE_MAX,
  ENGINE_KEPT_MESSAGES,
  ENGINE_TRIES_DEFAULT,
} from "../../src/base/limits.ts";
import { checkOf } from "../../src/engine/answer-form.ts";
import { SUMMARY_REQUEST } from "../../src/engine/compaction.ts";
import { foldEntries } from "../../src/engine/conversation.ts";
import type { Model, ModelRequest } from "../../src/engine/model.ts";
import { type ScriptedAnswer, scriptedModel } from "../../src/engine/scripted.ts";
import type { EngineInput, EngineLine } from "../../src/protocol/engine-lines.ts";
import { endOf, makeWorld, PROMPT, runOnce, sessionOf } from "./support.ts";

const types = (lines: readonly EngineLine[]) => lines.map(({ type }) => type);
const call = (name: string, id = name) => ({ calls: [{ id, name }], usage: { input_tokens: 2 } });

describe("a turn", () => {
  it("is a message, answers and calls in turn, and an end with the text and all usage", async () => {
    const world = makeWorld();
    const { lines } = await runOnce(world, [
      { text: "Let me see.", ...call("look") },
      call("pay"),
      { text: "Paid.", usage: { input_tokens: 3, output_tokens: 1 } },
    ]);
    expect(types(lines)).toEqual(
      "session turn text usage call result usage call result text usage end".split(" "),
    );
    expect(world.effects).toEqual(["look", "pay"]);
    expect(endOf(lines)).toMatchObject({
      error: null,
      text: "Paid.",
      usage: { input_tokens: 7, output_tokens: 1 },
    });
  });

  it("tells the model about a denied call and a missing tool, and goes on", async () => {
    const world = makeWorld();
    const { lines } = await runOnce(world, [call("denied"), call("nothing"), { text: "ok" }]);
    expect(lines.filter(({ type }) => type === "result")).toMatchObject([
      { name: "denied", outcome: "denied", is_error: true },
      { name: "nothing", outcome: "returned", is_error: true },
    ]);
    expect(endOf(lines)).toMatchObject({ text: "ok" });
  });

  it("ends with MAX_TURNS at the bound of its steps", async () => {
    const { lines } = await runOnce(makeWorld(), [call("look", "a"), call("look", "b"), { text: "late" }], {
      rules: { steps_max: 2 },
    });
    expect(endOf(lines)).toMatchObject({ error: { code: "MAX_TURNS" }, text: "" });
  });

  it.each([
    ["refusal", "REFUSED"],
    ["length", "OUTPUT_TOO_LARGE"],
  ] as const)("ends with an error if the answer ended by %s", async (reason, code) => {
    const { lines } = await runOnce(makeWorld(), [{ text: "x", reason }]);
    expect(endOf(lines)).toMatchObject({ error: { code } });
  });
});

describe("a failure of the model", () => {
  const failing = (kind: "overloaded" | "auth" | "rate_limited", retry_after_ms?: number) => ({
    async *stream() {
      yield* [];
      const error = { kind, ...(retry_after_ms === undefined ? {} : { retry_after_ms }) };
      yield* scriptedModel([{ error }]).stream(
        { model: "", messages: [], tools: [] },
        new AbortController().signal,
      );
    },
  });

  it("is tried again with growing waits, a bounded number of times", async () => {
    const world = makeWorld();
    const { lines } = await runOnce(world, [], { model: failing("overloaded") });
    expect(world.asked).toHaveLength(ENGINE_TRIES_DEFAULT);
    expect(world.waits).toEqual([500, 1_000, 2_000, 4_000, 8_000]);
    expect(endOf(lines)).toMatchObject({ error: { code: "PROVIDER_ERROR" } });
  });

  it("waits as long as the provider says, unless that is too long", async () => {
    const world = makeWorld();
    await runOnce(world, [], { model: failing("rate_limited", 7_000) });
    expect(world.waits[0]).toBe(7_000);
    const far = makeWorld();
    const { lines } = await runOnce(far, [], { model: failing("rate_limited", 3_600_000) });
    expect(far.asked).toHaveLength(1);
    expect(endOf(lines)).toMatchObject({ error: { code: "RATE_LIMITED", retry_after_s: 3_600 } });
  });

  it("is not tried again if that cannot help", async () => {
    const world = makeWorld();
    const { lines } = await runOnce(world, [], { model: failing("auth") });
    expect(world.asked).toHaveLength(1);
    expect(endOf(lines)).toMatchObject({ error: { code: "TOKEN_MISSING" } });
  });
});

describe("the form of the answer", () => {
  const schema = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };

  it("is asked for once more, and the second answer counts", async () => {
    const { lines } = await runOnce(makeWorld(), [{ text: "seven" }, { text: '{"n":7}' }], {
      rules: { mistakeIn: checkOf(schema) },
    });
    expect(types(lines)).toContain("corrected");
    expect(endOf(lines)).toMatchObject({ error: null, text: '{"n":7}' });
  });

  it("is an error after the second wrong answer", async () => {
    const { lines } = await runOnce(makeWorld(), [{ text: "seven" }, { text: '{"n":"7"}' }], {
      rules: { mistakeIn: checkOf(schema) },
    });
    expect(endOf(lines)).toMatchObject({ error: { code: "AGENT_FAILED" }, text: "" });
  });
});

/** Inputs that a test gives while the run is under way. */
const live = () => {
  const waiting: EngineInput[] = [];
  let wake = () => {};
  let hasEnded = false;
  return {
    push: (input: EngineInput) => {
      waiting.push(input);
      wake();
    },
    end: () => {
      hasEnded = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (waiting.length > 0) yield waiting.shift()!;
        if (hasEnded) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
};

describe("a permission", () => {
  it.each([
    ["allow", ["asked"], "returned"],
    ["deny", [], "denied"],
  ] as const)("that is answered with %s", async (decision, effects, outcome) => {
    const world = makeWorld();
    const inputs = live();
    inputs.push(PROMPT);
    const { lines } = await runOnce(world, [call("asked"), { text: "ok" }], {
      inputs,
      onLine: (line) => {
        if (line.type === "ask") inputs.push({ type: "answer", key: line.key, decision });
      },
    });
    expect(world.effects).toEqual(effects);
    expect(lines.find(({ type }) => type === "result")).toMatchObject({ outcome });
    expect(endOf(lines)).toMatchObject({ error: null, text: "ok" });
  });

  it("that waits is withdrawn when the turn is cancelled, and the call is skipped", async () => {
    const world = makeWorld();
    const inputs = live();
    inputs.push(PROMPT);
    const { lines } = await runOnce(world, [call("asked")], {
      inputs,
      onLine: (line) => {
        if (line.type === "ask") inputs.push({ type: "interrupt" });
      },
    });
    expect(types(lines).slice(-4)).toEqual(["ask", "withdrawn", "result", "end"]);
    expect(world.effects).toEqual([]);
    expect(endOf(lines)).toMatchObject({ error: { code: "AGENT_FAILED" } });
  });
});

describe("a dialogue", () => {
  it("answers each message in a turn, and one that it knows only once", async () => {
    const world = makeWorld();
    const second: EngineInput = { type: "message", id: "m2", text: "And now?" };
    const { lines } = await runOnce(world, [{ text: "one" }, { text: "two" }], {
      opening: { interactive: true },
      inputs: [PROMPT, second, PROMPT],
    });
    expect(lines.filter(({ type }) => type === "end")).toMatchObject([{ text: "one" }, { text: "two" }]);
    expect(lines.at(-1)).toEqual({ type: "taken", message_id: "m1" });
    expect(world.asked).toEqual([0, 1]);
  });

  it("goes on in its session, and a branch leaves the session as it is", async () => {
    const world = makeWorld();
    const script = [{ text: "one" }, { text: "two" }, { text: "three" }];
    const first = await runOnce(world, script);
    const session = sessionOf(first.lines)!;
    const branch = await runOnce(world, script, {
      opening: { session, fork: true, worker_id: "w2" },
      inputs: [{ type: "message", id: "m2", text: "Branch." }],
    });
    expect(sessionOf(branch.lines)).not.toBe(session);
    expect(endOf(branch.lines)).toMatchObject({ text: "two" });
    const again = await runOnce(world, script, {
      opening: { session, worker_id: "w3" },
      inputs: [{ type: "message", id: "m3", text: "Go on." }],
    });
    expect(endOf(again.lines), "not the third: the branch is another conversation").toMatchObject({
      text: "two",
    });
  });

  it("is refused if its session does not exist", async () => {
    const { lines } = await runOnce(makeWorld(), [], { opening: { session: "nowhere" } });
    expect(lines).toMatchObject([{ type: "refused", error: { code: "SESSION_NOT_FOUND" } }]);
  });
});

describe("calls of one answer", () => {
  const calls = (...names: readonly string[]) => ({
    calls: names.map((name, at) => ({ id: `${name}-${at}`, name })),
  });
  const callsAndResults = (lines: readonly EngineLine[]) =>
    lines.flatMap((line) =>
      line.type === "call" ? [`+${line.call_id}`] : line.type === "result" ? [`-${line.call_id}`] : [],
    );

  it("run beside each other if they may, and their results stand in the order of the calls", async () => {
    const world = makeWorld();
    const { lines } = await runOnce(world, [calls("slow", "slow", "slow"), { text: "ok" }]);
    expect(callsAndResults(lines)).toEqual([
      "+slow-0",
      "+slow-1",
      "+slow-2",
      "-slow-2",
      "-slow-1",
      "-slow-0",
    ]);
    const { entries } = await world.journals.open({ session: sessionOf(lines)! });
    const ids = foldEntries(entries).messages.flatMap((one) => (one.role === "tool" ? [one.call_id] : []));
    expect(ids).toEqual(["slow-0", "slow-1", "slow-2"]);
  });

  it("wait for one that may not, and it waits for them", async () => {
    const world = makeWorld();
    const { lines } = await runOnce(world, [calls("slow", "slow", "pay", "slow", "denied"), { text: "ok" }]);
    expect(callsAndResults(lines)).toEqual(
      "+slow-0 +slow-1 -slow-1 -slow-0 +pay-2 -pay-2 +slow-3 -slow-3 -denied-4".split(" "),
    );
  });

  it("run at most so many at a time", async () => {
    const world = makeWorld();
    const many = Array.from({ length: ENGINE_CALLS_AT_ONCE_MAX + 1 }, () => "slow");
    const { lines } = await runOnce(world, [calls(...many), { text: "ok" }]);
    const at_once = callsAndResults(lines).findIndex((one) => one.startsWith("-"));
    expect(at_once).toBe(ENGINE_CALLS_AT_ONCE_MAX);
    expect(world.effects).toHaveLength(many.length);
  });
});

describe("a summary", () => {
  /** Counts what was answered by the results of tools, since a summary takes answers away. */
  const summing = (answers: readonly ScriptedAnswer[], summaries: readonly ScriptedAnswer[]) => {
    let at = 0;
    const asked: ModelRequest[] = [];
    const model: Model = {
      async *stream(request, signal) {
        asked.push(request);
        const isSummary = request.messages.at(-1) === SUMMARY_REQUEST;
        const answer = isSummary ? summaries[asked.filter(isOfSummary).length - 1]! : answers[at++]!;
        yield* scriptedModel([answer]).stream({ ...request, messages: [] }, signal);
      },
    };
    return { model, asked };
  };
  const isOfSummary = ({ messages }: ModelRequest) => messages.at(-1) === SUMMARY_REQUEST;
  const looks = Array.from({ length: 6 }, (_, at) => call("look", `c${at}`));
  const big = { ...call("look", "c6"), usage: { input_tokens: 100 } };
  const rules = { compaction: "summarize", context_max_tokens: 100 } as const;

  it("takes the place of what is old, is paid for once, and counts", async () => {
    const { model, asked } = summing(
      [...looks, big, { text: "done", usage: { input_tokens: 5 } }],
      [{ text: "I looked six times.", usage: { input_tokens: 1_000, output_tokens: 9 } }],
    );
    const { lines } = await runOnce(makeWorld(), [], { model, rules });
    expect(lines.find(({ type }) => type === "compacted")).toMatchObject({ policy: "summarize" });
    expect(endOf(lines)).toMatchObject({
      error: null,
      text: "done",
      usage: { input_tokens: 6 * 2 + 100 + 1_000 + 5, output_tokens: 9 },
    });
    const last = asked.at(-1)!.messages;
    expect(last.slice(0, 2)).toMatchObject([
      { text: "Do it." },
      { text: expect.stringContaining("I looked six") },
    ]);
    expect(last).toHaveLength(2 + ENGINE_KEPT_MESSAGES);
    expect(asked.filter(isOfSummary)).toHaveLength(1);
    expect(asked.find(isOfSummary)).toMatchObject({ tools: [] });
  });

  it("is asked for again after a failure that may pass, and done without after one that does not", async () => {
    const passing = summing(
      [...looks, big, { text: "done" }],
      [{ error: { kind: "overloaded" } }, { text: "Short." }],
    );
    const { lines } = await runOnce(makeWorld(), [], { model: passing.model, rules });
    expect(types(lines)).toContain("retry");
    expect(lines.find(({ type }) => type === "compacted")).toMatchObject({ policy: "summarize" });
    const lasting = summing([...looks, big, { text: "done" }], [{ error: { kind: "context_overflow" } }]);
    const without = await runOnce(makeWorld(), [], { model: lasting.model, rules });
    expect(without.lines.find(({ type }) => type === "compacted")).toMatchObject({ policy: "trim" });
    expect(endOf(without.lines)).toMatchObject({ error: null, text: "done" });
  });

  it("that is no summary is paid for, and what is old is trimmed", async () => {
    const { model } = summing(
      [...looks, big, { text: "done" }],
      [{ reason: "length", usage: { input_tokens: 7 } }],
    );
    const { lines } = await runOnce(makeWorld(), [], { model, rules });
    expect(lines.find(({ type }) => type === "compacted")).toMatchObject({ policy: "trim" });
    expect(endOf(lines)).toMatchObject({ usage: { input_tokens: 6 * 2 + 100 + 7 } });
  });

  it.each(["summarizing-before", "summarizing-after", "compacted-before", "compacted-after"] as const)(
    "is not paid for twice once it is on record: killed at %s",
    async (point) => {
      const world = makeWorld();
      const { model, asked } = summing(
        [...looks, big, { text: "done" }],
        [{ text: "First." }, { text: "Second." }],
      );
      let isDead = false;
      const at = (now: string) => {
        if (now !== point || isDead) return;
        isDead = true;
        throw new Error("killed");
      };
      const first = await runOnce(world, [], { model, rules, at });
      const opening = { session: sessionOf(first.lines)!, interrupted: true };
      const second = await runOnce(world, [], { model, rules, opening });
      expect(endOf(second.lines)).toMatchObject({ error: null, text: "done" });
      expect(asked.filter(isOfSummary)).toHaveLength(point === "compacted-before" ? 2 : 1);
    },
  );
});

it("a conversation that is full is compacted before the next request, and then asked once more", async () => {
  const world = makeWorld();
  const many = Array.from({ length: 6 }, (_, at) => call("look", `c${at}`));
  const { lines } = await runOnce(world, [...many, { text: "done" }], {
    rules: { context_max_tokens: 2 },
  });
  expect(types(lines)).toContain("compacted");
  expect(endOf(lines)).toMatchObject({ error: null });
});
