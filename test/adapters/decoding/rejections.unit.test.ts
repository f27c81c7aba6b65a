/** Requests that a CLI refuses when it runs: in the words of the agent-event notes, A.5, and in none of its own. */
import { describe, expect, it } from "vitest";
import type { AgentAdapter, ExitFacts } from "../../../src/adapters/adapter.ts";
import { claudeCode } from "../../../src/adapters/kinds/claude-code/index.ts";
import { turnError } from "../../../src/adapters/kinds/codex/app-server/errors.ts";
import { codex } from "../../../src/adapters/kinds/codex/index.ts";
import { geminiCli } from "../../../src/adapters/kinds/gemini-cli/index.ts";
import { openingOf } from "../conformance/support.ts";

const refusedWith = (adapter: unknown, stderr_tail: string) => {
  const { kind, initial, finish } = adapter as AgentAdapter;
  const exit: ExitFacts = { status: { code: 1, signal: null }, signals_sent: [], stderr_tail, program: kind };
  const { outcome, records } = finish(initial(openingOf(kind)), exit);
  const told = records.flatMap((record) => (record.type === "agent.event" ? [record.payload.message] : []));
  expect(told).toEqual([outcome.error?.message]);
  return outcome.error;
};

const CLAP = "\n\nUsage: codex exec [OPTIONS] [PROMPT]\n\nFor more information, try '--help'.\n";
const UNCONFINED = "external_sandbox (or permission allow) rejected by runtime";

describe("a flag that the CLI does not take", () => {
  it.each([
    ["claude", claudeCode, "error: unknown option '--add-dir'\n", "add_dirs rejected by runtime"],
    ["codex", codex, `error: unexpected argument '--add-dir' found${CLAP}`, "add_dirs rejected by runtime"],
    [
      "claude's model",
      claudeCode,
      "error: unknown option '--model'\n",
      "claude_code backend error: model rejected by runtime (details redacted)",
    ],
    [
      "codex's model",
      codex,
      `error: invalid value 'x' for '--model <MODEL>'${CLAP}`,
      "codex backend error: model rejected by runtime (details redacted)",
    ],
    [
      "gemini",
      geminiCli,
      "Unknown arguments: include-directories, includeDirectories\nUsage: gemini [options] [command]\n",
      "add_dirs rejected by runtime",
    ],
    [
      "gemini's model",
      geminiCli,
      "Unknown arguments: model, m\nUsage: gemini [options] [command]\n",
      "gemini_cli backend error: model rejected by runtime (details redacted)",
    ],
    [
      "claude's mode",
      claudeCode,
      "error: option '--permission-mode <mode>' argument 'bypassPermissions' is invalid. Allowed choices are plan.\n",
      UNCONFINED,
    ],
    [
      "codex's bypass",
      codex,
      `error: unexpected argument '--dangerously-bypass-approvals-and-sandbox' found${CLAP}`,
      UNCONFINED,
    ],
  ])("of ours is told by what it stands for: %s", (_, adapter, stderr, message) => {
    expect(refusedWith(adapter, stderr)).toEqual({ code: "INVALID_REQUEST", message });
  });

  it.each([
    ["a flag of the user's own", "error: unknown option '--no-such-flag'\n"],
    ["a flag that begins like one of ours", "error: unknown option '--model-secret'\n"],
    ["a value of it", "error: option '--effort <x>' argument '--add-dir' is invalid.\n"],
  ])("else it is its arguments that were refused: %s", (_, stderr) => {
    expect(refusedWith(claudeCode, stderr)).toEqual({
      code: "INVALID_REQUEST",
      message: "The agent's CLI did not accept its arguments.",
    });
  });
});

describe("a model that is refused by the provider", () => {
  const message = (kind: string) => `${kind} backend error: model rejected by runtime (details redacted)`;

  it("is told so of claude, whose result says it in words beside the status", () => {
    const said =
      "There's an issue with the selected model (opus-9). It may not exist or you may not have access to it.";
    const result = {
      type: "result",
      subtype: "success",
      is_error: true,
      api_error_status: 404,
      result: said,
    };
    const line = { kind: "text", text: JSON.stringify(result), end: "\n" } as const;
    const { state, records } = claudeCode.decode(
      claudeCode.initial(openingOf("claude_code")),
      line,
      "stdout",
    );
    expect(JSON.stringify(records)).not.toContain("opus-9");
    const exit = { status: { code: 1, signal: null }, signals_sent: [], stderr_tail: "", program: "claude" };
    expect(claudeCode.finish(state, exit).outcome.error).toEqual({
      code: "PROVIDER_BAD_REQUEST",
      message: message("claude_code"),
    });
  });

  it("is told so of codex, which names it", () => {
    expect(turnError({ message: "no", codexErrorInfo: "modelNotFound" })).toEqual({
      code: "PROVIDER_BAD_REQUEST",
      message: message("codex"),
    });
  });
});
