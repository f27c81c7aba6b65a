import { describe, expect, test } from "vitest";
import { acp } from "../../../../src/adapters/kinds/acp/index.ts";
import type { JsonValue } from "../../../../src/protocol/records.ts";
import { exit } from "../../conformance/support.ts";
import * as an from "./support.ts";
import { eventsOf, fold, ofType, repliesOf, wordsOf } from "./support.ts";

describe("a session is opened", () => {
  test("by the answer to initialize, in the directory of the spec", () => {
    const { records, state } = fold([an.initialized({ agentInfo: { name: "gemini-cli" } })]);
    expect(repliesOf(records)).toEqual([
      {
        jsonrpc: "2.0",
        id: "holdfast:session",
        method: "session/new",
        params: { cwd: "/work", mcpServers: [] },
      },
    ]);
    expect(acp.messages!.frame(an.MESSAGE, "hi", state)).toBeUndefined();
    const next = fold([an.created()], state);
    expect(next.records.map(({ type }) => type)).toEqual(["session_started", "agent.event"]);
    expect(acp.messages!.frame(an.MESSAGE, "hi\n", next.state)).toBe(
      `{"jsonrpc":"2.0","id":"mark:${an.MESSAGE}","method":"_holdfast/message","params":{}}\n` +
        `{"jsonrpc":"2.0","id":"prompt:${an.MESSAGE}","method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hi"}]}}\n`,
    );
  });

  test("of the incarnation before, and what is replayed of it is not told again", () => {
    const first = fold([an.initialized()], acp.initial(an.opening({ session: "s1" })));
    expect(repliesOf(first.records)).toMatchObject([
      { method: "session/load", params: { sessionId: "s1", cwd: "/work" } },
    ]);
    const replay = [
      an.update("user_message_chunk", { content: { type: "text", text: "before" } }),
      an.chunk("an answer of before"),
      an.update("tool_call", { toolCallId: "c", status: "completed" }),
      an.update("usage_update", { used: 5, size: 10, cost: { amount: 2, currency: "USD" } }),
    ];
    const { records, state } = fold([...replay, { id: "holdfast:session", result: {} }], first.state);
    expect(wordsOf(records)).toEqual(["Status: The agent loaded its session."]);
    // Its cost before is not counted again.
    const cost = an.update("usage_update", { used: 6, size: 10, cost: { amount: 2.5, currency: "USD" } });
    const turn = fold([an.marked(), cost, an.answered()], state);
    expect(ofType(turn.records, "turn_completed")[0]?.payload.usage.cost_usd).toBe(0.5);
  });

  test("of the incarnation before by session/resume, if the agent offers that alone", () => {
    const able = an.initialized({ agentCapabilities: { sessionCapabilities: { resume: {} } } });
    const first = fold([able], acp.initial(an.opening({ session: "s1" })));
    expect(repliesOf(first.records)).toMatchObject([
      { method: "session/resume", params: { sessionId: "s1", cwd: "/work" } },
    ]);
    const { records } = fold([{ id: "holdfast:session", result: {} }], first.state);
    expect(wordsOf(records)).toEqual(["Status: The agent loaded its session."]);
  });

  test.each([
    ["cannot load sessions", an.initialized({ agentCapabilities: {} }), "The agent cannot load"],
    [
      "does not know it any more",
      an.initialized(),
      "The session of the previous incarnation",
      { id: "holdfast:session", error: { code: -32_603, message: "Internal error" } },
    ],
  ])("anew, and says so, where an agent %s", (_, first, said, ...rest) => {
    const { records } = fold([first, ...rest], acp.initial(an.opening({ session: "s1" })));
    expect(repliesOf(records).at(-1)).toMatchObject({ method: "session/new" });
    expect(wordsOf(records).join()).toContain(said);
  });

  test.each([
    ["an agent that cannot load sessions", [an.initialized({ agentCapabilities: {} })], "SESSION_NOT_FOUND"],
    [
      "an agent that does not know it",
      [an.initialized(), { id: "holdfast:session", error: { code: -32_002, message: "no" } }],
      "SESSION_NOT_FOUND",
    ],
    [
      "an agent that wants a login first",
      [an.initialized(), { id: "holdfast:session", error: { code: -32_000, message: "no" } }],
      "TOKEN_MISSING",
    ],
    ["another version of the protocol", [an.initialized({ protocolVersion: 2 })], "AGENT_FAILED"],
    ["an initialize that fails", [{ id: "holdfast:initialize", error: { code: 500 } }], "PROVIDER_ERROR"],
  ])("not with %s, where one was asked for: that is its end", (_, lines, code) => {
    const { records, state } = fold(lines, acp.initial(an.opening({}, { session: "s9" })));
    expect(repliesOf(records).at(-1)).toBe("end");
    expect(acp.messages!.frame(an.MESSAGE, "hi", state)).toBeUndefined();
    const { outcome } = acp.finish(state, exit());
    expect(outcome).toMatchObject({ status: "failed", error: { code } });
    expect(eventsOf(records).filter(({ kind }) => kind === "Error")).toHaveLength(1);
  });

  test("and an id of a session that nobody could say is none", () => {
    for (const sessionId of [undefined, "", " ", "\u0001".repeat(9), "s".repeat(2_000)]) {
      const { state } = fold([an.initialized(), an.created({ sessionId })]);
      expect(state.refused?.code).toBe("AGENT_FAILED");
    }
  });
});

describe("of an agent that acts unasked, the mode in which it does not is chosen", () => {
  const CODEX = an.initialized({ agentInfo: { name: "@agentclientprotocol/codex-acp" } });
  const modes = (currentModeId: string, ...ids: string[]) => ({
    modes: { currentModeId, availableModes: ids.map((id) => ({ id, name: id })) },
  });
  const BOTH = modes("agent", "read-only", "agent");
  const opened = (spec: object, result: object, ...more: object[]) =>
    fold([CODEX, an.created(result), ...more], acp.initial(an.opening({}, spec)));
  const CHOSEN = { id: "holdfast:mode", result: {} };

  test.each([
    ["deny", { permission: "deny" }],
    ["ask", { permission: "ask" }],
    ["a rule", { permission: "allow", permission_rules: [{ action: "deny", tool: "shell" }] }],
  ])("for %s, before the first prompt", (_what, spec) => {
    const { records, state } = opened(spec, BOTH);
    expect(repliesOf(records).at(-1)).toMatchObject({
      method: "session/set_mode",
      params: { sessionId: "s1", modeId: "read-only" },
    });
    expect(acp.messages?.frame(an.MESSAGE, "hi", state)).toBeUndefined();
    expect(acp.messages?.frame(an.MESSAGE, "hi", opened(spec, BOTH, CHOSEN).state)).toContain(
      "session/prompt",
    );
  });

  test("also of a session that is loaded", () => {
    const from = acp.initial(an.opening({ session: "s1" }, { permission: "deny" }));
    const { records } = fold([CODEX, { id: "holdfast:session", result: BOTH }], from);
    expect(repliesOf(records).at(-1)).toMatchObject({ method: "session/set_mode" });
  });

  test("not where everything is allowed, nor where it is in that mode, nor of another agent", () => {
    expect(opened({ permission: "allow" }, BOTH).state.handshake).toBeNull();
    expect(opened({ permission: "deny" }, modes("read-only", "read-only")).state.handshake).toBeNull();
    const other = fold([an.initialized(), an.created(BOTH)], acp.initial(an.opening()));
    expect(other.state.handshake).toBeNull();
  });

  test("of Kimi Code also where it says that it is in that mode, because its settings may say otherwise", () => {
    const kimi = [
      an.initialized({ agentInfo: { name: "Kimi Code CLI" } }),
      an.created(modes("default", "default")),
    ];
    const { records } = fold(kimi, acp.initial(an.opening()));
    expect(repliesOf(records).at(-1)).toMatchObject({
      method: "session/set_mode",
      params: { modeId: "default" },
    });
  });

  test("it is refused where it has none, or does not take it", () => {
    for (const { state, records } of [
      opened({ permission: "deny" }, {}),
      opened({ permission: "deny" }, modes("agent", "agent")),
      opened({ permission: "deny" }, BOTH, { id: "holdfast:mode", error: { code: -32_602, message: "no" } }),
    ]) {
      expect(state.refused?.code).toBe("PERMISSION_DENIED");
      expect(repliesOf(records).at(-1)).toBe("end");
    }
  });

  test("and then the model", () => {
    const spec = { permission: "deny", model: "fancy" };
    const result = { ...BOTH, models: { currentModelId: "plain" } };
    const { records, state } = opened(spec, result, CHOSEN);
    expect(repliesOf(records).at(-1)).toMatchObject({
      method: "session/set_model",
      params: { modelId: "fancy" },
    });
    expect(state.handshake?.step).toBe("model");
  });
});

test("opencode asks, whatever its configuration says, unless everything is allowed", () => {
  const envOf = (spec: object) => {
    const ext = { "backend.acp.agent.v1": "opencode" };
    return acp.plan({ ...an.opening({}, { ext, ...spec }), worker_id: "w", binary: "" }).env;
  };
  expect(JSON.parse(envOf({ permission: "deny" }).OPENCODE_PERMISSION!)).toEqual({
    edit: "ask",
    bash: "ask",
  });
  expect(envOf({ permission: "ask" })).toHaveProperty("OPENCODE_DISABLE_PROJECT_CONFIG");
  expect(envOf({ permission: "allow" })).not.toHaveProperty("OPENCODE_PERMISSION");
});

describe("a model is chosen", () => {
  const asked = (result: object, model = "fancy") =>
    fold([an.initialized(), an.created(result)], acp.initial(an.opening({}, { model })));
  const option = { id: "the-model", category: "model", type: "select", currentValue: "plain", options: [] };

  test("as an option of the session, or by set_model, before the first prompt", () => {
    const { records, state } = asked({ configOptions: [{ id: "mode", category: "mode" }, option] });
    expect(repliesOf(records).at(-1)).toMatchObject({
      method: "session/set_config_option",
      params: { sessionId: "s1", configId: "the-model", value: "fancy" },
    });
    expect(acp.messages!.frame(an.MESSAGE, "hi", state)).toBeUndefined();
    const { state: open, records: told } = fold(
      [{ id: "holdfast:model", result: { configOptions: [] } }],
      state,
    );
    // A waiter for this moment hears of it.
    expect(told).toHaveLength(1);
    expect(acp.messages!.frame(an.MESSAGE, "hi", open)).toBeDefined();
    expect(repliesOf(asked({ models: { currentModelId: "plain" } }).records).at(-1)).toMatchObject({
      method: "session/set_model",
      params: { sessionId: "s1", modelId: "fancy" },
    });
  });

  test("not where it is the session's already, or the program's own arguments name it", () => {
    expect(asked({ configOptions: [{ ...option, currentValue: "fancy" }] }).state.handshake).toBeNull();
    const ext = { "backend.acp.agent.v1": "gemini" };
    const gemini = acp.initial(an.opening({}, { model: "fancy", ext }));
    expect(fold([an.initialized(), an.created()], gemini).state.handshake).toBeNull();
  });

  test("and an agent that offers none, or does not take it, ends with a sentence that says so", () => {
    expect(asked({}).state.refused?.message).toContain("offers no choice of model");
    const { state } = asked({ configOptions: [option] });
    const error = { code: -32_602, message: "no such model" };
    expect(fold([{ id: "holdfast:model", error }], state).state.refused).toMatchObject({
      code: "PROVIDER_BAD_REQUEST",
    });
  });
});

describe("a turn", () => {
  test("begins when the agent has read the prompt, is acknowledged by what it does, and ends with its answer", () => {
    const { records, state } = fold([an.marked(), an.chunk("a"), an.chunk("b"), an.answered()], an.opened());
    const told = records.map((record) => (record.type === "agent.event" ? record.payload.text : record.type));
    expect(told).toEqual(["turn_started", "worker_message", "a", "b", "turn_completed", "reply"]);
    expect(ofType(records, "worker_message")[0]?.payload).toEqual({
      message_id: an.MESSAGE,
      state: "acknowledged",
      turn: 1,
    });
    expect(acp.finish(state, exit()).outcome).toMatchObject({
      status: "completed",
      completion: { final_text: "ab" },
    });
  });

  test("of an agent that answers no mark is known by its answer", () => {
    const { records } = fold([an.chunk("unasked"), an.answered()], an.opened());
    expect(records.map(({ type }) => type)).toEqual([
      "agent.event",
      "turn_started",
      "worker_message",
      "turn_completed",
      "reply",
    ]);
  });

  test("of an agent that answers no mark has all that was said since the turn before", () => {
    const finalOf = (...lines: readonly object[]) =>
      acp.finish(fold(lines, an.opened({ interactive: true })).state, exit()).outcome.completion.final_text;
    const first = [an.chunk("one"), an.answered()];
    expect(finalOf(...first)).toBe("one");
    const done = { stopReason: "end_turn" };
    expect(finalOf(...first, an.chunk("two"), an.chunk("!"), an.answered(done, an.OTHER))).toBe("two!");
  });

  test("is not begun by what an agent says unasked, and the next prompt waits for its end", () => {
    const unasked = fold([an.chunk("Warning: something")], an.opened({ interactive: true }));
    expect(unasked.records.map(({ type }) => type)).toEqual(["agent.event"]);
    const inTurn = fold([an.marked()], unasked.state);
    expect(acp.messages!.frame(an.OTHER, "hi", inTurn.state)).toBeUndefined();
    const { state, records } = fold([an.answered()], inTurn.state);
    expect(acp.messages!.frame(an.OTHER, "hi", state)).toBeDefined();
    expect(repliesOf(records)).toEqual([]);
  });

  test("is answered once, whatever comes later", () => {
    const { records, state } = fold(
      [an.answered(), an.marked(), an.answered(), an.answered({ stopReason: "end_turn" }, "nonsense")],
      an.prompted({ interactive: true }),
    );
    expect(ofType(records, "turn_completed")).toHaveLength(1);
    expect(state.given).toBeNull();
  });

  test("its answer is the last message, and the whole of it while there is room", () => {
    const textOf = (...lines: readonly object[]) =>
      acp.finish(fold([...lines, an.answered()], an.prompted()).state, exit()).outcome.completion.final_text;
    const tool = an.update("tool_call", { toolCallId: "c", status: "completed" });
    expect(textOf(an.chunk("before"), tool, an.chunk("af"), an.chunk("ter"))).toBe("after");
    expect(textOf(an.chunk("one", { messageId: "1" }), an.chunk("two", { messageId: "2" }))).toBe("two");
    expect(textOf(an.chunk("said"), tool)).toBe("said");
    const long = textOf(...Array.from({ length: 100 }, () => an.chunk("x".repeat(1_000))));
    expect(long).toMatch(/^x{30000,}…\(truncated\)$/);
    expect(long?.split("truncated")).toHaveLength(2);
  });

  test("tells what it used by model where the answer does, with what its own sum leaves out", () => {
    const counts = {
      inputTokens: 10,
      cachedInputTokens: 4,
      cachedWriteTokens: 1,
      outputTokens: 3,
      totalTokens: 18,
    };
    const model_usage = [
      { model: "large", token_count: counts },
      { model: "small", token_count: { input_tokens: 5, output_tokens: 1 } },
    ];
    const result = (models: readonly object[]) => ({
      stopReason: "end_turn",
      usage: { inputTokens: 10, outputTokens: 3 },
      _meta: { quota: { model_usage: models } },
    });
    const cost = an.update("usage_update", { used: 1, cost: { amount: 0.5, currency: "USD" } });
    const turnOf = (...lines: readonly object[]) =>
      ofType(fold(lines, an.prompted()).records, "turn_completed")[0]?.payload;
    const large = {
      model: "large",
      input_tokens: 10,
      cached_tokens: 4,
      cache_write_tokens: 1,
      output_tokens: 3,
    };
    const both = turnOf(an.answered(result(model_usage)));
    expect(both?.usage).toMatchObject({ input_tokens: 15, cached_tokens: 4, output_tokens: 4 });
    expect(both?.models).toMatchObject([large, { model: "small", input_tokens: 5, output_tokens: 1 }]);
    // A cost of the turn is that of its one model; of several nobody knows whose.
    const [first] = model_usage;
    expect(turnOf(cost, an.answered(result([first!])))?.models).toMatchObject([{ ...large, cost_usd: 0.5 }]);
    const unsplit = turnOf(cost, an.answered(result(model_usage)));
    expect(unsplit?.models).toBeUndefined();
    expect(unsplit?.usage).toMatchObject({ input_tokens: 15, cost_usd: 0.5 });
  });

  test("tells what it used where only its messages do, and so far to budgets", () => {
    const told = an.chunk("", {
      _meta: { usage: { inputTokens: 10, outputTokens: 3, totalTokens: 13, cachedReadTokens: 4 } },
    });
    const one = fold([told, told, an.answered()], an.prompted({ interactive: true }));
    const usage = { input_tokens: 12, output_tokens: 6, cached_tokens: 8 };
    expect(ofType(one.records, "turn_usage").map(({ usage: sum }) => sum.output_tokens)).toEqual([3, 6]);
    expect(ofType(one.records, "turn_completed")[0]?.payload.usage).toMatchObject(usage);
    const two = fold([an.marked(an.OTHER), told, an.answered(undefined, an.OTHER)], one.state);
    expect(ofType(two.records, "turn_completed")[0]?.payload.usage.output_tokens).toBe(3);
  });

  test("tells what it used, and of what the session has cost its own part", () => {
    const cost = (amount: number) =>
      an.update("usage_update", { used: 1, size: 9, cost: { amount, currency: "USD" } });
    const usage = { inputTokens: 5, outputTokens: 3, cachedReadTokens: 2, thoughtTokens: 1 };
    const one = fold(
      [cost(0.1), an.answered({ stopReason: "end_turn", usage })],
      an.prompted({ interactive: true }),
    );
    expect(ofType(one.records, "turn_completed")[0]?.payload.usage).toEqual({
      input_tokens: 5,
      output_tokens: 3,
      cached_tokens: 2,
      reasoning_tokens: 1,
      cost_usd: 0.1,
    });
    const _meta = { quota: { token_count: { input_tokens: 7, output_tokens: 4 } } };
    const two = fold(
      [an.marked(an.OTHER), cost(0.3), cost(0.3), an.answered({ stopReason: "end_turn", _meta }, an.OTHER)],
      one.state,
    );
    expect(ofType(two.records, "turn_completed")[0]?.payload.usage).toMatchObject({
      input_tokens: 7,
      output_tokens: 4,
      cost_usd: 0.2,
    });
    expect(wordsOf(two.records).filter((words) => words.includes("usage of its session"))).toHaveLength(1);
  });

  test.each([
    [{ stopReason: "max_tokens" }, "OUTPUT_TOO_LARGE"],
    [{ stopReason: "max_turn_requests" }, "MAX_TURNS"],
    [{ stopReason: "refusal" }, "REFUSED"],
    [{ stopReason: "cancelled" }, "AGENT_FAILED"],
    [{ stopReason: "of_tomorrow" }, "AGENT_FAILED"],
    [{}, "AGENT_FAILED"],
  ])("that stops with %j has failed with %s", (result, code) => {
    const { state, records } = fold([an.answered(result)], an.prompted());
    expect(acp.finish(state, exit()).outcome).toMatchObject({ status: "failed", error: { code } });
    expect(ofType(records, "turn_completed")[0]?.payload.error?.code).toBe(code);
  });

  test.each([
    [{ code: -32_000, message: "Authentication required" }, "TOKEN_MISSING"],
    [{ code: 401, message: "{}" }, "TOKEN_INVALID"],
    [{ code: 429, message: "slow down" }, "RATE_LIMITED"],
    [{ code: -32_603, message: "x", data: { errorKind: "rate_limit" } }, "RATE_LIMITED"],
    [{ code: -32_603, message: "Internal error: API Error: 400 bad" }, "PROVIDER_BAD_REQUEST"],
    [{ code: -32_603, message: "Internal error", data: { details: "401 SENTINEL" } }, "TOKEN_INVALID"],
    [{ code: -32_603, message: "x", data: { errorName: "APIError" } }, "PROVIDER_ERROR"],
    [
      { code: -32_603, message: "x", data: { details: "no rollout found for thread id 9" } },
      "SESSION_NOT_FOUND",
    ],
    [{ code: -32_603, message: "SENTINEL" }, "AGENT_FAILED"],
    ["not an object", "AGENT_FAILED"],
  ])("that is answered with the error %j has failed with %s", (error, code) => {
    const { state, records } = fold([an.failed(error as object)], an.prompted());
    expect(acp.finish(state, exit()).outcome).toMatchObject({ status: "failed", error: { code } });
    expect(JSON.stringify(records)).not.toContain("SENTINEL");
  });

  test("that is open when the agent ends has failed, whatever its exit code", () => {
    expect(acp.finish(an.prompted(), exit()).outcome.error?.code).toBe("NO_TERMINAL_EVENT");
    expect(acp.finish(an.opened(), exit()).outcome.error?.code).toBe("NO_TERMINAL_EVENT");
    const idle = an.opened({ interactive: true });
    expect(acp.finish(idle, { ...exit(), input_ended: true }).outcome.status).toBe("completed");
  });
});

describe("an error that an agent tells as its answer", () => {
  const from = (name: string) =>
    fold([an.initialized({ agentInfo: { name } }), an.created(), an.marked()]).state;
  const outcome = (name: string, ...lines: readonly object[]) =>
    acp.finish(fold(lines, from(name)).state, exit()).outcome;
  const trouble = an.update("session_info_update", {
    _meta: { codex: { threadStatus: { type: "systemError" } } },
  });
  const ok = an.answered();

  test("is one where codex has said that it is in trouble", () => {
    const said = an.chunk("exceeded retry limit, last status: 429 Too Many Requests");
    expect(outcome("codex", trouble, said, ok).error?.code).toBe("RATE_LIMITED");
    expect(outcome("codex", said, ok).status).toBe("completed");
    const over = an.update("session_info_update", { _meta: { codex: { threadStatus: { type: "active" } } } });
    expect(outcome("codex", trouble, over, said, ok).status).toBe("completed");
  });

  test("is told by the words in its data, where its message says nothing", () => {
    const data = {
      message: "Quota exceeded. Check your plan and billing details.",
      codexErrorInfo: "usageLimitExceeded",
    };
    const failure = an.failed({ code: -32_603, message: "Internal error", data });
    expect(outcome("another", failure).error?.code).toBe("RATE_LIMITED");
  });

  test("is one in an agent that answers no mark, too", () => {
    const from = fold([an.initialized({ agentInfo: { name: "Copilot" } }), an.created()]).state;
    const { state } = fold([an.chunk("Error: 401 bad key"), ok], from);
    expect(acp.finish(state, exit()).outcome.error?.code).toBe("TOKEN_INVALID");
  });

  test("is one in a later turn of copilot, whose tokens are those of its session so far", () => {
    const session = (outputTokens: number) => ({
      stopReason: "end_turn",
      usage: {
        inputTokens: 10,
        outputTokens,
        totalTokens: 10 + outputTokens,
        cachedReadTokens: 4,
      },
    });
    const later = [an.marked(an.OTHER), an.chunk("Error: 429 slow down")];
    const turn = (outputTokens: number) => [...later, an.answered(session(outputTokens), an.OTHER)];
    const first = an.answered(session(3));
    expect(outcome("Copilot", first, ...turn(3)).error?.code).toBe("RATE_LIMITED");
    expect(outcome("Copilot", first, ...turn(7)).status).toBe("completed");
    const { records } = fold([first, ...turn(7)], from("Copilot"));
    // Cached tokens are a part of its input, as its total shows.
    expect(ofType(records, "turn_completed").map(({ payload }) => payload.usage)).toMatchObject([
      { input_tokens: 6, cached_tokens: 4, output_tokens: 3 },
      { input_tokens: 0, cached_tokens: 0, output_tokens: 4 },
    ]);
  });

  test("is one where copilot's last chunk is one, and it counts no tokens", () => {
    const said = an.chunk("Error: 401 bad key");
    const counted = an.answered({ stopReason: "end_turn", usage: { inputTokens: 9, outputTokens: 1 } });
    expect(outcome("Copilot", an.chunk("x"), said, ok).error?.code).toBe("TOKEN_INVALID");
    expect(outcome("Copilot", said, counted).status).toBe("completed");
    expect(outcome("Copilot", said, an.chunk("no, all is well"), ok).status).toBe("completed");
    expect(outcome("another", said, ok).status).toBe("completed");
    expect(outcome("Copilot", an.chunk("Error: No response was returned. Again?"), counted).error?.code).toBe(
      "PROVIDER_ERROR",
    );
  });

  test("is one where copilot has given its provider up, though it counted tokens before", () => {
    const counted = an.answered({ stopReason: "end_turn", usage: { inputTokens: 9, outputTokens: 1 } });
    const info = an.chunk("Info: Request failed due to a transient API error. Retrying...");
    const error = an.chunk(
      "Error: Failed to get response from the AI model; retried 5 times (total retry wait time: 5.00 seconds) Last error: 500 late internal error",
    );
    expect(outcome("Copilot", an.chunk("Let me see."), info, info, error, counted)).toMatchObject({
      status: "failed",
      error: { code: "PROVIDER_ERROR" },
    });
  });

  test("a warning of codex-acp is not the model's words", () => {
    const warned = [
      an.chunk("Warning: no such thing\n\n"),
      an.chunk("Warning: of mine", { messageId: "m" }),
      ok,
    ];
    const told = (agent: string) => wordsOf(fold(warned, from(agent)).records);
    expect(told("@agentclientprotocol/codex-acp")).toEqual([
      "Status: The agent gave a warning.",
      "TextOutput: Warning: of mine",
    ]);
    expect(told("another")).toEqual([
      "TextOutput: Warning: no such thing\n\n",
      "TextOutput: Warning: of mine",
    ]);
  });

  test("copilot's notices that it tries again are not the model's words", () => {
    const words = (agent: string) =>
      [
        an.chunk("Partial"),
        an.chunk("Info: Response was interrupted due to a server error. Retrying..."),
        an.chunk("Whole answer."),
        ok,
      ].reduce((state, line) => fold([line], state).state, from(agent));
    expect(acp.finish(words("Copilot"), exit()).outcome.completion.final_text).toBe("Whole answer.");
    expect(acp.finish(words("another"), exit()).outcome.completion.final_text).toContain("Retrying");
  });
});

describe("a tool", () => {
  const call = { toolCallId: "c1", title: "ls", kind: "execute", status: "pending" };
  const tools = (...lines: readonly object[]) =>
    eventsOf(fold(lines, an.prompted()).records)
      .filter(({ kind }) => kind === "ToolCall" || kind === "ToolResult")
      .map(({ kind, data }) => [kind, (data as { tool: { [key: string]: unknown } }).tool] as const);

  test("is called on the first sight of its id, and has one result", () => {
    const done = { toolCallId: "c1", status: "completed" };
    const told = tools(
      an.update("tool_call", { ...call, name: "Bash" }),
      an.update("tool_call_update", { toolCallId: "c1", status: "in_progress" }),
      an.update("tool_call_update", {
        toolCallId: "c1",
        content: [{ type: "content", content: { text: "żó" } }],
      }),
      an.update("tool_call_update", { ...done, rawOutput: { exit_code: 3 } }),
      an.update("tool_call_update", done),
    );
    expect(told).toMatchObject([
      ["ToolCall", { kind: "execute", tool_name: "Bash", tool_use_id: "c1" }],
      ["ToolResult", { status: "completed", exit_code: 3, bytes: { result: 4 } }],
    ]);
  });

  test("of an id of an earlier turn is another call where the agent begins it", () => {
    const whole = an.update("tool_call", { ...call, status: "completed" });
    const late = an.update("tool_call_update", { toolCallId: "c1", status: "failed" });
    const turns = [whole, an.answered(), late, an.marked(an.OTHER), late, whole, late];
    expect(tools(...turns).map(([kind]) => kind)).toEqual([
      "ToolCall",
      "ToolResult",
      "ToolCall",
      "ToolResult",
    ]);
  });

  test("that is begun once more in its turn, as Cline begins a refused one, is the same call", () => {
    const told = tools(
      an.update("tool_call", call),
      an.update("tool_call_update", { toolCallId: "c1", status: "failed" }),
      an.update("tool_call", { ...call, status: "in_progress" }),
      an.update("tool_call_update", { toolCallId: "c1", status: "failed" }),
    );
    expect(told.map(([kind]) => kind)).toEqual(["ToolCall", "ToolResult"]);
  });

  test.each([
    [{ _meta: { terminal_exit: { exit_code: 2 } } }, 2],
    [{ rawOutput: { contents: [{ type: "shell_exit", exitCode: 1 }] } }, 1],
    [{ rawOutput: "in words" }, null],
  ])("with %j has the exit code %j", (rest, exit_code) => {
    expect(tools(an.update("tool_call", { ...call, status: "failed", ...rest }))[1]?.[1]).toMatchObject({
      exit_code,
      status: "failed",
    });
  });

  test("without a result by the end of its turn has failed", () => {
    const told = tools(an.permission(0, call), an.answered());
    expect(told).toMatchObject([
      ["ToolCall", { tool_name: "execute" }],
      ["ToolResult", { status: "failed" }],
    ]);
  });
});

describe("a permission", () => {
  const call = { toolCallId: "c1", title: "rm -rf x", kind: "execute", rawInput: { command: "rm" } };

  test("is asked for with what is known of the call, and answered for this call alone", () => {
    const { records } = fold([an.permission(0, call)], an.prompted());
    const [asked] = ofType(records, "approval_requested");
    expect(asked?.payload).toMatchObject({
      approval_id: "0",
      tool: "execute",
      tool_use_id: "c1",
      title: "rm -rf x",
      input: { command: "rm" },
    });
    const answer = (decision: "allow" | "deny"): unknown =>
      JSON.parse(acp.messages!.answer!(asked!.payload.reply as JsonValue, { decision }));
    const chosen = (optionId: string) => ({
      jsonrpc: "2.0",
      id: 0,
      result: { outcome: { outcome: "selected", optionId } },
    });
    expect(answer("allow")).toEqual(chosen("do-allow_once"));
    expect(answer("deny")).toEqual(chosen("do-reject_once"));
    // It is a sign that the prompt was taken in.
    expect(ofType(records, "worker_message")).toHaveLength(1);
  });

  test("that cannot be denied once is given up, and one that cannot be allowed once is denied", () => {
    const { records } = fold([an.permission("a", call, ["allow_once", "reject_always"])], an.prompted());
    const { reply } = ofType(records, "approval_requested")[0]!.payload;
    expect(JSON.parse(acp.messages!.answer!(reply, { decision: "deny" }))).toMatchObject({
      id: "a",
      result: { outcome: { outcome: "cancelled" } },
    });
    const never = fold([an.permission(3, call, ["allow_always", "reject_once"])], an.prompted());
    expect(ofType(never.records, "approval_requested")).toEqual([]);
    expect(repliesOf(never.records)).toMatchObject([
      { id: 3, result: { outcome: { optionId: "do-reject_once" } } },
    ]);
  });

  test('is withdrawn with its turn, or when the agent takes it back; 0 and "0" are two', () => {
    const taken = { method: "$/cancel_request", params: { requestId: "0" } };
    const { records } = fold(
      [an.permission(0, call), an.permission("0", call), taken, an.answered()],
      an.prompted(),
    );
    expect(ofType(records, "approval_withdrawn").map(({ payload }) => payload.approval_id)).toEqual([
      '"0"',
      "0",
    ]);
  });

  test("that stands when the turn is cancelled is answered with that", () => {
    const { state } = fold([an.permission(7, call)], an.prompted());
    const lines = acp.messages!.interrupt!(state)!
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { method: "session/cancel", params: { sessionId: "s1" } },
      { id: 7, result: { outcome: { outcome: "cancelled" } } },
    ]);
    expect(acp.messages!.interrupt!(an.opened())).toBeUndefined();
    // A text that is said once a turn differs from turn to turn.
    const next = fold([an.answered(), an.marked(an.OTHER)], an.prompted({ interactive: true })).state;
    expect(acp.messages!.interrupt!(next)).not.toBe(acp.messages!.interrupt!(an.prompted()));
  });

  test("with an input that is too long is asked for without it", () => {
    const { records } = fold(
      [an.permission(1, { ...call, title: "ż".repeat(9_999), rawInput: { text: "x".repeat(20_000) } })],
      an.prompted(),
    );
    const { payload } = ofType(records, "approval_requested")[0]!;
    expect(payload.input).toBeNull();
    expect(Buffer.byteLength(payload.title)).toBeLessThanOrEqual(1_024);
  });
});

describe("other lines", () => {
  test("a request for what is not offered is refused as the protocol says", () => {
    for (const method of ["fs/read_text_file", "terminal/create", "elicitation/create", "x/y"]) {
      const { records } = fold([{ id: "r", method, params: {} }], an.opened());
      expect(repliesOf(records)).toMatchObject([{ id: "r", error: { code: -32_601 } }]);
    }
    const { records } = fold([{ id: { odd: 1 }, method: "fs/read_text_file" }], an.opened());
    expect(repliesOf(records)).toEqual([]);
  });

  test("a batch, a broken line and an unknown notification are one Unknown each, a refused line of ours a Status", () => {
    const { records } = fold(
      [
        "[]",
        "{",
        { method: "_auth/status_update", params: {} },
        { id: null, error: { code: -32_700 } },
        { id: 9, result: 1 },
      ],
      an.opened(),
    );
    expect(eventsOf(records).map(({ kind }) => kind)).toEqual([
      "Unknown",
      "Unknown",
      "Unknown",
      "Status",
      "Unknown",
    ]);
  });

  test("an event of another session is not told, and U+2028 is text", () => {
    const foreign = an.update("agent_message_chunk", { content: { type: "text", text: "x" } }, "s2");
    const { records } = fold([foreign, an.chunk("a\u2028b")], an.prompted());
    expect(eventsOf(records).map(({ text }) => text)).toEqual(["a\u2028b"]);
  });

  test("known notices are Status, a plan tells its length, what is no text says what it is", () => {
    const { records } = fold(
      [
        an.update("available_commands_update", { availableCommands: [1, 2] }),
        an.update("plan", { entries: [{}, {}] }),
        an.update("agent_message_chunk", { content: { type: "image", data: "xx" } }),
        an.update("of_tomorrow"),
      ],
      an.opened(),
    );
    expect(eventsOf(records).map(({ kind, data }) => [kind, data])).toEqual([
      ["Status", { type: "available_commands_update", commands: 2 }],
      ["Status", { entries: 2 }],
      ["Status", { content: "image" }],
      ["Unknown", { type: "session/update", update: "of_tomorrow" }],
    ]);
  });

  test("a request in a line over the limit is denied by its id; without one the run ends, and says why", () => {
    const long = (head: string) =>
      acp.decode(an.prompted(), { kind: "truncated", limit_bytes: 8, head }, "stdout");
    const asked = '"method":"session/request_permission","params":{"sess';
    expect(repliesOf(long(`{"jsonrpc":"2.0","id":4,${asked}`).records)).toMatchObject([
      { id: 4, result: { outcome: { outcome: "cancelled" } } },
    ]);
    expect(repliesOf(long('{"id":"a","method":"fs/write_text_file","params":').records)).toMatchObject([
      { id: "a", error: { code: -32_600 } },
    ]);
    for (const quiet of ['{"method":"session/update","params":', '{"id":"holdfast:session","result":{', "\0"])
      expect(long(quiet).records).toEqual([]);
    const { state, records } = long(`{${asked}`);
    expect(repliesOf(records)).toEqual(["end"]);
    expect(records.at(-1)).toMatchObject({
      type: "turn_completed",
      payload: { error: { code: "OUTPUT_TOO_LARGE" } },
    });
    expect(acp.finish(state, exit()).outcome.error?.code).toBe("OUTPUT_TOO_LARGE");
  });

  test("a line over the limit may have been the end of the turn", () => {
    const { state } = acp.decode(an.prompted(), { kind: "truncated", limit_bytes: 8 }, "stdout");
    expect(acp.finish(state, exit()).outcome.error?.code).toBe("OUTPUT_TOO_LARGE");
  });
});
