/** How Claude Code is started. */
import { describe, expect, test } from "vitest";
import { claudeCode } from "../../../../src/adapters/kinds/claude-code/index.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../../../src/protocol/worker.ts";

const specOf = (fields: Partial<WorkerSpecInput> = {}) =>
  WorkerSpec.parse({ kind: "claude_code", prompt: "Fix it.", cwd: "/", restart: "transient", ...fields });
const planOf = (fields: Partial<WorkerSpecInput> = {}, session?: string) =>
  claudeCode.plan({ spec: specOf(fields), worker_id: "W", incarnation: 1, session, binary: "claude" });
const flagsOf = (fields: Partial<WorkerSpecInput> = {}, session?: string) =>
  planOf(fields, session).argv.slice(5).join(" ");

test("it runs headless with stream-json, and the prompt is on a stdin that ends", () => {
  expect(planOf()).toEqual({
    argv: ["claude", "-p", "--output-format", "stream-json", "--verbose"],
    env: {
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "10",
    },
    stdin: { kind: "text", text: "Fix it." },
  });
});

test.each<[Partial<WorkerSpecInput>, string]>([
  [{ model: "m" }, "--model m"],
  [{ ext: { "agent_api.config.model.v1": " m " } }, "--model m"],
  [{ session: "s" }, "--resume s"],
  [{ session: "s", fork: true }, "--resume s --fork-session"],
  [{ ext: { "agent_api.session.resume.v1": { selector: "last" } } }, "--continue"],
  [{ ext: { "agent_api.session.fork.v1": { selector: "id", id: "s" } } }, "--resume s --fork-session"],
  [{ permission: "deny" }, ""],
  [{ permission: "allow" }, "--permission-mode bypassPermissions"],
  [{ budget: { turns: 7, usd: 1.5 } }, "--max-turns 7 --max-budget-usd 1.5"],
  [{ interactive: true, budget: { turns: 7 } }, "--input-format stream-json --replay-user-messages"],
  [{ argv: ["--allowedTools", "Bash"] }, "--allowedTools Bash"],
])("%o becomes `%s`", (fields, flags) => {
  expect(claudeCode.validate(specOf(fields))).toEqual([]);
  expect(flagsOf(fields)).toBe(flags);
});

test("it is told that it is in a sandbox where it is in ours: as root it runs without permission checks only so", () => {
  expect(planOf({ sandbox: { writable: [] } }).env).toEqual({ ...planOf().env, IS_SANDBOX: "1" });
});

test("a conversation has an open stdin, to which its prompt comes as a message, if it has one", () => {
  expect(planOf({ interactive: true }).stdin).toEqual({ kind: "open", text: "" });
  expect(claudeCode.validate(specOf({ interactive: true, prompt: undefined }))).toEqual([]);
});

test("a later incarnation goes on in the session that is known, and never forks again", () => {
  expect(flagsOf({ session: "s", fork: true }, "forked")).toBe("--resume forked");
});

describe("mistakes are told before anything starts", () => {
  test.each<[string, Partial<WorkerSpecInput>, RegExp]>([
    ["no prompt", { prompt: undefined }, /prompt must not be empty/],
    ["a blank prompt", { prompt: " \n" }, /prompt must not be empty/],
    ["a blank prompt of a conversation", { prompt: " ", interactive: true }, /prompt must not be empty/],
    ["a fork of nothing", { fork: true }, /nothing to fork/],
    ["a session that is a flag", { session: "--help" }, /does not begin with a dash/],
    [
      "an extension key of another kind",
      { ext: { "backend.codex.exec.sandbox_mode": "x" } },
      /not supported by kind claude_code/,
    ],
    [
      "a bad value of a key",
      { ext: { "agent_api.config.model.v1": "" } },
      /^invalid agent_api.config.model.v1$/,
    ],
    [
      "two sessions",
      { session: "s", ext: { "agent_api.session.resume.v1": { selector: "last" } } },
      /given twice/,
    ],
  ])("%s", (_name, fields, sentence) => {
    const problems = claudeCode.validate(specOf(fields));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(sentence);
  });

  test("all of them at once", () => {
    expect(claudeCode.validate(specOf({ prompt: "", model: "-m", session: "-s" }))).toHaveLength(3);
  });
});
