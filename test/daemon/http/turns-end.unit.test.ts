import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { TurnsEnd } from "../../../src/daemon/http/turns-end.ts";

it("does everything once, in order, at the end of the turn, also beside a work that throws", async () => {
  const done: unknown[] = [];
  const end = new TurnsEnd((cause) => done.push(cause));
  const cause = new Error("broken");
  end.add(() => done.push(1));
  end.add(() => {
    end.add(() => done.push(3));
    throw cause;
  });
  end.add(() => done.push(2));
  expect(done).toEqual([]);
  await turn();
  expect(done).toEqual([1, cause, 2]);
  await turn();
  expect(done).toEqual([1, cause, 2, 3]);
});
