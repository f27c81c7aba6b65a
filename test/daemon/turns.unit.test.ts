import { describe, expect, test } from "vitest";
import { REQUESTS_SLICE_MS } from "../../src/base/limits.ts";
import { makeTurns } from "../../src/daemon/turns.ts";

/** A loop whose clock stands still but for what is done in it. */
const makeLoop = () => {
  let now = 0;
  let next: (() => void)[] = [];
  const { lane } = makeTurns(
    () => now,
    (work) => next.push(work),
  );
  return {
    turns: lane(),
    lane,
    work: (ms: number) => {
      now += ms;
    },
    isWaiting: () => next.length > 0,
    microtasks: () => Promise.resolve(),
    turn: () => {
      const due = next;
      next = [];
      for (const each of due) each();
    },
  };
};

describe("requests of a turn", () => {
  test("are done after their caller, in order, and what they add comes after them", async () => {
    const { turns, microtasks } = makeLoop();
    const done: string[] = [];
    turns.add(() => {
      done.push("first");
      turns.add(() => done.push("third"));
    });
    turns.add(() => done.push("second"));
    done.push("caller");
    await microtasks();
    expect(done).toEqual(["caller", "first", "second", "third"]);
  });

  test("that have taken their slice wait for the next turn, and so does what comes meanwhile", async () => {
    const { turns, work, turn, microtasks } = makeLoop();
    const done: number[] = [];
    const request = (n: number) => () => {
      done.push(n);
      work(REQUESTS_SLICE_MS / 2);
    };
    for (const n of [1, 2, 3, 4, 5]) turns.add(request(n));
    await microtasks();
    expect(done).toEqual([1, 2, 3]);
    expect(turns.isOver()).toBe(true);
    turns.add(request(6));
    await microtasks();
    expect(done).toEqual([1, 2, 3]);
    turn();
    expect(done).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("that one long request has used up still go on in the next turn", async () => {
    const { turns, work, turn, microtasks, isWaiting } = makeLoop();
    const done: string[] = [];
    turns.add(() => {
      work(1_000);
      done.push("long");
    });
    turns.add(() => done.push("short"));
    await microtasks();
    expect(done).toEqual(["long"]);
    turn();
    expect(done).toEqual(["long", "short"]);
    turn();
    expect(isWaiting()).toBe(false);
  });

  test("one that throws is not done again, and the others are", async () => {
    const { turns, turn, microtasks } = makeLoop();
    const done: string[] = [];
    turns.add(() => done.push("before"));
    turns.add(() => {
      throw new Error("a defect");
    });
    turns.add(() => done.push("after"));
    const thrown = new Promise((seen) => process.once("uncaughtException", seen));
    await microtasks();
    expect(await thrown).toMatchObject({ message: "a defect" });
    turn();
    expect(done).toEqual(["before", "after"]);
  });

  test("of two connections alternate, however many one of them has", async () => {
    const { turns: greedy, lane, work, turn, microtasks } = makeLoop();
    const modest = lane();
    const done: string[] = [];
    const request = (name: string) => () => {
      done.push(name);
      work(1);
    };
    for (let n = 0; n < 100; n += 1) greedy.add(request("greedy"));
    modest.add(request("modest"));
    modest.add(request("modest"));
    await microtasks();
    expect(done.slice(0, 4)).toEqual(["greedy", "modest", "greedy", "modest"]);
    for (let n = 0; n < 100 && done.length < 102; n += 1) turn();
    expect(done).toHaveLength(102);
  });
});
