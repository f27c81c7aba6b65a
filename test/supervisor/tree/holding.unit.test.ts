/** The work of a tree that a full disk does not put off. */
import { describe, expect, it } from "vitest";
import { mayHoldTree } from "../../../src/supervisor/tree/holding.ts";
import type { TreeCommand, TreeInput } from "../../../src/supervisor/tree/inputs.ts";
import type { TreeState } from "../../../src/supervisor/tree/state.ts";

const tree = {
  members: new Map([["w", { child: { stop: null } }]]),
} as unknown as Pick<TreeState, "members">;
const START: TreeCommand = { type: "start", worker_id: "w" };
const asked = (what: "kill" | "down" | "restart") =>
  ({ type: "ask", what, supervisor: "t", by: "user", reason: "" }) as const;
const ofWorker = (type: "kill" | "restart" | "exited", worker_id = "w") =>
  ({ type: "worker", worker_id, input: { type } }) as unknown as TreeInput;

describe("a decision about a tree is held on a full disk", () => {
  it.each<readonly [string, TreeInput, readonly TreeCommand[], boolean]>([
    ["a kill", asked("kill"), [], true],
    ["a down", asked("down"), [], true],
    ["a restart by name", asked("restart"), [], false],
    ["a plan that stops", { type: "plan" }, [{ type: "wake", at_ms: 1 }], true],
    ["a plan that starts", { type: "plan" }, [START], false],
    ["a kill of one worker", ofWorker("kill"), [], true],
    ["a restart of one worker", ofWorker("restart"), [], false],
    ["an end that nobody asked for", ofWorker("exited"), [], false],
    ["what is told of a worker that is not there", ofWorker("kill", "other"), [], false],
  ])("%s", (_, input, commands, holds) => {
    expect(mayHoldTree(tree, input, commands)).toBe(holds);
  });
});
