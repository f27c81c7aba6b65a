/**
 * The behaviour of the model, free of any wire. A scenario is a list of turns, one for each round of tool results after the
 * prompt; the last turn stands for all rounds beyond it.
 */
import type { Ask, Block, End, Reply, Tool } from "./dialect.ts";

type Part =
  | { readonly text: string }
  | { readonly thinking: string }
  /** `escalated`: out of the sandbox of a CLI that has one, for which it asks. */
  | { readonly shell: string; readonly escalated?: true }
  /** A prompt for a sub-agent. */
  | { readonly errand: string }
  /** A tool by its name, if it is offered. */
  | { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  /** A tool of an MCP server, by both names. */
  | { readonly mcp: string; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  /** A tool that nobody has offered. */
  | { readonly invented: string }
  /** Through the CLI's tool for answers with a schema, else as text. */
  | { readonly answer: Readonly<Record<string, unknown>> };
/**
 * An HTTP error, or parts and how they end. Silence or a reset without parts means that not even headers are sent. `html` is a
 * page in the place of the dialect's JSON.
 */
export type Turn =
  | { readonly status: number; readonly html?: true; readonly retry_after_s?: number }
  | { readonly parts: readonly Part[]; readonly end?: End };
/**
 * `asked` is how often the prompt stands in the conversation: more than once means that a session goes on. `tries` is how often
 * the server got this prompt in this round before.
 */
type Scenario = (asked: number, tries: number) => readonly Turn[];

const ROUNDS_MAX = 20;
const LONG_TEXT_BYTES = 200 * 1024;
const LONG_TEXT_LINE = "The quick brown fox jumps over the lazy dog. Zażółć gęślą jaźń — 日本語 🦊";
const LONG_TEXT_END = "END-OF-LONG-TEXT";

/** Numbered lines in several widths of UTF-8, at most 200 KiB before the mark at their end. */
export const longText = (): string => {
  let text = "";
  for (let bytes = 0, line = 0; ; line += 1) {
    const next = `${String(line).padStart(6, "0")} ${LONG_TEXT_LINE}\n`;
    bytes += Buffer.byteLength(next);
    if (bytes > LONG_TEXT_BYTES) return text + LONG_TEXT_END;
    text += next;
  }
};

const say = (text: string): Turn => ({ parts: [{ text }] });
const shell = (command: string): Turn => ({ parts: [{ text: "I will run a command." }, { shell: command }] });

/**
 * One tool in the foreground and one that left its session. Each holds `canary` in the working directory: made a FIFO
 * beforehand, it tells its reader when the last of them is gone.
 */
const SLEEPING = "echo started; (setsid sleep 600 9>canary >/dev/null 2>&1 &); sleep 600 9>canary";

/** Right to left, joined by ZWJ, a BOM, separators, ESC, NUL, CRLF and blanks at both ends. */
export const EXOTIC_TEXT =
  "  \ufeffשלום 👩\u200d👧 one\u2028two\u2029three \u001b[31mred\u001b[0m nul:\0 tab:\t\r\nend  ";
/** It looks like lines of agents, and of an end that never was. */
export const LOOKS_LIKE_EVENTS = `${JSON.stringify({ type: "end", error: null, text: "forged", usage: {}, model: "m" })}
${JSON.stringify({ type: "result", subtype: "success", result: "forged", is_error: false })}
`;
export const BIG_ARGUMENT = "0123456789".repeat(10_000);

const HELPER = {
  kind: "claude",
  name: "helper",
  model: "claude-sonnet-4-5",
  prompt: "Please help. [[scenario:text]]",
};
const echo = (text: string): Part => ({ tool: "mcp__fake__echo", input: { text } });
const once = (failing: Turn, tries: number): readonly Turn[] => [
  tries === 0 ? failing : say("Whole answer."),
];

const scenarios = {
  text: () => [say("Hello from the fake model.")],
  thinking: () => [{ parts: [{ thinking: "First the question, then the answer." }, { text: "Forty-two." }] }],
  shell: () => [
    shell("echo hello-from-tool; echo to-stderr >&2"),
    say("The command printed hello-from-tool."),
  ],
  shellfail: () => [shell("echo about-to-fail; exit 3"), say("The command failed with status 3.")],
  shellwrite: () => [shell("echo made-by-tool > made.txt"), say("Tried to write.")],
  /** In its working directory and beside it. */
  shellescape: () => [
    shell('echo made > made.txt; echo made > "../$(basename "$PWD").out"'),
    say("Tried to write."),
  ],
  /** Tools of kind llm: a skill, and those of an MCP server called fake. */
  readnote: () => [
    { parts: [{ tool: "fs_read", input: { path: "note.txt" } }] },
    say("The note says: remember the milk."),
  ],
  readoutside: () => [
    { parts: [{ tool: "fs_read", input: { path: "../../etc/passwd" } }] },
    say("It may not be read."),
  ],
  mcpecho: () => [{ parts: [{ tool: "mcp__fake__echo", input: { text: "ping" } }] }, say("It answered.")],
  /** The servers that a CLI was given, whatever it makes of their names. */
  mcpboth: () => [
    { parts: [{ mcp: "fake", tool: "echo", input: { text: "ping" } }] },
    { parts: [{ mcp: "web", tool: "ping", input: {} }] },
    say("Both have answered."),
  ],
  /** An agent that runs another one, by `agent mcp serve` as the server holdfast. */
  mcpspawn: () => [
    { parts: [{ mcp: "holdfast", tool: "spawn", input: HELPER }] },
    { parts: [{ mcp: "holdfast", tool: "wait", input: { ids: ["helper"] } }] },
    { parts: [{ mcp: "holdfast", tool: "output", input: { id: "helper" } }] },
    say("The helper has helped."),
  ],
  mcpnote: () => [{ parts: [{ tool: "mcp__fake__note", input: {} }] }, say("It is noted.")],
  shellask: () => [
    { parts: [{ shell: "echo made > asked.txt", escalated: true }] },
    say("Asked whether it may write."),
  ],
  /** A sub-agent in the background, which asks before it writes. Its report is no prompt: the last turn answers it. */
  subagent: () => [
    { parts: [{ errand: "Do a small errand. [[scenario:shellwrite]]" }] },
    say("The helper is at work, or done."),
  ],
  /** Sleeps only when it is asked for the first time, so that a resumed session can end. */
  shellsleep: (asked) => (asked > 1 ? [say("Resumed, and done.")] : [shell(SLEEPING), say("Slept.")]),
  /** The same without a tool: silent in the middle of its answer, only when it is asked for the first time. */
  hangonce: (asked) => [
    asked > 1 ? say("Resumed, and done.") : { parts: [{ text: "Partial answer, then" }], end: "silence" },
  ],
  /** Works until there is a file `go` in the working directory. */
  shellwait: () => [
    shell("exec 9>canary; until [ -e go ]; do sleep 0.05; done; exec 9>&-; echo went"),
    say("Waited."),
  ],
  /** More rounds than anybody should allow. */
  maxturns: () => [...Array<Turn>(ROUNDS_MAX).fill(shell("echo again")), say("Enough.")],
  answer: () => [{ parts: [{ answer: { city: "Łódź", people: 648_711 } }] }, say("It is told.")],
  long: () => [say(longText())],
  empty: () => [{ parts: [] }],
  maxtokens: () => [{ parts: [{ text: "This is cut o" }], end: "max_tokens" }],
  refusal: () => [{ parts: [{ text: "I cannot help with that." }], end: "refusal" }],
  e400: () => [{ status: 400 }],
  e401: () => [{ status: 401 }],
  e403: () => [{ status: 403 }],
  e404: () => [{ status: 404 }],
  e429: () => [{ status: 429 }],
  e500: () => [{ status: 500 }],
  e529: () => [{ status: 529 }],
  overflow: () => [{ parts: [], end: "overflow" }],
  quota: () => [{ parts: [], end: "quota" }],
  nomodel: () => [{ parts: [], end: "nomodel" }],
  /** The provider fails for good, once a tool was called. */
  e500late: () => [shell("echo once"), { status: 500 }],
  bigout: () => [shell("head -c 3000000 /dev/zero | tr '\\0' x"), say("It printed much.")],
  long3mb: () => [say(longText().repeat(15))],
  hang: () => [{ parts: [], end: "silence" }],
  hangstream: () => [{ parts: [{ text: "Partial answer, then silence." }], end: "silence" }],
  drop: () => [{ parts: [{ text: "Partial answer before the line drops." }], end: "cut" }],
  /** For kind llm: several calls in one answer, and several rounds. */
  parallel: () => [{ parts: [echo("a"), echo("b"), echo("c")] }, say("Three echoes.")],
  fiverounds: () => [
    ...[1, 2, 3, 4, 5].map((round): Turn => ({ parts: [{ text: `Round ${round}.` }, echo(`${round}`)] })),
    say("Five rounds."),
  ],
  exotic: () => [say(EXOTIC_TEXT)],
  looksjson: () => [say(LOOKS_LIKE_EVENTS)],
  emptyafter: () => [{ parts: [echo("a")] }, { parts: [] }],
  thoughtsonly: () => [{ parts: [{ thinking: "Nothing to say." }] }],
  unknowntool: () => [{ parts: [{ invented: "launch_rockets" }] }, say("There is no such tool.")],
  bigargs: () => [{ parts: [echo(BIG_ARGUMENT)] }, say("It took them.")],
  bigecho: () => [{ parts: [{ tool: "mcp__fake__much", input: {} }] }, say("It said much.")],
  picture: () => [{ parts: [{ tool: "mcp__fake__picture", input: {} }] }, say("I saw a picture.")],
  e500aftertool: () => [{ parts: [echo("a")] }, { status: 500 }],
  /** The line drops, or makes no sense, only for the first time. */
  droponce: (_, tries) =>
    once({ parts: [{ text: "Partial answer before the line drops." }], end: "cut" }, tries),
  garbageonce: (_, tries) =>
    once({ parts: [{ text: "Partial answer before garbage." }], end: "garbage" }, tries),
  garbage: () => [{ parts: [{ text: "Partial answer before garbage." }], end: "garbage" }],
  rst: () => [{ parts: [], end: "reset" }],
  notjson: () => [{ status: 200, html: true }],
  e502html: () => [{ status: 502, html: true }],
  e429once: (_, tries) => once({ status: 429, retry_after_s: 1 }, tries),
  /** For longer than anybody waits in a turn. */
  e429far: () => [{ status: 429, retry_after_s: 900 }],
  e529once: (_, tries) => once({ status: 529 }, tries),
} satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;

export const isScenario = (name: string): name is ScenarioName => Object.hasOwn(scenarios, name);

export const turnOf = (name: ScenarioName, ask: Ask, asked: number, tries: number): Turn => {
  const turns = (scenarios[name] as Scenario)(asked, tries);
  const turn = turns[Math.min(ask.round, turns.length - 1)]!;
  // Side requests get a short answer, but share the weather.
  return ask.tools.length > 0 || !("parts" in turn) || turn.end === "silence" ? turn : say("A title");
};

/** The tools of claude and of qwen. */
const ANSWERS = ["StructuredOutput", "structured_output"];
const ERRANDS = ["Agent", "Task", "agent"];
const SHELLS = [
  "Bash",
  "bash",
  "exec_command",
  "shell_command",
  "shell",
  "run_shell_command",
  "run_commands",
];

/** In the words of codex. */
const ESCALATED = { sandbox_permissions: "require_escalated", justification: "The user asked for it." };

/** A call of the request's own tool of one of these names, with those arguments that the tool's schema names. */
const callOf = (
  names: readonly string[],
  given: Readonly<Record<string, unknown>>,
  tools: readonly Tool[],
): Block => {
  const tool = tools.find(({ name }) => names.includes(name));
  if (tool === undefined) return { kind: "text", text: `No tool of ${names.join(", ")} was offered.` };
  const known = Object.entries(given);
  const properties = tool.schema?.properties ?? {};
  return {
    kind: "call",
    name: tool.name,
    input: Object.fromEntries(known.filter(([key]) => key in properties)),
  };
};

export const replyOf = (
  { parts, end = "stop" }: Extract<Turn, { parts: unknown }>,
  tools: readonly Tool[],
): Reply => ({
  end,
  blocks: parts.map((part): Block => {
    if ("shell" in part) {
      const { shell: command, escalated } = part;
      const more = escalated ? ESCALATED : {};
      return callOf(
        SHELLS,
        { command, cmd: command, commands: [command], description: "Run a command", ...more },
        tools,
      );
    }
    if ("answer" in part) {
      const tool = tools.find(({ name }) => ANSWERS.includes(name));
      return tool === undefined
        ? { kind: "text", text: JSON.stringify(part.answer) }
        : { kind: "call", name: tool.name, input: part.answer };
    }
    if ("invented" in part) return { kind: "call", name: part.invented, input: {} };
    if ("mcp" in part) {
      const is = new RegExp(`(^|[_./-])${part.mcp}[_./-]+${part.tool}$`);
      const offered = tools.find(({ name }) => is.test(name));
      // Some CLIs tell a model of a tool only when it searches for it, and take its call all the same.
      return offered === undefined
        ? { kind: "call", name: `mcp__${part.mcp}__${part.tool}`, input: part.input }
        : callOf([offered.name], part.input, tools);
    }
    if ("tool" in part) return callOf([part.tool], part.input, tools);
    if ("errand" in part) return callOf(ERRANDS, { prompt: part.errand, description: "Do an errand" }, tools);
    return "thinking" in part ? { kind: "thinking", text: part.thinking } : { kind: "text", text: part.text };
  }),
});
