/** Runs of the engine in memory: a script, an effect that can be counted, and the lines that it told. */
import type { AtCrashPoint } from "../../src/engine/crash.ts";
import { type EngineJournals, memoryJournals } from "../../src/engine/journals.ts";
import type { Model } from "../../src/engine/model.ts";
import { nativeEngine } from "../../src/engine/native.ts";
import { ANY_FORM, type LoopRules } from "../../src/engine/next.ts";
import { type ScriptedAnswer, scriptedModel } from "../../src/engine/scripted.ts";
import type { ToolExecutor } from "../../src/engine/tools.ts";
import type { EngineInput, EngineLine, EngineOpening } from "../../src/protocol/engine-lines.ts";

const RULES: LoopRules = {
  steps_max: 10,
  tries_max: 6,
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
    ["pay", "look", "asked", "denied"].map((name) => ({
      name,
      description: name,
      input_schema: { type: "object" },
      is_idempotent: name === "look",
    })),
  judge: ({ name }) =>
    name === "asked"
      ? { decision: "ask", title: "May I?" }
      : name === "denied"
        ? { decision: "deny", reason: "The policy denies it." }
        : { decision: "allow" },
  run: async ({ id, name }) => {
    effects.push(id);
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
  readonly rules?: Partial<LoopRules>;
  readonly inputs?: readonly EngineInput[] | AsyncIterable<EngineInput>;
  readonly at?: AtCrashPoint;
  readonly model?: Model;
  readonly onLine?: (line: EngineLine) => void;
  readonly compaction?: string;
}

async function* each(inputs: readonly EngineInput[]): AsyncGenerator<EngineInput> {
  yield* inputs;
}

export const PROMPT: EngineInput = { type: "message", id: "m1", text: "Do it." };

/** One run; its lines, until it ends or `at` throws. */
export const runOnce = async (
  world: World,
  script: readonly ScriptedAnswer[],
  { opening, rules, inputs = [PROMPT], at, model, onLine, compaction = "off" }: RunOptions = {},
): Promise<{ readonly lines: readonly EngineLine[]; readonly crash?: unknown }> => {
  const lines: EngineLine[] = [];
  const engine = nativeEngine({
    journals: world.journals,
    parts: async () => ({
      model: counted(model ?? scriptedModel(script), world.asked),
      tools: effectTools(world.effects),
      rules: { ...RULES, ...rules },
      compaction,
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
