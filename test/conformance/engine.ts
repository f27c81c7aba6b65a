/**
 * The engine side of the runtime document, and the stories that every kind of agent goes through, as kind `llm` goes through
 * them. A story that cannot be told of it says why.
 */
import type { Contract } from "./contract.ts";

const scenarios = "engine/scenarios.e2e";
const lives = "engine/lives.e2e";
const child = "engine/child.e2e";
const tools = "engine/tools.e2e";
const crashes = "chaos/engine.chaos";

const answered = "%s is answered, character by character";
const failed = "%s fails with %s, in the catalogue's words";
const once = "%s is asked once more, and only the whole answer counts";

const sentences: Contract["sentences"] = {
  "Engine layer": [
    {
      says: "calls of a model, behind a port (`runner.Model`)",
      done: ["Model", "engine/model"],
      held: ["streams text in pieces, and counts its tokens", "engine/providers/scenarios.int"],
    },
    {
      says: "the loop of tool calls, behind a port (`engine.AgentEngine`)",
      done: ["AgentEngine", "engine/engine"],
      held: [
        "is a message, answers and calls in turn, and an end with the text and all usage",
        "engine/native.unit",
      ],
    },
    {
      says: "an engine is replaced by another one: two pass one suite",
      done: ["engineConformance", "engine/engine-conformance"],
      held: ["has its lacks in the titles of its cases", "engine/conformance.unit"],
    },
    {
      says: "the engine runs in a program too, and its runtime passes the suite of all runtimes",
      done: ["engineRuntime", "library/engine-runtime"],
      held: ["have their lacks in the titles of the cases", "library/engine-runtime.int"],
    },
    {
      says: "a conversation in a program goes on in the next program",
      done: ["fileJournals", "engine/journals"],
      held: ["a conversation goes on in the next program, in its session", "library/engine.e2e"],
    },
    {
      says: "tools are run by the runtime's own policy (`engine.ToolExecutor`)",
      done: ["ToolExecutor", "engine/tools"],
      held: ["cannot leave the workspace, and the model learns why", tools],
    },
    {
      says: "tokens are counted, each once",
      done: ["tokensOf", "engine/providers/usage"],
      held: ["counts tokens in one meaning, and none twice", scenarios],
    },
  ],
  Answers: [
    {
      says: "text, and thoughts on a channel of their own",
      done: ["AnswerBuilder", "engine/providers/answer"],
      held: [answered, scenarios],
    },
    {
      says: "several calls of one answer",
      done: ["AnswerBuilder", "engine/providers/answer"],
      held: [
        "runs each of three calls of one answer, and gives their results in the order of the calls",
        scenarios,
      ],
    },
    {
      says: "five rounds of tools; an unknown tool; nothing after a tool; thoughts alone",
      done: ["AnswerBuilder", "engine/providers/answer"],
      held: [answered, scenarios],
    },
    {
      says: "3 MB of text",
      done: ["AnswerBuilder", "engine/providers/answer"],
      held: ["brings 3 MB of text, every byte of them", scenarios],
    },
    {
      says: "right-to-left text, ZWJ, BOM, U+2028, ESC, NUL, CRLF, blanks at the ends",
      done: ["AnswerBuilder", "engine/providers/answer"],
      held: [answered, scenarios],
    },
    {
      says: "an answer that looks like lines of the engine",
      done: ["AnswerBuilder", "engine/providers/answer"],
      held: [answered, scenarios],
    },
    {
      says: "3 MB of a tool's output, 100 KB of arguments, a picture",
      done: ["AnswerBuilder", "engine/providers/answer"],
      held: [
        "takes arguments of 100 KB whole, cuts an output of 3 MB, and names what it cannot show",
        scenarios,
      ],
    },
    {
      says: "processes that a tool leaves behind, and bytes that are no text",
      apart:
        "no tool of the engine is a process of its run: a skill runs in a worker of its own, with its own sweep",
    },
  ],
  Failures: [
    {
      says: "401 and 403, 404, an overflow, a quota, an unknown model",
      done: ["modelErrorOf", "engine/providers/errors"],
      held: [failed, scenarios],
    },
    {
      says: "429 for ever, 529, a page of HTML, a reset, no JSON: typed, after a bounded number of tries",
      done: ["modelErrorOf", "engine/providers/errors"],
      held: [failed, scenarios],
    },
    {
      says: "429 with retry-after, a line that drops or makes no sense, once: the answer counts once",
      done: ["modelErrorOf", "engine/providers/errors"],
      held: [once, scenarios],
    },
    {
      says: "500 after a tool",
      done: ["modelErrorOf", "engine/providers/errors"],
      held: [failed, scenarios],
    },
    {
      says: "a limit that resets later than a turn can wait: the worker waits, uncounted",
      done: ["modelErrorOf", "engine/providers/errors"],
      held: ["waits for the provider's limit, uncounted, until the time that the provider says", scenarios],
    },
    {
      says: "a failure that no restart can mend ends the worker at once",
      done: ["modelErrorOf", "engine/providers/errors"],
      held: [
        "ends the worker at once if no restart can mend it, and the command has the code of the provider's error",
        scenarios,
      ],
    },
  ],
  "Kills and daemons": [
    {
      says: "killed in a tool and in the middle of an answer, it goes on",
      done: ["next", "engine/next"],
      held: [
        "under a daemon, the usage of a turn is on record once, at whatever point its engine was killed",
        crashes,
      ],
    },
    {
      says: "killed between two turns, it goes on in its session",
      done: ["next", "engine/next"],
      held: ["killed between two turns of a conversation, it has failed, and goes on in its session", lives],
    },
    {
      says: "its daemon is killed while a tool waits, before and after an answer",
      done: ["next", "engine/next"],
      held: ["asks on while its daemon is killed before and after the answer, and pays once", lives],
    },
    {
      says: "three that continue one session at once",
      done: ["next", "engine/next"],
      held: ["of three that continue a session at once one wins, and the others are told whose it is", lives],
    },
    {
      says: "a branch",
      done: ["next", "engine/next"],
      held: ["asks, answers, is branched and continued, and ends with its input", child],
    },
  ],
  "Prompts, messages, permissions": [
    {
      says: "prompts that look like flags, commands or files",
      apart: "a prompt is a value of JSON: no command line has it",
    },
    {
      says: "a message of 49 KB with a NUL and U+2028; one of 70 KB is refused",
      done: ["EngineInbox", "engine/inbox"],
      held: ["takes a message of 49 KB with a NUL and separators whole, and refuses one of 70 KB", lives],
    },
    {
      says: "four messages while it is busy",
      done: ["EngineInbox", "engine/inbox"],
      held: ["answers each of four messages that came while it was busy, in their order", lives],
    },
    {
      says: "a cancel in a tool, and the talk goes on",
      done: ["EngineInbox", "engine/inbox"],
      held: ["is interrupted by a cancel, and goes on with the next message", child],
    },
    {
      says: "a permission is given, or denied with a reason that reaches the model",
      done: ["EngineInbox", "engine/inbox"],
      held: ["waits for a person who is asked: %s", tools],
    },
    {
      says: "killed while it asks; the late answer is refused",
      done: ["EngineInbox", "engine/inbox"],
      held: [
        "killed while it asks, it asks again, and the answer to the first request comes too late",
        lives,
      ],
    },
    { says: "a deadline of a permission", apart: "the runtime decides it for every kind alike" },
    {
      says: "a bound of answers in a turn",
      done: ["EngineInbox", "engine/inbox"],
      held: ["ends with MAX_TURNS at the bound of its steps", "engine/native.unit"],
    },
    {
      says: "a tool of an MCP server",
      done: ["EngineInbox", "engine/inbox"],
      held: ["that only reads, of a trusted server, needs no permission", tools],
    },
    { says: "a sub-agent", apart: "the engine has none of its own: a worker may spawn workers" },
    { says: "a worktree and a sandbox", apart: "the runtime makes them for every kind alike" },
  ],
};

export const ENGINE: Contract = {
  title: "Runtime architecture: the engine",
  intro:
    "The engine of Holdfast ([engine.md](../explanation/engine.md)), in the document's terms, and beside them the stories of all kinds of agents, in both dialects of providers.",
  sentences,
  deviations: [
    "**A skill is a worker of its own**: what it leaves behind, and what its sandbox allows, is the runtime's matter and not the engine's.",
  ],
};
