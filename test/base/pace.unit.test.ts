import { expect, it } from "vitest";
import { Pace } from "../../src/base/pace.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("carries on so many in a turn and the rest in the next ones, in order", async () => {
  const pace = new Pace(3);
  const done: number[] = [];
  for (let n = 0; n < 8; n += 1) pace.put({ goOn: () => done.push(n) });
  expect(done).toEqual([0, 1, 2]);
  await turn();
  expect(done).toEqual([0, 1, 2, 3, 4, 5]);
  await turn();
  await turn();
  expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

it("work that is queued during a turn comes after work that waits", async () => {
  const pace = new Pace(2);
  const done: string[] = [];
  const put = (name: string, then?: () => void) =>
    pace.put({
      goOn: () => {
        done.push(name);
        then?.();
      },
    });
  put("a");
  put("b");
  put("c", () => put("late"));
  put("d");
  put("e");
  for (let n = 0; n < 4; n += 1) await turn();
  expect(done).toEqual(["a", "b", "c", "d", "e", "late"]);
});
