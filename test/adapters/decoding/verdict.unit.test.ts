/** A conversation that ends between two turns, by each kind that holds one. */
import { describe, expect, test } from "vitest";
import type { AgentAdapter, ExitFacts } from "../../../src/adapters/adapter.ts";
import { acp } from "../../../src/adapters/kinds/acp/index.ts";
import { claudeCode } from "../../../src/adapters/kinds/claude-code/index.ts";
import { codex } from "../../../src/adapters/kinds/codex/index.ts";
import { openingOf } from "../conformance/support.ts";
import * as anAcp from "../kinds/acp/support.ts";
import * as aCodex from "../kinds/codex/app-server/support.ts";

const talk = (interactive: boolean) => ({ interactive, permission: interactive ? "deny" : "ask" }) as const;

const foldClaude = (interactive: boolean, result: object) => {
  const lines = [
    { type: "system", subtype: "init" },
    { type: "result", ...result },
  ];
  return lines.reduce<ReturnType<typeof claudeCode.initial>>(
    (state, line) =>
      claudeCode.decode(state, { kind: "text", text: JSON.stringify(line), end: "\n" }, "stdout").state,
    claudeCode.initial(openingOf("claude_code", talk(interactive))),
  );
};

/** After one turn, which went well or failed for want of a key. */
const KINDS: Readonly<
  Record<string, { adapter: AgentAdapter; state(is: boolean, failed: boolean): unknown }>
> = {
  claude_code: {
    adapter: claudeCode as AgentAdapter,
    state: (is, failed) =>
      foldClaude(
        is,
        failed
          ? { subtype: "success", is_error: true, api_error_status: 401 }
          : { subtype: "success", is_error: false, result: "Done." },
      ),
  },
  codex: {
    adapter: codex as AgentAdapter,
    state: (is, failed) => {
      const { item, turnOver, given, fold } = aCodex;
      const error = { codexErrorInfo: "unauthorized", message: "" };
      const over = failed ? turnOver("failed", { error }) : turnOver("completed");
      return fold([item("completed", "agentMessage", { text: "Done." }), over], given(talk(is))).state;
    },
  },
  acp: {
    adapter: acp as AgentAdapter,
    state: (is, failed) => {
      const { chunk, answered, prompted, fold, failed: refused } = anAcp;
      const over = failed ? refused({ code: 401, message: "" }) : answered();
      return fold([chunk("Done."), over], prompted(talk(is))).state;
    },
  },
};

const exitOf = (code: number | null, signal: string | null, more: Partial<ExitFacts> = {}): ExitFacts => ({
  status: { code, signal },
  signals_sent: [],
  stderr_tail: "",
  program: "agent",
  ...more,
});
const KILLED = exitOf(137, "SIGKILL");

describe.each(Object.entries(KINDS))("%s", (_, { adapter, state }) => {
  const outcomeOf = (interactive: boolean, failed: boolean, exit: ExitFacts) =>
    adapter.finish(state(interactive, failed), exit).outcome;

  test.each([
    ["SIGKILL", KILLED, "`agent` was ended by SIGKILL."],
    ["SIGSEGV", exitOf(139, "SIGSEGV"), "`agent` was ended by SIGSEGV."],
    ["exit 1", exitOf(1, null), "`agent` exited with code 1."],
    ["exit 0", exitOf(0, null), "`agent` exited between two turns although its input was open."],
    ["nobody knows", exitOf(null, null), "`agent` ended, and nobody saw how."],
  ])("%s between two turns of a conversation is a failure", (_how, exit, message) => {
    const outcome = outcomeOf(true, false, exit);
    expect(outcome).toMatchObject({ status: "failed", error: { message } });
    expect(outcome.completion.final_text).toBe("Done.");
  });

  test("after the end of its input, however it exits, it has done its work", () => {
    for (const exit of [exitOf(0, null), exitOf(1, null), KILLED])
      expect(outcomeOf(true, false, { ...exit, input_ended: true }).status).toBe("completed");
  });

  test("one prompt that was answered is done, also where its agent is killed then", () => {
    expect(outcomeOf(false, false, KILLED).status).toBe("completed");
  });

  test("a turn that failed may be why it exited; a signal is not of it", () => {
    expect(outcomeOf(true, true, exitOf(1, null)).error?.code).toBe("TOKEN_INVALID");
    expect(outcomeOf(true, true, exitOf(0, null)).error?.code).toBe("TOKEN_INVALID");
    expect(outcomeOf(true, true, KILLED).error?.code).toBe("AGENT_FAILED");
  });
});
