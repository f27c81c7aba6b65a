/** Kind `weblisk`: the same task for each incarnation, and the lines of its client. */
import { expect, it, test } from "vitest";
import { webliskOn } from "../../../../src/adapters/kinds/weblisk/index.ts";
import { idTime, newId } from "../../../../src/protocol/ids.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../../../src/protocol/worker.ts";
import { exit, run } from "../../conformance/support.ts";

const kind = webliskOn("/state");
const specOf = (fields: Partial<WorkerSpecInput> = {}) =>
  WorkerSpec.parse({
    kind: "weblisk",
    prompt: "hello",
    argv: ["http://127.0.0.1:9800/", "reviewer"],
    cwd: "/",
    restart: "transient",
    ...fields,
  });
const openingOf = (worker_id: string, incarnation: number, fields: Partial<WorkerSpecInput> = {}) => {
  const context = { spec: specOf(fields), worker_id, incarnation, session: undefined, binary: "" };
  const { stdin, env } = kind.plan(context);
  expect(stdin).toEqual({ kind: "text", text: "hello" });
  return JSON.parse(env.HOLDFAST_REMOTE_TASK!);
};

it("the task follows from the worker alone, so each incarnation gives the same one", () => {
  const id = newId();
  const first = openingOf(id, 1);
  expect(openingOf(id, 2)).toEqual(first);
  expect(first).toEqual({
    state_dir: "/state",
    place: { url: "http://127.0.0.1:9800", isPrivateAllowed: true },
    order: {
      task_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      agent: "reviewer",
      inputs: {},
      priority: "normal",
      deadline: Math.floor(idTime(id) / 1_000) + 86_400,
      trace_id: first.order.task_id,
    },
  });
});

it("takes the worker's deadline, trace and keys; a name may lead nowhere private", () => {
  const trace = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` };
  const { place, order } = openingOf(newId(), 1, {
    argv: ["https://shop.example/weblisk", "reviewer"],
    deadline_at: "2030-01-01T00:00:00Z",
    trace,
    ext: {
      "backend.weblisk.as.v1": "ci",
      "backend.weblisk.inputs.v1": { language: "de" },
      "backend.weblisk.workspace.v1": "/srv/shop",
    },
  });
  expect(place).toEqual({ url: "https://shop.example/weblisk", as: "ci", isPrivateAllowed: false });
  expect(order).toMatchObject({
    inputs: { language: "de" },
    deadline: 1_893_456_000,
    trace_id: "a".repeat(32),
    workspace_root: "/srv/shop",
  });
});

test.each<readonly [string, Partial<WorkerSpecInput>, RegExp]>([
  ["no address", { argv: [] }, /needs an orchestrator's address/],
  ["another scheme", { argv: ["ftp://x", "reviewer"] }, /begins with http/],
  ["a query", { argv: ["http://x?y", "reviewer"] }, /has no query/],
  ["no name", { argv: ["http://x", "No Name"] }, /name of an agent/],
  ["no prompt", { prompt: " " }, /prompt must not be empty/],
  ["a sandbox", { sandbox: {} }, /takes no sandbox/],
  ["questions", { permission: "ask" }, /asks for no permission/],
  ["a run for ever", { restart: "permanent" }, /done once/],
  [
    "a value of another form",
    { ext: { "backend.weblisk.as.v1": "A B" } },
    /invalid backend\.weblisk\.as\.v1/,
  ],
])("refuses %s", (_what, fields, why) => {
  expect(kind.validate(specOf(fields)).join(" ")).toMatch(why);
});

const lines = (...all: readonly object[]): string => all.map((line) => `${JSON.stringify(line)}\n`).join("");
const GIVEN = { type: "given", task_id: "a".repeat(32) };
const END = { type: "end", error: null, text: "bonjour", duration_ms: 5, changes: 1, observations: 0 };

it("an end without an error is a completed turn with its text", () => {
  const { events, outcome } = run(
    kind,
    lines(GIVEN, { type: "waits", for: "approval" }, END),
    exit({ code: 0 }),
  );
  expect(outcome).toMatchObject({ status: "completed", completion: { final_text: "bonjour" } });
  expect(events.map(({ kind: of, text, message }) => text ?? message ?? of)).toEqual([
    "The orchestrator has the task.",
    "The agent waits for an approval of a person there.",
    "bonjour",
    "The result also has lists, which stay in the raw output.",
  ]);
});

it("an error is the failure, and no end at all is one too", () => {
  const error = { code: "TASK_FAILED", message: "The agent reviewer failed." };
  expect(run(kind, lines(GIVEN, { ...END, error }), exit({ code: 0 })).outcome).toMatchObject({
    status: "failed",
    error,
  });
  expect(run(kind, lines(GIVEN), exit({ code: 0 })).outcome).toMatchObject({
    status: "failed",
    error: { code: "NO_TERMINAL_EVENT" },
  });
});
