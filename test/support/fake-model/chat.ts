/** OpenAI's Chat Completions (`POST /v1/chat/completions`), as OpenCode and Copilot CLI speak it to other providers. */
import {
  type Ask,
  type Dialect,
  deltas,
  type FailedReply,
  type Failure,
  isBroken,
  newId,
  type Reply,
  type ServerEvent,
  type Tool,
  textOf,
  USAGE,
  unnamed,
} from "./dialect.ts";
import { FAILURES, error as openaiError } from "./responses.ts";

interface Body {
  readonly model?: string;
  readonly stream?: boolean;
  readonly messages?: readonly { readonly role?: string; readonly content?: unknown }[];
  readonly tools?: readonly {
    readonly function?: { readonly name: string; readonly parameters?: Tool["schema"] };
  }[];
}

/** Copilot puts the time of day before each prompt, and Qwen Code reminders before some. */
const ADDED = /<(current_datetime|system-reminder)>.*?<\/\1>/gs;

const read = ({ model = "fake-model", stream = false, messages = [], tools = [] }: Body): Ask => {
  const prompts: string[] = [];
  let round = 0;
  let results: string[] = [];
  for (const { role, content } of messages) {
    if (role === "tool") {
      if (results.length === 0) round += 1;
      results.push(textOf(content));
      continue;
    }
    results = [];
    if (role !== "user") continue;
    // Qwen Code joins a prompt that was not answered and the next one to a message of two parts.
    for (const part of Array.isArray(content) ? content : [content]) {
      const text = textOf(typeof part === "string" ? part : [part])
        .replace(ADDED, "")
        .trim();
      if (text !== "") prompts.push(text);
    }
    round = 0;
  }
  return {
    prompts,
    round,
    results,
    tools: tools.flatMap(({ function: tool }) =>
      tool === undefined ? [] : [{ name: tool.name, schema: tool.parameters }],
    ),
    model,
    stream,
  };
};

const FINISH: Partial<Record<Reply["end"], string>> = { max_tokens: "length", refusal: "content_filter" };

const finishOf = ({ blocks, end }: Reply): string =>
  FINISH[end] ?? (blocks.some(({ kind }) => kind === "call") ? "tool_calls" : "stop");

const usage = {
  prompt_tokens: USAGE.input,
  completion_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.output,
  prompt_tokens_details: { cached_tokens: USAGE.cached },
  completion_tokens_details: { reasoning_tokens: 0 },
};

const callsOf = ({ blocks }: Reply) =>
  blocks
    .flatMap((block) => (block.kind === "call" ? [block] : []))
    .map(({ name, input }, index) => ({
      index,
      id: newId("call"),
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));

const joined = ({ blocks }: Reply, kind: "text" | "thinking"): string =>
  blocks.flatMap((block) => (block.kind === kind ? [block.text] : [])).join("\n");

const base = (model: string, object: string) => ({
  id: newId("chatcmpl"),
  object,
  created: 0,
  model,
});

function* events(reply: Reply, model: string): Generator<ServerEvent> {
  const start = base(model, "chat.completion.chunk");
  const chunk = (delta: object, finish_reason: string | null = null): ServerEvent => ({
    ...start,
    choices: [{ index: 0, delta, finish_reason }],
  });
  yield chunk({ role: "assistant", content: "" });
  for (const reasoning_content of deltas(joined(reply, "thinking"))) yield chunk({ reasoning_content });
  for (const content of deltas(joined(reply, "text"))) yield chunk({ content });
  for (const call of callsOf(reply)) {
    yield chunk({ tool_calls: [{ ...call, function: { name: call.function.name, arguments: "" } }] });
    for (const part of deltas(call.function.arguments))
      yield chunk({ tool_calls: [{ index: call.index, function: { arguments: part } }] });
  }
  if (isBroken(reply.end)) return;
  yield chunk({}, finishOf(reply));
  yield { ...start, choices: [], usage };
}

const whole = (reply: Reply, model: string) => ({
  ...base(model, "chat.completion"),
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: joined(reply, "text"), tool_calls: callsOf(reply) },
      finish_reason: finishOf(reply),
    },
  ],
  usage,
});

const failed = (status: number, failure: Failure): FailedReply => ({
  status,
  body: { error: { ...FAILURES[failure], type: "invalid_request_error", param: null } },
});

const failures: Readonly<Record<Failure, FailedReply>> = {
  overflow: failed(400, "overflow"),
  quota: failed(429, "quota"),
  nomodel: failed(404, "nomodel"),
};

export const chat: Dialect = { read, events, whole, error: openaiError, failures, frame: unnamed };
