import { expect, test } from "vitest";
import { Releasing, releasable } from "../../../src/actors/intake/releasing.ts";
import type { Run } from "../../../src/adapters/spawner.ts";
import { RELEASE_BLOCK_BYTES, RELEASE_STEP_BYTES, SPOOL_KEPT_BYTES } from "../../../src/base/limits.ts";

const STEP = RELEASE_STEP_BYTES;
const KEPT = SPOOL_KEPT_BYTES;

test.each([
  ["nothing of what was never read", 0, 0, undefined],
  ["nothing short of a step", STEP + KEPT - 1, 0, undefined],
  ["the first step", STEP + KEPT, 0, STEP],
  ["whole blocks only", STEP + KEPT + RELEASE_BLOCK_BYTES - 1, 0, STEP],
  ["all steps that are behind at once", 10 * STEP + KEPT, STEP, 10 * STEP],
  ["nothing of a spool that has shrunk", STEP, 5 * STEP, undefined],
])("%s can go", (_what, offset, asked, below) => {
  expect(releasable(offset, asked)).toBe(below);
});

const asked: [string, number, number][] = [];
const runThat = (answers: (boolean | Error)[]): Run =>
  ({
    source: (stream: string) => ({
      release: async (from: number, below: number) => {
        asked.push([stream, from, below]);
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return answer === true;
      },
    }),
  }) as unknown as Run;
const settled = () => new Promise((done) => setImmediate(done));

test("a step that failed goes with the next one, and there is never a second one at once", async () => {
  asked.length = 0;
  const releasing = new Releasing(runThat([false, new Error("no"), true, true]));
  expect(releasing.due("stdout", 3 * STEP)).toBe(3 * STEP - KEPT);
  releasing.release("stdout", STEP);
  expect([releasing.due("stdout", 9 * STEP), releasing.due("stderr", 9 * STEP)]).toEqual([
    undefined,
    undefined,
  ]);
  await settled();
  expect(releasing.due("stdout", STEP + KEPT)).toBeUndefined();
  for (const below of [2 * STEP, 3 * STEP, 4 * STEP]) {
    expect(releasing.due("stdout", below + KEPT)).toBe(below);
    releasing.release("stdout", below);
    await settled();
  }
  expect(asked.map(([, from, below]) => [from / STEP, below / STEP])).toEqual([
    [0, 1],
    [0, 2],
    [0, 3],
    [3, 4],
  ]);
  expect(releasing.due("stderr", STEP + KEPT)).toBe(STEP);
});
