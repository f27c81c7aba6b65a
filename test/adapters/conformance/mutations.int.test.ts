/**
 * Adapters and runs that were spoilt: no throw, all in bounds, no text that was not printed and none twice that was
 * printed once, and above all no false success.
 *
 * - A success is false where the lines do not say that the last turn went well, as the second reader has it; of a CLI without a
 *   word for it (OpenCode) also where the exit code is not 0. An exit that is no good one does not undo what the lines say.
 * - A text is doubled where more of a channel is told than was printed as whole messages or in pieces, whichever of both is
 *   longer for each message. A line that stands twice in the run was printed twice.
 */
import { describe, expect, test } from "vitest";
import type { AgentAdapter, DecodedRecord, ExitFacts, Opening } from "../../../src/adapters/adapter.ts";
import { adapterFor } from "../../../src/adapters/registry.ts";
import { DECODER_STATE_MAX_BYTES } from "../../../src/base/limits.ts";
import { AgentEvent } from "../../../src/protocol/agent-event.ts";
import { boundEvent } from "../../../src/protocol/bounds.ts";
import { AgentCompletion } from "../../../src/protocol/completion.ts";
import type { Asked } from "./expected/dialogue.ts";
import { textOf } from "./expected/expected.ts";
import { type Printed, readLines } from "./expected/printed.ts";
import type { Recorded } from "./expected/readers.ts";
import { type Mutant, mutantsOf, seeded, seedOf } from "./mutants.ts";
import { exit, isRecord, plain } from "./support.ts";
import { type Told, toldAs, toldOf } from "./told.ts";
import { built, openingFor, ownRuns, present, runOf, titleOf, transcriptsOf } from "./transcripts.ts";

const EXITS: readonly ExitFacts[] = [
  exit({ code: 0 }),
  exit({ code: 1 }),
  exit({ code: null, signal: "SIGKILL" }),
  exit({ code: 143, signals_sent: ["SIGTERM"] }),
  exit({ code: 0, signals_sent: ["SIGINT"] }),
  exit({ code: null }),
];

interface Folded {
  readonly state: unknown;
  readonly records: readonly DecodedRecord[];
}

const checkState = (state: unknown): void => {
  const json = JSON.stringify(state);
  expect(Buffer.byteLength(json)).toBeLessThanOrEqual(DECODER_STATE_MAX_BYTES);
};

const step = (adapter: AgentAdapter, { state }: Folded, text: string, end: string): Folded => {
  const decoded = adapter.decode(state, { kind: "text", text, end }, "stdout");
  if (decoded.state !== state) checkState(decoded.state);
  for (const record of decoded.records)
    if (record.type === "agent.event")
      for (const event of boundEvent(record.payload)) AgentEvent.parse(event);
  return { state: decoded.state, records: decoded.records.filter(isRecord) };
};

/** After each line, from before the first one. */
type Folds = readonly Folded[];

const foldsOf = (adapter: AgentAdapter, lines: readonly Printed[], opening: Opening): Folds =>
  lines.reduce<Folded[]>(
    (folds, { text }) => {
      folds.push(step(adapter, folds.at(-1)!, text, "\n"));
      return folds;
    },
    [{ state: adapter.initial(opening), records: [] }],
  );

/** Up to the first line that is another one it went as the run itself did. */
const fold = (adapter: AgentAdapter, run: readonly Printed[], folds: Folds, mutant: Mutant): Folded => {
  const { lines, torn } = mutant;
  const changed = lines.findIndex((line, index) => line !== run[index]);
  const from = changed === -1 ? lines.length : changed;
  const records = folds.slice(0, from + 1).flatMap((folded) => folded.records);
  let at = folds[from]!;
  for (const [index, { text }] of lines.entries()) {
    if (index < from) continue;
    at = step(adapter, at, text, torn === true && index === lines.length - 1 ? "" : "\n");
    records.push(...at.records);
  }
  return { state: at.state, records };
};

/** The exits with which it would be a success. */
const successes = (adapter: AgentAdapter, { state }: Folded): readonly ExitFacts[] =>
  EXITS.filter((facts) => {
    const { outcome } = adapter.finish(state, facts);
    AgentCompletion.parse(plain(outcome.completion));
    expect(outcome.status === "failed").toBe(outcome.error !== undefined);
    return outcome.status === "completed";
  });

const checkSuccesses = (
  of: Recorded,
  lines: readonly Printed[],
  asked: Asked,
  completed: readonly ExitFacts[],
): void => {
  if (completed.length === 0) return;
  expect(of.read(lines, asked).ending).toBe("well");
  if (of.byExit) expect(completed.map(({ status }) => status.code)).toEqual(completed.map(() => 0));
};

/** Every text that stands as a value in these lines. */
const valuesOf = (lines: readonly Printed[]): ReadonlySet<string> => {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value === "string") found.add(value);
    else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) walk(one);
  };
  for (const { value } of lines) walk(value);
  return found;
};

const checkTexts = (of: Recorded, lines: readonly Printed[], asked: Asked, { records }: Folded): void => {
  const values = valuesOf(lines);
  const { said } = of.read(lines, asked);
  const told = toldOf(records);
  for (const record of records)
    if (record.type === "agent.event" && record.payload.text !== undefined)
      expect(values.has(record.payload.text)).toBe(true);
  expect(told.answer.length).toBeLessThanOrEqual(textOf(said, "assistant").length);
  expect(told.reasoning.length).toBeLessThanOrEqual(textOf(said, "reasoning").length);
};

/** In a dialogue a call, an answer and a turn have ids: what is said of one again is no other one. */
const checkRepeated = (of: Recorded, lines: readonly Printed[], asked: Asked, { records }: Folded): void => {
  const things = ({ calls, results, turns, asks, sessions }: Told) => ({
    calls,
    results,
    turns,
    asks,
    sessions,
  });
  expect(things(toldOf(records))).toEqual(things(toldAs(of.read(lines, asked))));
};

/** The same but for one more that is not known. */
const checkHarmless = (adapter: AgentAdapter, run: Folded, mutant: Folded): void => {
  const { unknown, ...told } = toldOf(run.records);
  expect(toldOf(mutant.records)).toEqual({ ...told, unknown: unknown + 1 });
  for (const facts of EXITS)
    expect(adapter.finish(mutant.state, facts).outcome).toEqual(adapter.finish(run.state, facts).outcome);
};

const why = (name: string, check: () => void): void => {
  try {
    check();
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
};

describe.each(built.map((of) => [titleOf(of), of] as const))("%s", (_title, of) => {
  const adapter = adapterFor(of.kind)!;
  const recorded = ownRuns(of);
  const runs = [...recorded, ...(present ? transcriptsOf(of).map(runOf) : [])];
  let completed = 0;
  let failed = 0;

  test.each(runs)("$name survives being spoilt", ({ name, stdout, asked }) => {
    const run = readLines(stdout);
    const folds = foldsOf(adapter, run, openingFor(of, asked));
    for (const [lines, folded] of folds.entries())
      why(`cut after ${lines} lines`, () =>
        checkSuccesses(of, run.slice(0, lines), asked, successes(adapter, folded)),
      );
    const whole = { state: folds.at(-1)!.state, records: folds.flatMap(({ records }) => records) };
    for (const mutant of mutantsOf(run, of, seeded(seedOf(name)))) {
      why(mutant.name, () => {
        const folded = fold(adapter, run, folds, mutant);
        const good = successes(adapter, folded);
        if (good.length === 0) failed += 1;
        else completed += 1;
        checkSuccesses(of, mutant.lines, asked, good);
        checkTexts(of, mutant.lines, asked, folded);
        if (mutant.hopeless) expect(good).toEqual([]);
        if (mutant.repeats && of.dialogue !== undefined) checkRepeated(of, mutant.lines, asked, folded);
        if (mutant.harmless) checkHarmless(adapter, whole, folded);
      });
    }
  });

  test("of the spoilt runs some are good ones still, and some are none", () => {
    expect(completed).toBeGreaterThan(recorded.length);
    expect(failed).toBeGreaterThan(recorded.length);
  });
});
