/** The engine ends at each of its crash points, and goes on from the journal: nothing is repeated, nothing is asked twice. */
import { describe, expect, it } from "vitest";
import { foldEntries } from "../../src/engine/conversation.ts";
import { ENGINE_CRASH_POINTS, type EngineCrashPoint } from "../../src/engine/crash.ts";
import type { Message } from "../../src/engine/model.ts";
import type { ScriptedAnswer } from "../../src/engine/scripted.ts";
import type { EngineInput } from "../../src/protocol/engine-lines.ts";
import { endOf, makeWorld, PROMPT, runOnce, sessionOf, type World } from "./support.ts";

const SCRIPT: readonly ScriptedAnswer[] = [
  { text: "I look.", calls: [{ id: "look-1", name: "look" }], usage: { input_tokens: 10 } },
  {
    text: "I pay twice.",
    calls: [
      { id: "pay-1", name: "pay" },
      { id: "pay-2", name: "pay" },
    ],
    usage: { input_tokens: 100 },
  },
  {
    text: "I look at three at once.",
    calls: [1, 2, 3].map((at) => ({ id: `slow-${at}`, name: "slow" })),
  },
  { text: "Paid.", usage: { input_tokens: 1_000 } },
];
const PASSAGES_MAX = 7;

const dieAt = (point: EngineCrashPoint, passage: number) => {
  let left = passage;
  return (at: EngineCrashPoint) => {
    if (at !== point) return;
    left -= 1;
    if (left === 0) throw new Error(`died at ${point}`);
  };
};

const transcriptOf = async (world: World, session: string): Promise<readonly Message[]> =>
  foldEntries((await world.journals.open({ session })).entries).messages;

/** The transcript without the results of calls, of which one may be unknown. */
const spoken = (messages: readonly Message[]) => messages.filter(({ role }) => role !== "tool");

const cases = ENGINE_CRASH_POINTS.flatMap((point) =>
  Array.from({ length: PASSAGES_MAX }, (_, at) => ({ point, passage: at + 1 })),
);

describe.each(["prompt", "dialogue"] as const)("a %s", (how) => {
  it.each(cases)("that dies at passage $passage of $point goes on", async ({ point, passage }) => {
    const interactive = how === "dialogue";
    const whole = makeWorld();
    const undisturbed = await runOnce(whole, SCRIPT, { opening: { interactive } });
    const expected = await transcriptOf(whole, sessionOf(undisturbed.lines)!);

    const world = makeWorld();
    const first = await runOnce(world, SCRIPT, { opening: { interactive }, at: dieAt(point, passage) });
    const session = sessionOf(first.lines)!;
    const wasTaken = first.lines.some(({ type }) => type === "turn");
    const wasTold = endOf(first.lines) !== undefined;
    const again: readonly EngineInput[] =
      how === "prompt" ? [{ ...PROMPT, id: "m1-again" } as EngineInput] : wasTaken ? [] : [PROMPT];
    const opening = { interactive, session, interrupted: wasTaken && !wasTold };
    const second =
      first.crash === undefined || wasTold ? first : await runOnce(world, SCRIPT, { opening, inputs: again });

    expect(endOf(second.lines)).toMatchObject({
      error: null,
      text: "Paid.",
      usage: { input_tokens: 1_110 },
    });
    const transcript = await transcriptOf(world, session);
    expect(spoken(transcript)).toEqual(spoken(expected));
    expect(transcript).toHaveLength(expected.length);
    const unknown = transcript.filter(
      (message) => message.role === "tool" && JSON.stringify(message.output).includes('"unknown"'),
    );
    expect(unknown.length, "at most the call that was under way").toBeLessThanOrEqual(1);
    for (const id of ["pay-1", "pay-2"]) {
      const isUnknown = unknown.some((message) => message.role === "tool" && message.call_id === id);
      const runs = world.effects.filter((each) => each === id).length;
      expect(runs, id).toBeLessThanOrEqual(1);
      expect(runs === 1 || isUnknown, `${id} ran, or the model knows that nobody knows`).toBe(true);
    }
    // An answer on record is not asked for again: only the one that was under way.
    const repeated = world.asked.length - new Set(world.asked).size;
    expect(repeated).toBeLessThanOrEqual(/^(asking-after|answering|answered-before)$/.test(point) ? 1 : 0);
  });
});
