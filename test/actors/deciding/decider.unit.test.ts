/** The one place where an input is decided and recorded, over a log that answers when the test says so. */
import { describe, expect, it } from "vitest";
import { SoloDecider } from "../../../src/actors/deciding/decider.ts";
import type { WorkerEvent } from "../../../src/actors/machine/worker-machine.ts";
import type { Services } from "../../../src/actors/ports.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../../src/protocol/records.ts";
import type { EventLog } from "../../../src/store/port.ts";
import { newChild } from "../../../src/supervisor/child/evolve.ts";
import type { Input } from "../../../src/supervisor/child/inputs.ts";
import { exitedWith, spec } from "../../supervisor/child/children.ts";

const begin: Input = { type: "begin", incarnation: 1, reason: "spawn" };
const kill: Input = { type: "kill", by: "user", reason: "killed", grace_ms: 5, signal: "SIGTERM" };
const output = { type: "agent.event", stream: "worker:W", worker_id: "W", payload: { kind: "TextOutput" } };

const makeDecider = (given = spec()) => {
  const commits: { types: string[]; answer: (failure?: unknown) => void }[] = [];
  const told: WorkerEvent[] = [];
  const commit: EventLog["commit"] = (drafts) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LogRecord[]>();
    const answer = (failure?: unknown) => (failure === undefined ? resolve([]) : reject(failure));
    commits.push({ types: drafts.map(({ type }) => type), answer });
    return promise;
  };
  const services = { log: { commit }, boot_id: "boot", random: () => 0, zone: "UTC" } as unknown as Services;
  const alarms = { now: () => 7_000_000n, wallMs: () => 0, after: () => expect.fail("It sets no alarm.") };
  const decider = new SoloDecider(services, alarms, newChild("W", given), {
    tell: (event) => void told.push(event),
  });
  return { decider, commits, told };
};

describe("a decision", () => {
  it("changes nothing and tells nobody until the store has it", async () => {
    const { decider, commits, told } = makeDecider();
    const before = decider.child();
    const killed = decider.input(kill);
    expect([decider.child(), told]).toEqual([before, []]);
    commits[0]?.answer();
    await killed;
    expect(decider.child().state).toBe("cancelled");
    expect(told).toEqual([{ type: "END", state: "cancelled" }]);
  });

  it("that the store refuses has changed nothing, and the next one is decided on the same state", async () => {
    const { decider, commits, told } = makeDecider();
    const before = decider.child();
    const refused = decider.input(begin);
    const next = decider.input(begin);
    commits[0]?.answer(new HoldfastError("DISK_FULL", "full"));
    await expect(refused).rejects.toMatchObject({ code: "DISK_FULL" });
    expect([decider.child(), told]).toEqual([before, []]);
    commits[1]?.answer();
    await next;
    expect(decider.child()).toMatchObject({ state: "starting", incarnation: 1, started_ms: 7 });
  });

  it("that throws is a failure of our own, and does not keep the next one waiting", async () => {
    const { decider, commits } = makeDecider();
    const broken = { ...exitedWith(1), outcome: undefined } as unknown as Input;
    const begun = decider.input(begin);
    commits[0]?.answer();
    await begun;
    await expect(decider.input(broken)).rejects.toMatchObject({ code: "INTERNAL" });
    const next = decider.input(kill);
    commits[1]?.answer();
    await next;
    expect(decider.child().state).toBe("stopping");
  });

  it("is the only one at a time, in the order of asking", async () => {
    const { decider, commits, told } = makeDecider();
    const all = [
      decider.input(begin),
      decider.input(kill),
      decider.input(kill),
      decider.input(exitedWith(1)),
    ];
    for (let n = 0; n < 3; n += 1) {
      expect(commits.length).toBe(n + 1);
      commits[n]?.answer();
      await all[n === 2 ? 3 : n];
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(commits.map(({ types }) => types)).toEqual([
      ["worker_state_changed"],
      ["worker_cancel_requested", "worker_state_changed"],
      ["worker_exited", "worker_cancelled", "worker_ended"],
    ]);
    expect(told.map(({ type }) => type)).toEqual(["STOP", "STOP", "END"]);
  });

  it("is recorded with what came before it, in one transaction", async () => {
    const { decider, commits } = makeDecider();
    const begun = decider.input(begin);
    commits[0]?.answer();
    await begun;
    void decider.input(exitedWith(0), [output as RecordDraft]);
    expect(commits[1]?.types[0]).toBe("agent.event");
    expect(commits[1]?.types[1]).toBe("worker_exited");
  });

  it("on what has ended is none: nothing is recorded, not even what came before it", async () => {
    const { decider, commits } = makeDecider();
    const killed = decider.input(kill);
    commits[0]?.answer();
    await killed;
    await decider.input(exitedWith(0), [output as RecordDraft]);
    expect(commits.length).toBe(1);
  });
});
