/** The part of docs/adapters.md that no run shows: what each kind cannot do, and types that its CLI documents and no run has printed. */

export interface KindFacts {
  /** Sentences. */
  readonly limits: readonly string[];
  /** Lines of types that are documented, with as much in them as the type needs. */
  readonly documented: readonly object[];
  /** The same of the way in which it is spoken with, where it has another. */
  readonly spoken?: readonly object[];
  /** The suite of `npm run test:agents` that runs the CLI itself. */
  readonly suite?: string;
}

const each = (names: string, line: (name: string) => object): readonly object[] =>
  names.split(/\s+/).map(line);

const NO_QUESTIONS =
  "Nobody can answer a question of it: `--permission ask` is refused, and what needs a permission that was not given is not done.";
const NO_CONVERSATION = "It takes one prompt: no `--interactive`, and no messages later.";
const NO_FORK = "A session cannot be forked.";
const NO_COST = "The CLI tells no cost, so a budget of dollars counts nothing for it.";

export const KIND_FACTS: Readonly<Record<string, KindFacts>> = {
  command: {
    limits: [
      "It has no protocol: each line is text, and the exit code alone says whether the run went well.",
      "It has no session, no turns, no usage and no final text.",
    ],
    documented: [],
  },
  claude_code: {
    limits: [
      "It does not ask about a tool that its own settings allow, so no rule of ours is heard about that: a tool that `--deny-tool` names without an argument is taken away from it.",
      "A try that fails in the middle of its deltas (partial messages) stays told; the next try is told behind it.",
      "Versions without running totals by model tell the tokens of a turn, in which sub-agents and failed tries are missing.",
      "After SIGTERM or SIGKILL the CLI prints no `result`: what the open turn cost is known as far as its messages had told it, and counts for budgets alone.",
    ],
    documented: [
      ...each(
        `compact_boundary hook_started hook_progress hook_response notification session_state_changed commands_changed
         plugin_install files_persisted memory_recall local_command_output elicitation_complete mirror_error
         worker_shutting_down control_request_progress model_refusal_fallback thinking_tokens`,
        (subtype) => ({ type: "system", subtype }),
      ),
      ...each(
        `control_response control_cancel_request rate_limit_event tool_progress tool_use_summary auth_status
         prompt_suggestion conversation_reset active_goal keep_alive command_lifecycle`,
        (type) => ({ type }),
      ),
      ...each("redacted_thinking server_tool_use mcp_tool_use", (type) => ({
        type: "assistant",
        message: { content: [{ type }] },
      })),
      { type: "assistant", message: { content: [{ type: "web_search_tool_result" }] } },
    ],
    suite: "agents/claude.e2e",
  },
  codex: {
    limits: [
      "One prompt is `codex exec --json`, which the table shows. With `--interactive`, `--permission ask`, a rule for a tool or `--fork` it is `codex app-server`: there, answers come in pieces, commands, patches and further permissions are asked about (`shell`, `patch`, `network`, `permissions`), and a turn can be cancelled.",
      "When it asks, commands that codex knows to only read are run unasked (its policy `untrusted`); what is allowed runs in its sandbox, in which the working directory can be written.",
      "A rule with an argument fits a patch of one file, by its path. Questions of its MCP servers are declined.",
      NO_COST,
      "`codex exec` prints whole items and no deltas: an answer is seen when it is complete.",
      "`codex exec` tells no usage of its sub-agents: what they took is missing in the tokens of the turn.",
      "A turn that is cancelled leaves its commands running, because codex does not end them: they are ended with the worker.",
      "A command that its sandbox refused without a question is printed as nothing at all: neither a call nor a result is told.",
      "Its sandbox leaves empty directories (`.agents .aws .codex .git`) where it is stopped in a command: they are removed when its run has ended; in /tmp it may not write, so that it leaves none there; `acp:codex` may, and they are removed there too.",
      "`codex exec` gives its errors in words alone: a code is found by words that are known, else it is AGENT_FAILED.",
    ],
    documented: [
      { type: "thread.resumed", thread_id: "t" },
      { type: "item.plan.delta" },
      { type: "request_user_input" },
      ...each("web_search", (type) => ({ type: "item.started", item: { id: "i", type } })),
      ...each("todo_list plan", (type) => ({ type: "item.completed", item: { id: "i", type } })),
    ],
    spoken: [
      ...each(
        `mcpToolCall dynamicToolCall collabAgentToolCall webSearch imageView imageGeneration sleep plan contextCompaction
         enteredReviewMode exitedReviewMode subAgentActivity hookPrompt functionCallOutput`,
        (type) => ({ method: "item/completed", params: { item: { id: "i", type } } }),
      ),
      { method: "item/reasoning/summaryTextDelta", params: { itemId: "i", delta: "x" } },
      ...each(
        `turn/plan/updated thread/compacted thread/closed model/rerouted mcpServer/startupStatus/updated guardianWarning
         deprecationNotice`,
        (method) => ({ method, params: {} }),
      ),
      ...each("item/permissions/requestApproval mcpServer/elicitation/request", (method) => ({
        id: 0,
        method,
        params: { itemId: "i" },
      })),
    ],
    suite: "agents/codex.e2e",
  },
  gemini_cli: {
    limits: [
      NO_QUESTIONS,
      NO_CONVERSATION,
      NO_FORK,
      NO_COST,
      "The CLI never prints its reasoning.",
      "It says nothing of messages: the text of a try that was given up and of the next one are one text.",
      "A command that failed is a good result to the CLI, and so to us.",
    ],
    documented: [{ type: "error", severity: "warning", message: "" }],
    suite: "agents/gemini.e2e",
  },
  opencode: {
    limits: [
      NO_QUESTIONS,
      NO_CONVERSATION,
      "It prints whole parts and no deltas, a tool's call only with its result, and nothing before the model's first answer.",
      "When several are started at once in a HOME where it has never run, some of them exit with 1 before their first line, because each makes the same database, and some hang; the failure says so: start one alone first, or leave the restart policy as it is, which starts them again.",
      "It says nothing of tries that it repeats: a provider that refuses looks like one that is slow.",
      "It has no word for the end of a run but its exit code; what the steps of a turn cost that never ended counts for budgets alone.",
    ],
    documented: [],
    suite: "agents/opencode.e2e",
  },
  copilot: {
    limits: [
      NO_QUESTIONS,
      NO_CONVERSATION,
      "The CLI prints neither tokens nor cost, so such budgets count nothing for it. It writes its tokens into a file at its end alone (`--usage-output-file`), which is not read: in a sandbox there is no place for it, and after SIGKILL none is written.",
      "Its session is told in its last line. Holdfast chooses the id of a new one and tells it with the prompt; of a run whose own arguments name a session, and that was cut off, it is not known.",
      "Each try that failed in the middle of its deltas stays told; the next one is told behind it.",
    ],
    documented: [],
    suite: "agents/copilot.e2e",
  },
  acp: {
    limits: [
      "A session cannot be forked, and is gone on with by its id alone: there is no `last`.",
      "Files and terminals of the client are not offered: the agent uses its own, and such a request is refused.",
      "Copilot CLI and codex-acp end a turn well where their provider failed; what they give away beside it makes it a failure. Gemini CLI and claude-agent-acp give nothing away: an answer that the provider broke off is told as one that is complete.",
      "Unless everything is allowed, codex-acp is put into its mode `read-only` before its first prompt, and refused where it has none: what its sandbox forbids fails without a question, and it asks about patches and about commands that the model wants to run outside the sandbox. OpenCode is told to ask about edits and commands.",
      "A turn that is cancelled may leave commands running, of codex-acp, OpenCode and Copilot CLI: which processes are that turn's own cannot be told from the agent's servers, so they are ended with the worker.",
      "Warnings of codex-acp are told as Status; those of claude-agent-acp come as words of the agent. Neither is in the final answer.",
      "OpenCode tells the tokens of a turn's last request alone: a budget of tokens counts the others of a turn as nothing.",
      "Gemini CLI prints no output of its shell over ACP, and tells nothing after a denied call: its result is told by us when the turn ends.",
    ],
    documented: [
      ...each("agent_message_chunk agent_thought_chunk user_message_chunk", (sessionUpdate) => ({
        jsonrpc: "2.0",
        method: "session/update",
        params: { sessionId: "s", update: { sessionUpdate, content: { type: "text", text: "x" } } },
      })),
      ...each("pending completed", (status) => ({
        jsonrpc: "2.0",
        method: "session/update",
        params: {
          sessionId: "s",
          update: { sessionUpdate: "tool_call", toolCallId: "t", title: "x", kind: "execute", status },
        },
      })),
      ...each("completed failed", (status) => ({
        jsonrpc: "2.0",
        method: "session/update",
        params: { sessionId: "s", update: { sessionUpdate: "tool_call_update", toolCallId: "t", status } },
      })),
      ...each(
        "plan usage_update session_info_update available_commands_update current_mode_update config_option_update",
        (sessionUpdate) => ({
          jsonrpc: "2.0",
          method: "session/update",
          params: { sessionId: "s", update: { sessionUpdate } },
        }),
      ),
      {
        jsonrpc: "2.0",
        id: 1,
        method: "session/request_permission",
        params: {
          sessionId: "s",
          toolCall: { toolCallId: "t", title: "x" },
          options: [{ optionId: "o", kind: "allow_once", name: "x" }],
        },
      },
      ...each("fs/read_text_file terminal/create", (method) => ({
        jsonrpc: "2.0",
        id: 2,
        method,
        params: {},
      })),
    ],
    suite: "agents/acp.e2e",
  },
};
