/** The one place where an input is decided and recorded, over a log that answers when the test says so. */
import { Effect, Exit, Fiber } from "effect";
import { describe, expect, it, vi } from "vitest";
import { type NextInput, SoloDecider } from "../../../src/actors/deciding/worker-decider.ts";
import type { MachineEvent } from "../../../src/actors/machine/worker-machine.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../../src/protocol/records.ts";
import type { EventLog } from "../../../src/store/event-log.ts";
import { newChild } from "../../../src/supervisor/child/evolve.ts";
import type { ChildInput } from "../../../src/supervisor/child/inputs.ts";
import { exitedWith, spec } from "../../supervisor/child/children.ts";

const begin: ChildInput = { type: "begin", incarnation: 1, reason: "spawn" };
const kill: ChildInput = { type: "kill", by: "user", reason: "killed", grace_ms: 5, signal: "SIGTERM" };
const output = { type: "agent.event", stream: "worker:W", worker_id: "W", payload: { kind: "TextOutput" } };

const makeDecider = (given = spec()) => {
  const commits: { types: string[]; answer: (failure?: unknown) => void }[] = [];
  const told: MachineEvent[] = [];
  const commit: EventLog["commit"] = (drafts) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LogRecord[]>();
    const answer = (failure?: unknown) => (failure === undefined ? resolve([]) : reject(failure));
    commits.push({ types: drafts.map(({ type }) => type), answer });
    return promise;
  };
  const clock = { boot_id: "boot", mono_ns: "7000000" };
  const now = () => ({ mono_ms: 7, clock, random: 0, wall: { ms: 0, zone: "UTC" } });
  const decider = new SoloDecider({ log: { commit }, now }, newChild("W", given), {
    tell: (event) => void told.push(event),
  });
  const input = (...asked: Parameters<typeof decider.input>) => Effect.runFork(decider.input(...asked));
  return { decider, commits, told, input };
};

const over = (fiber: Fiber.Fiber<unknown, HoldfastError>) => Effect.runPromise(Fiber.join(fiber));

describe("a decision", () => {
  it("changes nothing and tells nobody until the store has it", async () => {
    const { decider, commits, told, input } = makeDecider();
    const before = decider.child();
    const killed = input(kill);
    expect([decider.child(), told]).toEqual([before, []]);
    commits[0]?.answer();
    await over(killed);
    expect(decider.child().state).toBe("cancelled");
    expect(told).toEqual([{ type: "END", state: "cancelled" }]);
  });

  it("that the store refuses has changed nothing, and the next one is decided on the same state", async () => {
    const { decider, commits, told, input } = makeDecider();
    const before = decider.child();
    const refused = input(begin);
    const next = input(begin);
    commits[0]?.answer(new HoldfastError("DISK_FULL", "full"));
    await expect(over(refused)).rejects.toMatchObject({ code: "DISK_FULL" });
    expect([decider.child(), told]).toEqual([before, []]);
    await vi.waitFor(() => expect(commits).toHaveLength(2));
    commits[1]?.answer();
    await over(next);
    expect(decider.child()).toMatchObject({ state: "starting", incarnation: 1, started_ms: 7 });
  });

  it("that throws is a failure of our own, and does not keep the next one waiting", async () => {
    const { decider, commits, input } = makeDecider();
    const broken = { ...exitedWith(1), outcome: undefined } as unknown as ChildInput;
    const begun = input(begin);
    commits[0]?.answer();
    await over(begun);
    await expect(over(input(broken))).rejects.toMatchObject({ code: "INTERNAL" });
    const next = input(kill);
    commits[1]?.answer();
    await over(next);
    expect(decider.child().state).toBe("stopping");
  });

  it("is the only one at a time, in the order of asking", async () => {
    const { commits, told, input } = makeDecider();
    const all = [input(begin), input(kill), input(kill), input(exitedWith(1))];
    for (let n = 0; n < 3; n += 1) {
      await vi.waitFor(() => expect(commits).toHaveLength(n + 1));
      commits[n]?.answer();
      await over(all[n === 2 ? 3 : n]!);
    }
    expect(commits.map(({ types }) => types)).toEqual([
      ["worker_state_changed"],
      ["worker_cancel_requested", "worker_state_changed"],
      ["worker_exited", "worker_cancelled", "worker_ended"],
    ]);
    expect(told.map(({ type }) => type)).toEqual(["STOP", "STOP", "END"]);
  });

  it("is recorded with what came before it, in one transaction", async () => {
    const { commits, input } = makeDecider();
    const begun = input(begin);
    commits[0]?.answer();
    await over(begun);
    input(exitedWith(0), [output as RecordDraft]);
    expect(commits[1]?.types[0]).toBe("agent.event");
    expect(commits[1]?.types[1]).toBe("worker_exited");
  });

  it("leads to a second one in the same transaction, which is carried out after it", async () => {
    const { decider, commits, told, input } = makeDecider();
    const begun = input(begin);
    commits[0]?.answer();
    await over(begun);
    const heard: string[][] = [];
    const again: NextInput = ({ commands }) => {
      heard.push(commands.map(({ type }) => type));
      return { type: "begin", incarnation: 2, reason: "restart" };
    };
    const refused = input(exitedWith(1), [], undefined, again);
    commits[1]?.answer(new HoldfastError("DISK_FULL", "full"));
    await expect(over(refused)).rejects.toMatchObject({ code: "DISK_FULL" });
    expect(decider.child()).toMatchObject({ incarnation: 1, open: true });
    const ended = input(exitedWith(1), [], undefined, again);
    commits[2]?.answer();
    await over(ended);
    expect(commits[2]?.types).toEqual([
      "worker_exited",
      "worker_failed",
      "worker_restart_scheduled",
      "worker_state_changed",
    ]);
    expect(heard).toEqual([["restart_after"], ["restart_after"]]);
    expect(decider.child()).toMatchObject({ incarnation: 2, open: true, state: "starting" });
    expect(told.map(({ type }) => type)).toEqual(["RESTART_AFTER"]);
  });

  it("that a full disk may hold back takes nothing with it that waits for its record", async () => {
    const { commits, input } = makeDecider();
    const restart: ChildInput = { type: "restart", by: "user", grace_ms: 5 };
    for (const [at, one] of [begin, restart].entries()) {
      const done = input(one);
      commits[at]?.answer();
      await over(done);
    }
    input(exitedWith(1), [], undefined, () => ({ ...begin, incarnation: 2 }));
    expect(commits[2]?.types).toEqual(["worker_exited", "worker_cancelled", "worker_restart_scheduled"]);
  });

  it("on what has ended is none: nothing is recorded, not even what came before it", async () => {
    const { commits, input } = makeDecider();
    const killed = input(kill);
    commits[0]?.answer();
    await over(killed);
    await over(input(exitedWith(0), [output as RecordDraft]));
    expect(commits.length).toBe(1);
  });

  it("is carried out also where whoever asked goes away while the store has it", async () => {
    const { decider, commits, told, input } = makeDecider();
    const killed = input(kill);
    killed.interruptUnsafe();
    commits[0]?.answer();
    expect(Exit.isFailure(await Effect.runPromise(Fiber.await(killed)))).toBe(true);
    expect([decider.child().state, told.length]).toEqual(["cancelled", 1]);
  });
});
