/**
 * The duties of every engine, as cases for any test runner: `for (const c of engineConformance(open)) test(c.title, c.check)`.
 * `check` rejects if the engine breaks the duty. `open` gives each case an engine of its own. An engine that cannot do a thing
 * declares the lack, and the case then holds it to the lack: nothing is skipped.
 */
import assert from "node:assert/strict";
import { type DutyCase, dutyCases } from "../base/duties.ts";
import { CONFORMANCE_WAIT_MS } from "../base/limits.ts";
import type { EngineInput, EngineLine, EngineOpening } from "../protocol/engine-lines.ts";
import type { AgentEngine } from "./engine.ts";

/**
 * A thing that an engine may lack. `sessions`: a conversation goes on in a later run. `interrupting`: a turn ends by an
 * interruption, and the conversation goes on.
 */
export type EngineLack = "sessions" | "interrupting";

export interface EngineConformanceOptions {
  /** Default: none. */
  readonly lacks?: readonly EngineLack[];
}

export interface EngineBench {
  readonly engine: AgentEngine;
  /** A conversation as the engine wants it opened. A case sets its session, and whether it is interactive. */
  readonly opening: EngineOpening;
  /** A message that the engine answers with some text, each time that it is given. */
  readonly prompt: string;
  /** A message whose turn takes until it is interrupted. Only without the lack `interrupting`. */
  readonly slow_prompt?: string;
  /** Called at the end of a case. */
  close?(): Promise<void>;
}

export type EngineCase = DutyCase;

export const engineConformance = (
  open: () => Promise<EngineBench> | EngineBench,
  { lacks = [] }: EngineConformanceOptions = {},
): readonly EngineCase[] =>
  dutyCases({ cases: CASES, lacks: LACKS }, lacks, async ({ check }) => {
    const bench = await open();
    try {
      await check(bench);
    } finally {
      await bench.close?.();
    }
  });

type EngineDuty = (bench: EngineBench) => Promise<void>;
type LineOf<T extends EngineLine["type"]> = Extract<EngineLine, { type: T }>;

/** One run that a case leads. */
class LedRun {
  readonly lines: EngineLine[] = [];
  private readonly over: Promise<void>;
  private readonly stop = new AbortController();
  private readonly waiting: EngineInput[] = [];
  private hasEnded = false;
  private wakeInput = (): void => undefined;
  private wakeLine = (): void => undefined;

  constructor({ engine, opening }: EngineBench, own: Partial<EngineOpening>) {
    this.over = engine.run({
      opening: { ...opening, interactive: true, ...own },
      inputs: this.inputs(),
      tell: (line) => {
        // A line goes over a wire.
        this.lines.push(JSON.parse(JSON.stringify(line)) as EngineLine);
        this.wakeLine();
      },
      signal: this.stop.signal,
    });
    // A failure is that of `ended`.
    this.over.catch(() => this.wakeLine());
  }

  give(input: EngineInput): void {
    this.waiting.push(input);
    this.wakeInput();
  }

  say(id: string, text: string): void {
    this.give({ type: "message", id, text });
  }

  endInput(): void {
    this.hasEnded = true;
    this.wakeInput();
  }

  abort(): void {
    this.stop.abort();
  }

  ended(): Promise<void> {
    return within(this.over, "the run ends");
  }

  of<T extends EngineLine["type"]>(type: T): readonly LineOf<T>[] {
    return this.lines.filter((line): line is LineOf<T> => line.type === type);
  }

  /** Resolves once so many lines of the type are told. */
  async told(type: EngineLine["type"], count = 1): Promise<void> {
    const isTold = async (): Promise<void> => {
      while (this.of(type).length < count)
        await new Promise<void>((resolve) => {
          this.wakeLine = resolve;
        });
    };
    await within(isTold(), `the engine tells ${count} times: ${type}`);
  }

  private async *inputs(): AsyncGenerator<EngineInput> {
    for (;;) {
      while (this.waiting.length > 0) yield this.waiting.shift()!;
      if (this.hasEnded) return;
      await new Promise<void>((resolve) => {
        this.wakeInput = resolve;
      });
    }
  }
}

const within = async (promise: Promise<void>, what: string): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new assert.AssertionError({ message: `not within ${CONFORMANCE_WAIT_MS} ms: ${what}` })),
      CONFORMANCE_WAIT_MS,
    );
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};

const types = ({ lines }: LedRun): readonly string[] => lines.map(({ type }) => type);

/** The whole of a conversation of these messages, in one run. */
const talked = async (
  bench: EngineBench,
  messages: readonly (readonly [id: string, text: string])[],
  own: Partial<EngineOpening> = {},
): Promise<LedRun> => {
  const run = new LedRun(bench, own);
  for (const [id, text] of messages) run.say(id, text);
  run.endInput();
  await run.ended();
  return run;
};

const sessionOf = (run: LedRun): string => {
  const [session] = run.of("session");
  assert(session !== undefined, "no session is told");
  return session.id;
};

const opens: EngineDuty = async (bench) => {
  const run = await talked(bench, [["m1", bench.prompt]], { interactive: false });
  assert.equal(types(run)[0], "session", "the first line tells the session");
  assert.equal(run.of("session").length, 1);
  assert.match(sessionOf(run), /^\S+$/, "the id of the session is one word");
};

const answersOnce: EngineDuty = async (bench) => {
  const run = await talked(bench, [["m1", bench.prompt]], { interactive: false });
  const seen = types(run);
  assert.deepEqual(run.of("turn"), [{ type: "turn", message_id: "m1", is_resumed: false }]);
  assert.equal(run.of("end").length, 1, "a turn has one end");
  assert(seen.indexOf("turn") < seen.indexOf("end"), "a turn ends after it has begun");
  assert.equal(seen.at(-1), "end", "nothing is told after the end of the only turn");
  const [end] = run.of("end");
  assert.equal(end?.error, null, `the turn failed: ${end?.error?.message}`);
  assert.notEqual(end?.text, "", "the answer is empty");
};

const streams: EngineDuty = async (bench) => {
  const run = await talked(bench, [["m1", bench.prompt]], { interactive: false });
  const said = run.of("text").filter(({ channel }) => channel === "assistant");
  const last = Math.max(...said.map(({ step }) => step));
  const text = said.flatMap((piece) => (piece.step === last ? [piece.text] : [])).join("");
  assert.equal(
    text,
    run.of("end")[0]?.text,
    "the pieces of the last step make another text than the end has",
  );
};

const counts: EngineDuty = async (bench) => {
  const run = await talked(bench, [["m1", bench.prompt]], { interactive: false });
  const { usage } = run.of("end")[0]!;
  const names = ["input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens"];
  assert.deepEqual(Object.keys(usage).sort(), [...names].sort());
  for (const count of Object.values(usage))
    assert(Number.isInteger(count) && count >= 0, `${count} is no number of tokens`);
};

const converses: EngineDuty = async (bench) => {
  const messages = ["m1", "m2", "m3"].map((id) => [id, bench.prompt] as const);
  const run = await talked(bench, messages);
  assert.deepEqual(
    run.of("turn").map(({ message_id }) => message_id),
    ["m1", "m2", "m3"],
  );
  const ends = types(run).filter((type) => type === "turn" || type === "end");
  assert.deepEqual(ends, ["turn", "end", "turn", "end", "turn", "end"], "turns overlap");
};

const staysOpen: EngineDuty = async (bench) => {
  const run = new LedRun(bench, {});
  run.say("m1", bench.prompt);
  await run.told("end");
  run.say("m2", bench.prompt);
  await run.told("end", 2);
  run.endInput();
  await run.ended();
};

const endsUnasked: EngineDuty = async (bench) => {
  const run = await talked(bench, []);
  assert.deepEqual([run.of("turn"), run.of("end")], [[], []]);
};

const endsAborted: EngineDuty = async (bench) => {
  const run = new LedRun(bench, {});
  run.say("m1", bench.prompt);
  await run.told("end");
  run.abort();
  await run.ended();
};

const goesOn: EngineDuty = async (bench) => {
  const first = await talked(bench, [["m1", bench.prompt]]);
  const session = sessionOf(first);
  const again = await talked(bench, [["m2", bench.prompt]], { session });
  assert.equal(sessionOf(again), session);
  assert.deepEqual(
    again.of("turn").map(({ message_id }) => message_id),
    ["m2"],
  );
  const given = await talked(bench, [["m2", bench.prompt]], { session });
  const begun = given.of("turn").filter(({ is_resumed }) => !is_resumed);
  assert.deepEqual(begun, [], "a message that was answered is answered anew");
};

const branches: EngineDuty = async (bench) => {
  const session = sessionOf(await talked(bench, [["m1", bench.prompt]]));
  const branch = await talked(bench, [["m2", bench.prompt]], { session, fork: true });
  assert.notEqual(sessionOf(branch), session, "a branch has the session of its trunk");
  assert.equal(branch.of("end").length, 1);
};

const refuses: EngineDuty = async (bench) => {
  const run = await talked(bench, [["m1", bench.prompt]], { session: "no-such-session" });
  assert.equal(run.of("refused")[0]?.error.code, "SESSION_NOT_FOUND");
  assert.deepEqual(run.of("turn"), []);
};

const isInterrupted: EngineDuty = async (bench) => {
  const { slow_prompt } = bench;
  assert(slow_prompt !== undefined, 'there is no slow_prompt: give one, or declare the lack "interrupting"');
  const run = new LedRun(bench, {});
  run.say("m1", slow_prompt);
  await run.told("turn");
  run.give({ type: "interrupt" });
  await run.told("end");
  assert.notEqual(run.of("end")[0]?.error, null, "an interrupted turn is told as answered");
  run.say("m2", bench.prompt);
  await run.told("end", 2);
  assert.equal(run.of("end")[1]?.error, null);
  run.endInput();
  await run.ended();
};

/** Each run is a conversation of its own. */
const hasNoSessions: EngineDuty = async (bench) => {
  const [one, other] = [await talked(bench, []), await talked(bench, [])];
  assert.notEqual(sessionOf(one), sessionOf(other), "two new conversations have one session");
};

/** An interruption between two turns changes nothing. */
const ignoresInterruptions: EngineDuty = async (bench) => {
  const run = new LedRun(bench, {});
  run.give({ type: "interrupt" });
  run.say("m1", bench.prompt);
  run.endInput();
  await run.ended();
  assert.equal(run.of("end")[0]?.error, null);
};

const LACKS: Readonly<Record<EngineLack, readonly [string, EngineDuty]>> = {
  sessions: ["each run is a conversation of its own", hasNoSessions],
  interrupting: ["a turn goes on to its end", ignoresInterruptions],
};

const CASES: readonly (readonly [string, EngineDuty, EngineLack?])[] = [
  ["opening: the session is told first, and once", opens],
  ["prompt: one message is one turn with one end, and the run is over", answersOnce],
  ["prompt: the pieces of the last step make the answer", streams],
  ["prompt: the tokens of a turn are counted", counts],
  ["dialogue: each message has a turn, in their order, and the run ends with its input", converses],
  ["dialogue: the input stays open between two turns", staysOpen],
  ["end: a run without a message has no turn", endsUnasked],
  ["end: a run is over soon after it is aborted, though its input is open", endsAborted],
  ["session: it goes on in a later run, which answers no message twice", goesOn, "sessions"],
  ["session: a branch is another session", branches, "sessions"],
  ["session: one that does not exist is refused", refuses, "sessions"],
  [
    "interruption: a turn ends with an error, and the next message is answered",
    isInterrupted,
    "interrupting",
  ],
];
