/** Any program: its lines are text, its exit is the outcome. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Line } from "../../../../src/adapters/adapter.ts";
import { command } from "../../../../src/adapters/kinds/command/index.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../../../src/protocol/worker.ts";
import { exit, linesOf, openingOf, run } from "../../conformance/support.ts";

const specOf = (fields: Partial<WorkerSpecInput> = {}) =>
  WorkerSpec.parse({ kind: "command", argv: ["sh", "-c", "x"], cwd: "/", restart: "temporary", ...fields });
const stdinOf = (fields: Partial<WorkerSpecInput>) =>
  command.plan({ spec: specOf(fields), worker_id: "W", incarnation: 1, session: undefined, binary: "" })
    .stdin;
const ended = (facts: Parameters<typeof exit>[0]) => run(command, "", exit({ program: "sh", ...facts }));

test("the texts of all events in order are what was printed", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.array(fc.constantFrom("\n", "\r\n", "\n\n", "", "\u2028")),
      (word, ends) => {
        const printed = ends.map((end) => word + end).join("");
        const { events } = run(command, printed);
        expect(events.map(({ text }) => text).join("")).toBe(printed.toWellFormed());
      },
    ),
  );
});

test("a stream is a channel", () => {
  const [line] = linesOf("oops\n");
  const { records } = command.decode(command.initial(openingOf(command.kind)), line!, "stderr");
  expect(records).toEqual([
    {
      type: "agent.event",
      payload: { agent_kind: "command", kind: "TextOutput", channel: "stderr", text: "oops\n" },
    },
  ]);
});

test("a line over the limit has no event here: it has a record of its own", () => {
  const line: Line = { kind: "truncated", limit_bytes: 1_048_576 };
  expect(command.decode(command.initial(openingOf(command.kind)), line, "stdout").records).toEqual([]);
});

test.each([
  [{ code: 3 }, "AGENT_FAILED", "`sh` exited with code 3."],
  [{ code: 137, signal: "SIGKILL" }, "AGENT_FAILED", "`sh` was ended by SIGKILL."],
  [
    { code: 143, signal: "SIGTERM", signals_sent: ["SIGTERM"] },
    "AGENT_FAILED",
    "`sh` was stopped with SIGTERM.",
  ],
  [{ code: 0, signals_sent: ["SIGTERM", "SIGKILL"] }, "AGENT_FAILED", "`sh` was stopped with SIGKILL."],
  [{ code: null }, "WORKER_LOST", "`sh` ended, and nobody saw how."],
  [{ code: 1, program: undefined }, "AGENT_FAILED", "The program exited with code 1."],
])("an exit of %o fails with %s: %s", (facts, code, message) => {
  expect(ended(facts).outcome).toMatchObject({ status: "failed", error: { code, message } });
});

test("exit code 0 completes, also after a signal that asks for no end", () => {
  expect(ended({ code: 0 }).outcome).toEqual({
    status: "completed",
    completion: { status: { code: 0, signal: null } },
  });
  expect(ended({ code: 0, signals_sent: ["SIGCONT", "SIGUSR1"] }).outcome.status).toBe("completed");
});

test("a prompt is given on stdin; interactive keeps it open; else stdin is empty", () => {
  expect(stdinOf({ prompt: "2+2\n" })).toEqual({ kind: "text", text: "2+2\n" });
  expect(stdinOf({ prompt: "hi\n", interactive: true })).toEqual({ kind: "open", text: "hi\n" });
  expect(stdinOf({ interactive: true })).toEqual({ kind: "open", text: "" });
  expect(stdinOf({})).toEqual({ kind: "empty" });
});

test.each<[string, Partial<WorkerSpecInput>, RegExp]>([
  ["no program", { argv: [] }, /needs a program/],
  ["an argument over the kernel's limit", { argv: ["x", "y".repeat(131_072)] }, /exceeds 131071 bytes/],
  ["a NUL in an argument", { argv: ["x", "a\0b"] }, /NUL/],
  ["a model", { model: "m" }, /no model/],
  ["a session", { session: "s" }, /no session/],
  ["a budget of turns", { budget: { turns: 1 } }, /only --budget wall/],
])("%s is a mistake that is told before anything starts", (_name, fields, sentence) => {
  const problems = command.validate(specOf(fields));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(sentence);
});
