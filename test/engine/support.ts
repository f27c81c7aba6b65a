/** Runs of the engine in memory: a script, an effect that can be counted, and the lines that it told. */
import type { AtCrashPoint } from "../../src/engine/crash.ts";
import { type EngineJournals, memoryJournals } from "../../src/engine/journals.ts";
import type { Model } from "../../src/engine/model.ts";
import { nativeEngine } from "../../src/engine/native.ts";
import { ANY_FORM, type LoopRules } from "../../src/engine/next.ts";
import { type ScriptedAnswer, scriptedModel } from "../../src/engine/scripted.ts";
import type { ToolExecutor } from "../../src/engine/tools.ts";
import type { EngineInput, EngineLine, EngineOpening } from "../../src/protocol/engine-lines.ts";

const RULES: Omit<LoopRules, "mayOverlap"> = {
  steps_max: 10,
  tries_max: 6,
  compaction: "trim",
  context_max_tokens: null,
  mistakeIn: ANY_FORM,
  random: () => 0,
};

export interface World {
  readonly journals: EngineJournals;
  /** Ids of the calls that had their effect, in their order. */
  readonly effects: string[];
  /** Requests that the model got: the number of answers in each. */
  readonly asked: number[];
  /** Waits of the engine, in milliseconds. */
  readonly waits: number[];
}

export const makeWorld = (): World => ({ journals: memoryJournals(), effects: [], asked: [], waits: [] });

/** `pay` changes something with each run; `look` does not; `asked` needs a permission. */
const effectTools = (effects: string[]): ToolExecutor => ({
  list: async () =>
    ["pay", "look", "slow", "asked", "denied"].map((name) => ({
      name,
      description: name,
      input_schema: { type: "object" },
      is_idempotent: name === "look" || name === "slow",
      may_overlap: name === "slow",
    })),
  judge: ({ name }) =>
    name === "asked"
      ? { decision: "ask", title: "May I?" }
      : name === "denied"
        ? { decision: "deny", reason: "The policy denies it." }
        : { decision: "allow" },
  run: async ({ id, name }) => {
    effects.push(id);
    // Those that are begun beside each other end in the reverse of their order.
    if (name === "slow")
      for (let turn = 10 - effects.length; turn > 0; turn -= 1)
        await new Promise((resolve) => setImmediate(resolve));
    return { output: `${name} done`, is_error: false };
  },
  close: async () => {},
});

const counted = (model: Model, asked: number[]): Model => ({
  stream: (request, signal) => {
    asked.push(request.messages.filter(({ role }) => role === "assistant").length);
    return model.stream(request, signal);
  },
});

export interface RunOptions {
  readonly opening?: Partial<EngineOpening>;
  readonly rules?: Partial<Omit<LoopRules, "mayOverlap">>;
  readonly inputs?: readonly EngineInput[] | AsyncIterable<EngineInput>;
  readonly at?: AtCrashPoint;
  readonly model?: Model;
  readonly onLine?: (line: EngineLine) => void;
}

async function* each(inputs: readonly EngineInput[]): AsyncGenerator<EngineInput> {
  yield* inputs;
}

export const PROMPT: EngineInput = { type: "message", id: "m1", text: "Do it." };

/** One run; its lines, until it ends or `at` throws. */
export const runOnce = async (
  world: World,
  script: readonly ScriptedAnswer[],
  { opening, rules, inputs = [PROMPT], at, model, onLine }: RunOptions = {},
): Promise<{ readonly lines: readonly EngineLine[]; readonly crash?: unknown }> => {
  const lines: EngineLine[] = [];
  const engine = nativeEngine({
    journals: world.journals,
    parts: async () => ({
      model: counted(model ?? scriptedModel(script), world.asked),
      tools: effectTools(world.effects),
      rules: { ...RULES, ...rules },
    }),
    sleep: async (ms) => {
      world.waits.push(ms);
    },
    at,
  });
  const run = engine.run({
    opening: {
      type: "open",
      worker_id: "w1",
      model: "scripted/x",
      cwd: "/",
      interactive: false,
      settings: {},
      policy: { permission: "allow", rules: [] },
      ground: { providers: {}, mcp: {} },
      ...opening,
    },
    inputs: Symbol.asyncIterator in inputs ? inputs : each(inputs),
    tell: (line) => {
      lines.push(line);
      onLine?.(line);
    },
    signal: new AbortController().signal,
  });
  try {
    await run;
    return { lines };
  } catch (crash) {
    return { lines, crash };
  }
};

export const sessionOf = (lines: readonly EngineLine[]): string | undefined =>
  lines.flatMap((line) => (line.type === "session" ? [line.id] : []))[0];

export const endOf = (lines: readonly EngineLine[]) => lines.find((line) => line.type === "end");
