/** Inputs that wait for their turn are decided in their order and recorded in one transaction. */
import { Effect, Fiber } from "effect";
import { describe, expect, it } from "vitest";
import { JoiningDecider } from "../../../src/actors/deciding/joining.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../../src/protocol/records.ts";
import type { EventLog } from "../../../src/store/event-log.ts";

interface Step {
  readonly events: readonly RecordDraft[];
  readonly word: string;
}

/** Its state is what it has decided, in order. */
class Words extends JoiningDecider<readonly string[], string, Step> {
  readonly done: string[] = [];
  protected decide(state: readonly string[], word: string): Step {
    if (word === "throws") throw new Error("a mistake of ours");
    return {
      word,
      events: [{ type: "daemon_stopped", payload: { reason: `${word} after ${state}` } } as never],
    };
  }
  protected evolve(state: readonly string[], { word }: Step): readonly string[] {
    return [...state, word];
  }
  protected mayHold(_: readonly string[], word: string): boolean {
    return word.startsWith("held");
  }
  protected carryOut(word: string): void {
    this.done.push(`${word} at ${this.state()}`);
  }
  protected about() {
    return { tree: null, worker_id: null, input: "" };
  }
}

const make = () => {
  const commits: { size: number; holds: boolean; answer: (failure?: HoldfastError) => void }[] = [];
  const commit: EventLog["commit"] = (drafts, { holds = false } = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LogRecord[]>();
    const answer = (failure?: HoldfastError) => (failure === undefined ? resolve([]) : reject(failure));
    commits.push({ size: drafts.length, holds, answer });
    return promise;
  };
  const now = () => ({
    mono_ms: 7,
    clock: { boot_id: "boot", mono_ns: "7" },
    random: 0,
    wall: { ms: 0, zone: "UTC" },
  });
  const words = new Words({ log: { commit }, now }, []);
  const ask = (word: string) => Effect.runFork(words.input(word));
  const answered = async (at: number, failure?: HoldfastError) => {
    await expect.poll(() => commits.length).toBeGreaterThan(at);
    commits[at]?.answer(failure);
  };
  return { words, commits, ask, answered };
};
const over = (fibers: readonly Fiber.Fiber<unknown, HoldfastError>[]) =>
  Effect.runPromise(Fiber.joinAll(fibers));
const full = new HoldfastError("DISK_FULL", "full");

describe("inputs that wait", () => {
  it("are recorded in one transaction, each decided on the state after the one before it, and carried out in order", async () => {
    const { words, commits, ask, answered } = make();
    const all = ["a", "b", "c", "d"].map(ask);
    await answered(0);
    await answered(1);
    const decisions = (await over(all)) as readonly Step[];
    expect(commits.map(({ size }) => size)).toEqual([1, 3]);
    expect(decisions.map(({ word }) => word)).toEqual(["a", "b", "c", "d"]);
    expect(words.done).toEqual(["a at a", "b at a,b", "c at a,b,c", "d at a,b,c,d"]);
  });
  it("keep their places: none overtakes an input that is decided alone", async () => {
    const { words, commits, ask, answered } = make();
    const first = [ask("a"), ask("b")];
    const alone = Effect.runFork(words.change((state) => Effect.succeed(`alone:${state.length}`)));
    const last = [ask("c"), ask("d")];
    for (const at of [0, 1, 2, 3]) await answered(at);
    await over([...first, alone, ...last]);
    expect(commits.map(({ size }) => size)).toEqual([1, 1, 1, 2]);
    expect(words.state()).toEqual(["a", "b", "alone:2", "c", "d"]);
  });
  it("fail alone: what the store refuses together is tried again for each, and nothing has changed", async () => {
    const { words, commits, ask, answered } = make();
    const all = ["a", "b", "c"].map(ask);
    await answered(0);
    await answered(1, full);
    await answered(2, full);
    await answered(3);
    const ends = await Promise.all(all.map((fiber) => Effect.runPromise(Fiber.await(fiber))));
    expect(ends.map(({ _tag }) => _tag)).toEqual(["Success", "Failure", "Success"]);
    expect(commits.map(({ size }) => size)).toEqual([1, 2, 1, 1]);
    expect(words.state()).toEqual(["a", "c"]);
  });
  it("that throw are no failure of the others", async () => {
    const { words, ask, answered } = make();
    const all = ["a", "b", "throws", "c"].map(ask);
    for (const at of [0, 1, 2]) await answered(at);
    const ends = await Promise.all(all.map((fiber) => Effect.runPromise(Fiber.await(fiber))));
    expect(ends.map(({ _tag }) => _tag)).toEqual(["Success", "Success", "Failure", "Success"]);
    expect(words.state()).toEqual(["a", "b", "c"]);
  });
  it("are not mixed with such as a full disk may hold", async () => {
    const { commits, ask, answered } = make();
    const all = ["a", "b", "held1", "held2"].map(ask);
    for (const at of [0, 1, 2]) await answered(at);
    await over(all);
    expect(commits.map(({ size, holds }) => `${size} ${holds}`)).toEqual(["1 false", "1 false", "2 true"]);
  });
  it("and are given up leave their place", async () => {
    const { words, commits, ask, answered } = make();
    const [first, given, last] = ["a", "b", "c"].map(ask);
    await Effect.runPromise(Fiber.interrupt(given!));
    await answered(0);
    await answered(1);
    await over([first!, last!]);
    expect([commits.length, words.state()]).toEqual([2, ["a", "c"]]);
  });
});
