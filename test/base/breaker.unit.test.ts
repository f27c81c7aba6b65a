/** The circuit breaker, on a clock of the test. */
import { expect, it } from "vitest";
import { admit, type Breaker, CLOSED, settled } from "../../src/base/breaker.ts";
import {
  BREAKER_DOWN_MS,
  BREAKER_FAILURES_MAX,
  BREAKER_PROBES_MAX,
  BREAKER_RECOVERIES,
} from "../../src/base/limits.ts";

const failed = (breaker: Breaker, times: number, now = 0): Breaker =>
  Array.from({ length: times }).reduce<Breaker>((at) => settled(at, "failure", now), breaker);
const open = failed(CLOSED, BREAKER_FAILURES_MAX);

it("opens after failures in a row, and not after as many with a success between", () => {
  const almost = failed(CLOSED, BREAKER_FAILURES_MAX - 1);
  expect(almost.state).toBe("closed");
  expect(failed(settled(almost, "success", 0), BREAKER_FAILURES_MAX - 1).state).toBe("closed");
  expect(settled(almost, "unknown", 0)).toEqual(almost);
  expect(open).toEqual({ state: "open", until_ms: BREAKER_DOWN_MS });
});

it("lets nothing through while it is open, and says for how long", () => {
  expect(admit(open, BREAKER_DOWN_MS - 1)).toEqual({ breaker: open, wait_ms: 1 });
  expect(settled(open, "success", 0)).toEqual(open);
});

it("lets a few probes through at a time, and closes after successes", () => {
  let breaker = open;
  for (let at = 0; at < BREAKER_PROBES_MAX; at++) {
    const admitted = admit(breaker, BREAKER_DOWN_MS);
    expect(admitted.wait_ms).toBeUndefined();
    ({ breaker } = admitted);
  }
  expect(admit(breaker, BREAKER_DOWN_MS).wait_ms).toBe(BREAKER_DOWN_MS);
  for (let at = 0; at < BREAKER_RECOVERIES; at++) breaker = settled(breaker, "success", BREAKER_DOWN_MS);
  expect(breaker).toEqual(CLOSED);
});

it("opens again by one failure of a probe; one that says nothing gives its place back", () => {
  const probing = admit(open, BREAKER_DOWN_MS).breaker;
  expect(settled(probing, "failure", BREAKER_DOWN_MS)).toEqual({
    state: "open",
    until_ms: 2 * BREAKER_DOWN_MS,
  });
  expect(settled(probing, "unknown", 0)).toEqual({ state: "half_open", probes: 0, successes: 0 });
});
