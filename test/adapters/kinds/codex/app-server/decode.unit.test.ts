/** The dialogue with `codex app-server`. */
import { describe, expect, test } from "vitest";
import { scriptOf } from "../../../../../src/adapters/kinds/codex/app-server/shell-words.ts";
import { ASKS_MAX } from "../../../../../src/adapters/kinds/codex/app-server/state.ts";
import { codex } from "../../../../../src/adapters/kinds/codex/index.ts";
import { exit } from "../../../conformance/support.ts";
import {
  asksFor,
  delta,
  fold,
  given,
  initialized,
  item,
  MESSAGE,
  notice,
  OTHER,
  ofType,
  opened,
  opening,
  repliesOf,
  threadOpened,
  turnAnswered,
  turnOver,
  wordsOf,
} from "./support.ts";

const answer = codex.messages!.answer!;
const tokens = (input: number, output: number) => ({
  inputTokens: input,
  outputTokens: output,
  cachedInputTokens: 1,
  reasoningOutputTokens: 2,
});
const used = (total: object, last: object, turnId = "u1") =>
  notice("thread/tokenUsage/updated", { turnId, tokenUsage: { total, last } });

describe("opening a thread", () => {
  test("initialize is answered by a new thread with what it may do, and that by the session", () => {
    const { state, records } = fold(
      [initialized()],
      codex.initial(opening({ permission: "ask", model: "m" })),
    );
    expect(repliesOf(records)).toEqual([
      { method: "initialized" },
      {
        id: "holdfast:thread",
        method: "thread/start",
        params: { cwd: "/work", approvalPolicy: "untrusted", sandbox: "workspace-write", model: "m" },
      },
    ]);
    const next = fold([threadOpened()], state);
    expect(ofType(next.records, "session_started")).toMatchObject([{ payload: { session_id: "t1" } }]);
    expect(next.state).toMatchObject({ thread: "t1", handshake: null });
  });

  test.each([
    [opening({ session: "s" }), { method: "thread/resume", params: { threadId: "s", excludeTurns: true } }],
    [opening({ session: "s", fork: true }), { method: "thread/fork", params: { threadId: "s" } }],
    // A later incarnation goes on in the branch.
    [opening({ session: "s", fork: true }, "b"), { method: "thread/resume", params: { threadId: "b" } }],
  ])("a session is resumed or branched", (from, line) => {
    expect(repliesOf(fold([initialized()], codex.initial(from)).records)[1]).toMatchObject(line);
  });

  test("the newest session of the directory is looked for first", () => {
    const ext = { "agent_api.session.fork.v1": { selector: "last" } };
    const { state, records } = fold([initialized()], codex.initial(opening({ ext })));
    expect(repliesOf(records)[1]).toMatchObject({
      method: "thread/list",
      params: { cwd: "/work", limit: 1 },
    });
    const found = fold([{ id: "holdfast:list", result: { data: [{ id: "n" }] } }], state);
    expect(repliesOf(found.records)).toMatchObject([{ method: "thread/fork", params: { threadId: "n" } }]);
    const none = fold([{ id: "holdfast:list", result: { data: [] } }], state);
    expect(none.state.refused).toEqual({ code: "SESSION_NOT_FOUND", message: "no session found" });
    expect(repliesOf(none.records)).toEqual(["end"]);
  });

  test.each([
    ["no rollout found for thread id 7", "SESSION_NOT_FOUND"],
    ["invalid session id: no", "SESSION_NOT_FOUND"],
    ["something else", "AGENT_FAILED"],
  ])("%s ends the run as %s", (message, code) => {
    const { state, records } = fold([
      initialized(),
      { id: "holdfast:thread", error: { code: -32_600, message } },
    ]);
    expect(repliesOf(records).at(-1)).toBe("end");
    expect(codex.finish(state, exit()).outcome.error?.code).toBe(code);
  });

  test("no message is said before the thread is open", () => {
    const { frame } = codex.messages!;
    expect(frame(MESSAGE, "hi", codex.initial(opening()))).toBeUndefined();
    expect(JSON.parse(frame(MESSAGE, "hi\n", opened())!)).toEqual({
      id: `turn:${MESSAGE}`,
      method: "turn/start",
      params: { threadId: "t1", clientUserMessageId: MESSAGE, input: [{ type: "text", text: "hi" }] },
    });
    expect(frame(OTHER, "hi", given())).toBeUndefined();
  });
});

describe("a turn", () => {
  test("is acknowledged by its first item, told in pieces once, and completed with its usage", () => {
    const { state, records } = fold(
      [
        turnAnswered(),
        notice("turn/started", { turn: { id: "u1" } }),
        item("started", "userMessage"),
        delta("Hel"),
        delta("lo."),
        item("completed", "agentMessage", { text: "Hello." }),
        used(tokens(10, 5), tokens(10, 5)),
        used(tokens(30, 9), tokens(20, 4)),
        turnOver("completed"),
      ],
      opened(),
    );
    expect(wordsOf(records)).toEqual(["TextOutput: Hel", "TextOutput: lo."]);
    expect(ofType(records, "worker_message")).toMatchObject([
      { payload: { message_id: MESSAGE, state: "acknowledged", turn: 1 } },
    ]);
    expect(ofType(records, "turn_started")).toHaveLength(1);
    expect(ofType(records, "turn_completed")).toMatchObject([
      { payload: { turn: 1, usage: { input_tokens: 30, output_tokens: 9 } } },
    ]);
    expect(repliesOf(records)).toEqual([]);
    expect(codex.finish(state, { ...exit(), input_ended: true }).outcome).toMatchObject({
      status: "completed",
      completion: { final_text: "Hello." },
    });
  });

  test("usage of the open turn is told with its tools, and not with its answer", () => {
    const command = (id: string) => ({ id, command: "true", status: "inProgress" });
    const { records } = fold(
      [
        item("started", "commandExecution", command("c1")),
        used(tokens(130, 55), tokens(30, 5)),
        item("completed", "commandExecution", { ...command("c1"), status: "completed", exitCode: 0 }),
        used(tokens(150, 60), tokens(20, 5)),
        item("completed", "agentMessage", { id: "a1", text: "Done." }),
        turnOver("completed"),
      ],
      given(),
    );
    expect(ofType(records, "turn_usage")).toMatchObject([{ usage: { input_tokens: 30, output_tokens: 5 } }]);
    expect(ofType(records, "turn_completed")).toMatchObject([
      { payload: { usage: { input_tokens: 50, output_tokens: 10 } } },
    ]);
  });

  test("earlier usage of the thread is not this turn's", () => {
    const { records } = fold(
      [
        used(tokens(100, 50), tokens(9, 9), "old"),
        turnAnswered(),
        used(tokens(130, 55), tokens(30, 5)),
        turnOver("completed"),
      ],
      opened(),
    );
    expect(ofType(records, "turn_completed")).toMatchObject([
      { payload: { usage: { input_tokens: 30, output_tokens: 5 } } },
    ]);
  });

  test("an item that is said again to be complete is told once", () => {
    const command = item("completed", "commandExecution", { id: "c", status: "completed", exitCode: 0 });
    const text = item("completed", "agentMessage", { id: "m", text: "Hi." });
    const { state, records } = fold([command, command, delta("Hi.", "m"), text, text], given());
    const kinds = ofType(records, "agent.event").map(({ payload }) => payload.kind);
    expect(kinds).toEqual(["ToolCall", "ToolResult", "TextOutput"]);
    // Ids are those of a turn.
    expect(fold([turnOver("completed")], state).state.done).toEqual([]);
  });

  test("parts of a summary of thoughts stand apart in pieces as they do in the whole", () => {
    const part = notice("item/reasoning/summaryPartAdded", { itemId: "r" });
    const piece = (text: string) => notice("item/reasoning/summaryTextDelta", { itemId: "r", delta: text });
    const whole = item("completed", "reasoning", { id: "r", summary: ["First.", "Then."] });
    const told = (...lines: readonly object[]) =>
      ofType(fold(lines, given()).records, "agent.event")
        .map(({ payload }) => payload.text)
        .join("");
    expect(told(part, piece("Fir"), piece("st."), part, piece("Then."), whole)).toBe(told(whole));
  });

  test("text that came in no pieces is told whole: an answer, and a summary of thoughts", () => {
    const { records } = fold(
      [
        item("completed", "reasoning", { id: "r", summary: ["First."], content: ["raw"] }),
        item("completed", "agentMessage", { text: "Whole." }),
      ],
      given(),
    );
    expect(wordsOf(records)).toEqual(["TextOutput: First.", "TextOutput: Whole."]);
  });

  test("of a prompt it is all: its end closes the input", () => {
    const { records } = fold([turnOver("completed")], given({ interactive: false, permission: "ask" }));
    expect(repliesOf(records)).toEqual(["end"]);
  });

  test("a failure is told once, by its status; a try after it is none", () => {
    const error = { message: "x", codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 401 } } };
    const { state, records } = fold(
      [
        notice("error", { error: { message: "Reconnecting... 1/5" }, willRetry: true }),
        notice("error", { error, willRetry: false }),
        turnOver("failed", { error }),
      ],
      given(),
    );
    expect(wordsOf(records)).toEqual([
      "Status: The agent's CLI retries its request to the provider (1 of 5).",
      "Error: The provider refused the credentials (HTTP 401).",
    ]);
    expect(codex.finish(state, exit()).outcome.error?.code).toBe("TOKEN_INVALID");
  });

  test.each([
    ["usageLimitExceeded", "RATE_LIMITED"],
    ["contextWindowExceeded", "PROVIDER_BAD_REQUEST"],
    ["serverOverloaded", "PROVIDER_ERROR"],
    ["a word of tomorrow", "AGENT_FAILED"],
  ])("%s is %s", (codexErrorInfo, code) => {
    const { records } = fold([turnOver("failed", { error: { message: "x", codexErrorInfo } })], given());
    expect(ofType(records, "turn_completed")).toMatchObject([{ payload: { error: { code } } }]);
  });

  test("interrupted, its command is over and its question needs no answer", () => {
    const state = fold(
      [item("started", "commandExecution"), asksFor("commandExecution", { command: "ls" })],
      given(),
    ).state;
    expect(JSON.parse(codex.messages!.interrupt!(state)!)).toEqual({
      id: "interrupt:u1",
      method: "turn/interrupt",
      params: { threadId: "t1", turnId: "u1" },
    });
    const { records, state: after } = fold(
      [{ id: "interrupt:u1", result: {} }, turnOver("interrupted")],
      state,
    );
    expect(ofType(records, "approval_withdrawn")).toEqual([
      { type: "approval_withdrawn", payload: { approval_id: "0" } },
    ]);
    expect(wordsOf(records)[0]).toBe("ToolResult: ");
    expect(codex.messages!.interrupt!(after)).toBeUndefined();
    expect(codex.messages!.frame(OTHER, "next", after)).toBeDefined();
  });

  test("one that codex refuses to begin is a turn that failed", () => {
    const { records } = fold([{ id: `turn:${MESSAGE}`, error: { code: 1, message: "no" } }], opened());
    expect(ofType(records, "turn_completed")).toMatchObject([
      { payload: { error: { code: "AGENT_FAILED" } } },
    ]);
    expect(ofType(records, "worker_message")).toHaveLength(1);
  });

  test("events of another thread, and statuses, are not told; a warning once; a type of tomorrow is", () => {
    const { records } = fold(
      [
        notice("item/completed", { threadId: "other", item: { type: "agentMessage", text: "x", id: "o" } }),
        notice("thread/status/changed"),
        notice("item/commandExecution/outputDelta", { delta: "x" }),
        notice("warning", { message: "x" }),
        notice("warning", { message: "x" }),
        notice("thread/tomorrow"),
      ],
      given(),
    );
    expect(wordsOf(records)).toEqual(["Status: The agent's CLI gave a warning.", "Unknown: "]);
  });
});

describe("a tool", () => {
  test.each([
    ["commandExecution", { status: "completed", exitCode: 0, aggregatedOutput: "abc" }, "completed", 0, 3],
    ["commandExecution", { status: "failed", exitCode: 2 }, "failed", 2, 0],
    ["commandExecution", { status: "declined", exitCode: null }, "failed", null, 0],
    ["mcpToolCall", { status: "completed", error: { message: "x" } }, "failed", null, 0],
    ["webSearch", {}, "completed", null, 0],
  ])("%s %j is %s", (type, rest, status, exit_code, stdout) => {
    const { records } = fold([item("started", type), item("completed", type, rest)], given());
    const tools = ofType(records, "agent.event").map(({ payload }) => payload);
    expect(tools.map(({ kind }) => kind)).toEqual(["ToolCall", "ToolResult"]);
    expect(tools[1]?.data).toMatchObject({
      tool: { status, exit_code, bytes: { stdout }, backend_item_id: "i1" },
    });
  });
});

describe("a question", () => {
  test("a command is asked about by its script, and answered for this call", () => {
    const command = "/bin/bash -lc 'git status'";
    const { records } = fold([asksFor("commandExecution", { command, cwd: "/work" })], given());
    expect(ofType(records, "approval_requested")).toMatchObject([
      { payload: { approval_id: "0", tool: "shell", input: { command: "git status", cwd: "/work" } } },
    ]);
    const { reply } = ofType(records, "approval_requested")[0]!.payload;
    expect(JSON.parse(answer(reply, { decision: "allow" }))).toEqual({
      id: 0,
      result: { decision: "accept" },
    });
    expect(JSON.parse(answer(reply, { decision: "deny" }))).toEqual({
      id: 0,
      result: { decision: "decline" },
    });
  });

  test("a patch is asked about by its files, one of them as its path", () => {
    const change = (...paths: string[]) => ({
      changes: paths.map((path) => ({ path, kind: { type: "add" } })),
    });
    const asked = (...paths: string[]) =>
      ofType(
        fold([item("started", "fileChange", change(...paths)), asksFor("fileChange", {})], given()).records,
        "approval_requested",
      )[0]?.payload;
    expect(asked("/a")).toMatchObject({ tool: "patch", title: "Change /a", input: { path: "/a" } });
    expect(asked("/a", "/b")?.input).toEqual({ changes: [{ path: "/a" }, { path: "/b" }] });
    expect(asked("x".repeat(600))?.input).toEqual({ changes: null });
  });

  test("more permissions are given for this turn", () => {
    const permissions = { network: { enabled: true }, fileSystem: null };
    const { records } = fold([asksFor("permissions", { permissions })], given());
    const { tool, reply } = ofType(records, "approval_requested")[0]!.payload;
    expect(tool).toBe("permissions");
    expect(JSON.parse(answer(reply, { decision: "allow" }))).toEqual({
      id: 0,
      result: { permissions: { network: { enabled: true } }, scope: "turn" },
    });
    expect(JSON.parse(answer(reply, { decision: "deny" })).result).toEqual({
      permissions: {},
      scope: "turn",
    });
  });

  test("a request for longer than a call is denied at once, and one that is not offered is refused", () => {
    const { records } = fold(
      [
        asksFor("fileChange", { grantRoot: "/" }),
        { id: "q", method: "item/tool/requestUserInput", params: {} },
        { id: 9, method: "mcpServer/elicitation/request", params: {} },
      ],
      given(),
    );
    expect(ofType(records, "approval_requested")).toEqual([]);
    expect(repliesOf(records)).toMatchObject([
      { id: 0, result: { decision: "decline" } },
      { id: "q", error: { code: -32_601 } },
      { id: 9, result: { action: "decline" } },
    ]);
  });

  test("one in a line over the limit is denied by its id; without one the run ends, and says why", () => {
    const long = (head: string) =>
      codex.decode(given(), { kind: "truncated", limit_bytes: 8, head }, "stdout");
    const asks = (what: string, id = '"id":3,') =>
      `{"method":"item/${what}/requestApproval",${id}"params":{"th`;
    expect(repliesOf(long(asks("commandExecution")).records)).toEqual([
      { id: 3, result: { decision: "decline" } },
    ]);
    expect(repliesOf(long(asks("permissions")).records)).toMatchObject([
      { id: 3, result: { permissions: {} } },
    ]);
    expect(repliesOf(long('{"method":"item/tool/call","id":3,').records)).toMatchObject([
      { id: 3, error: { code: -32_600 } },
    ]);
    expect(long('{"method":"item/completed","params":{').records).toEqual([]);
    const { state, records } = long(asks("fileChange", ""));
    expect(repliesOf(records)).toContain("end");
    expect(ofType(records, "turn_completed")).toMatchObject([
      { payload: { error: { code: "OUTPUT_TOO_LARGE" } } },
    ]);
    expect(codex.finish(state, exit()).outcome.error?.code).toBe("OUTPUT_TOO_LARGE");
  });

  test("one that codex gives up itself is withdrawn when its turn ends as interrupted", () => {
    const resolved = notice("serverRequest/resolved", { requestId: 0 });
    const asked = fold([asksFor("commandExecution", { command: "ls" }), resolved, resolved], given());
    expect(ofType(asked.records, "approval_withdrawn")).toEqual([]);
    const { records } = fold([turnOver("interrupted"), turnOver("interrupted")], asked.state);
    expect(ofType(records, "approval_withdrawn")).toEqual([
      { type: "approval_withdrawn", payload: { approval_id: "0" } },
    ]);
  });

  test("of many, the one that nobody has answered is remembered and withdrawn at the end of its turn", () => {
    const asks = (id: number) => ({ ...asksFor("commandExecution", { command: "ls" }), id });
    const answered = Array.from({ length: ASKS_MAX + 1 }, (_, index) => index + 1).flatMap((id) => [
      asks(id),
      notice("serverRequest/resolved", { requestId: id }),
    ]);
    const { records } = fold([asks(0), ...answered, turnOver("completed")], given());
    expect(ofType(records, "approval_withdrawn").map(({ payload }) => payload.approval_id)).toEqual(["0"]);
  });

  test("one that was answered is not withdrawn at the end of its turn", () => {
    const { records } = fold(
      [
        asksFor("permissions", { permissions: {} }),
        notice("serverRequest/resolved", { requestId: 0 }),
        turnOver("completed"),
      ],
      given(),
    );
    expect(ofType(records, "approval_withdrawn")).toEqual([]);
  });
});

test.each([
  ["/bin/bash -lc 'echo a > b'", "echo a > b"],
  [`/usr/bin/zsh -c "echo \\"x\\" \\$HOME"`, 'echo "x" $HOME'],
  [`bash -lc 'it'"'"'s'`, "it's"],
  ["bash -lc ls", "ls"],
  ["bash -lc 'ls' extra", "bash -lc 'ls' extra"],
  ["bash -lc 'ls", "bash -lc 'ls"],
  ["bash -lc ls; rm x", "bash -lc ls; rm x"],
  ["git status", "git status"],
  ["./evil/bash -lc 'git status'", "./evil/bash -lc 'git status'"],
  ["/work/bin/sh -c 'git status'", "/work/bin/sh -c 'git status'"],
  ["/usr/local/bin/sh -c 'git status'", "git status"],
])("the script of %s is %s", (command, script) => {
  expect(scriptOf(command)).toBe(script);
});
