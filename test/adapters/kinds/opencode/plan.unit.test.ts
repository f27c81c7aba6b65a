/** How OpenCode is started. */
import { expect, test } from "vitest";
import { opencode } from "../../../../src/adapters/kinds/opencode/index.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../../../src/protocol/worker.ts";

const specOf = (fields: Partial<WorkerSpecInput> = {}) =>
  WorkerSpec.parse({ kind: "opencode", prompt: "Fix it.", cwd: "/", restart: "transient", ...fields });
const planOf = (fields: Partial<WorkerSpecInput> = {}, session?: string) =>
  opencode.plan({ spec: specOf(fields), worker_id: "W", incarnation: 1, session, binary: "opencode" });
const flagsOf = (...given: Parameters<typeof planOf>) => planOf(...given).argv.slice(7);

test("it runs headless with JSON lines, may not write or run anything, and takes the prompt from a stdin that ends", () => {
  expect(planOf()).toEqual({
    argv: ["opencode", "run", "--format", "json", "--thinking", "--title", "worker W"],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: "true",
      OPENCODE_DISABLE_PROJECT_CONFIG: "true",
      OPENCODE_PERMISSION: '{"edit":"deny","bash":"deny"}',
    },
    stdin: { kind: "text", text: "Fix it." },
  });
});

test("permission allow leaves its configuration as it is, and answers for whom it would have asked", () => {
  const plan = planOf({ permission: "allow" });
  expect(plan.env).toEqual({ OPENCODE_DISABLE_AUTOUPDATE: "true" });
  expect(plan.argv.at(-1)).toBe("--auto");
});

test("the title of its session is the worker's name", () => {
  expect(planOf({ name: "fixer" }).argv.slice(5, 7)).toEqual(["--title", "fixer"]);
});

test("a known session is resumed, before one that was asked for, and never forked again", () => {
  expect(flagsOf({ session: "asked" })).toEqual(["--session", "asked"]);
  expect(flagsOf({ session: "asked", fork: true })).toEqual(["--session", "asked", "--fork"]);
  expect(flagsOf({ session: "asked", fork: true }, "known")).toEqual(["--session", "known"]);
  expect(flagsOf({ ext: { "agent_api.session.fork.v1": { selector: "last" } } })).toEqual([
    "--continue",
    "--fork",
  ]);
});

test("model and extra arguments are passed on", () => {
  expect(flagsOf({ model: "anthropic/x", argv: ["--variant", "high"] })).toEqual([
    "--model",
    "anthropic/x",
    "--variant",
    "high",
  ]);
});

test("a flag for something that it cannot do is a mistake with a next step", () => {
  expect(opencode.validate(specOf({ permission: "ask" }))[0]).toMatch(/cannot ask for permission/);
  expect(opencode.validate(specOf({ interactive: true }))[0]).toMatch(/takes no --interactive/);
});
