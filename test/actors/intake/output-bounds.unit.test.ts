import { expect, test } from "vitest";
import { decideOutput } from "../../../src/actors/intake/output-bounds.ts";
import type { PauseReason } from "../../../src/protocol/records.ts";

const QUOTA = 100;
const ROOM = { held: 0, stays: 0 };

interface World {
  readonly over?: "fail" | "pause";
  readonly held?: number;
  readonly stays?: number;
  readonly low?: boolean;
  readonly paused?: readonly PauseReason[];
  readonly quota?: number;
}

/** The decisions, in a word each. */
const decided = ({ over = "pause", low = false, paused = [], quota = QUOTA, ...room }: World): string[] =>
  decideOutput(
    { output_quota_bytes: quota, on_output_quota: over, grace_ms: 1 },
    paused.map((reason) => ({ reason, detail: "" })),
    { ...ROOM, ...room },
    { low, floor_bytes: 1024 ** 2 },
    [7],
  ).map((input) => `${input.type} ${input.type === "limit" ? input.limit : input.reason}`);

test.each<readonly [string, World, readonly string[]]>([
  ["at the quota nothing is done", { held: 100 }, []],
  ["over it, it is ended", { over: "fail", held: 101 }, ["limit output"]],
  ["over it, it is paused where that is asked for", { held: 101 }, ["pause output"]],
  ["paused already, it is not paused again", { held: 101, paused: ["output"] }, []],
  ["it is paused beside an operator's pause", { held: 101, paused: ["operator"] }, ["pause output"]],
  ["with more than half to read it stands still", { held: 51, paused: ["output"] }, []],
  ["with half to read it goes on", { held: 50, paused: ["output"] }, ["unpause output"]],
  ["an operator's pause is nobody else's", { held: 0, paused: ["operator"] }, []],
  ["of two reasons its own is lifted", { held: 0, paused: ["operator", "output"] }, ["unpause output"]],
  ["what never goes is not waited for", { held: 101, stays: 101 }, ["limit output"]],
  [
    "nor is it, of one that is paused",
    { held: 101, stays: 101, paused: ["output", "disk"] },
    ["limit output"],
  ],
  ["what stays does not count in the half that is read", { held: 81, stays: 60, paused: ["output"] }, []],
  [
    "so that one beside it goes on all the same",
    { held: 80, stays: 60, paused: ["output"] },
    ["unpause output"],
  ],
  ["of a full disk nothing is done", { over: "fail", low: true }, []],
  ["a full disk pauses where that is asked for", { low: true }, ["pause disk"]],
  ["once", { low: true, paused: ["disk"] }, []],
  ["and with room it goes on", { paused: ["disk"] }, ["unpause disk"]],
  ["both at once", { held: 101, low: true }, ["pause output", "pause disk"]],
  ["each by itself", { held: 0, low: true, paused: ["output", "disk"] }, ["unpause output"]],
  ["without a quota nothing is too much", { held: 10_000, stays: 10_000, quota: 0 }, []],
])("%s", (_what, world, words) => {
  expect(decided(world)).toEqual(words);
});

test("a pause says what it is for, and of which process", () => {
  const at = { low: true, floor_bytes: 256 * 1024 ** 2 };
  const spec = { output_quota_bytes: 1024 ** 3, on_output_quota: "pause", grace_ms: 1 } as const;
  expect(decideOutput(spec, [], { held: 2 * 1024 ** 3, stays: 0 }, at, [7])).toEqual([
    {
      type: "pause",
      reason: "output",
      detail: "more than 1GB of its output waits to be read",
      pids: [7],
    },
    {
      type: "pause",
      reason: "disk",
      detail: "less than 256MB are free on the disk of the state directory",
      pids: [7],
    },
  ]);
});
