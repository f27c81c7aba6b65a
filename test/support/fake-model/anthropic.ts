/** Anthropic's Messages API (`POST /v1/messages`), as Claude Code speaks it: its streamed and its whole form. */
import {
  type Ask,
  type Block,
  type Dialect,
  deltas,
  type FailedReply,
  type Failure,
  isBroken,
  named,
  newId,
  type Reply,
  type ServerEvent,
  type Tool,
  textOf,
  USAGE,
} from "./dialect.ts";

interface Content {
  readonly type?: string;
  readonly content?: unknown;
}

interface Body {
  readonly model?: string;
  readonly stream?: boolean;
  readonly messages?: readonly { readonly role?: string; readonly content?: string | readonly Content[] }[];
  readonly tools?: readonly { readonly name: string; readonly input_schema?: Tool["schema"] }[];
}

const resultsOf = (content: string | readonly Content[] | undefined): readonly string[] =>
  typeof content === "object"
    ? content.filter(({ type }) => type === "tool_result").map((each) => textOf(each.content))
    : [];

/** Text blocks of a message, without the reminders that the CLI puts around a prompt. */
const promptOf = (content: string | readonly Content[] | undefined): string =>
  textOf(content)
    .replace(/<system-reminder>.*?<\/system-reminder>/gs, "")
    .trim();

/** The text that Claude Code writes behind the result of a tool that was cancelled; the next prompt then stands in the same message. */
const INTERRUPTED = "[Request interrupted by user";

const read = ({ model = "fake-model", stream = false, messages = [], tools = [] }: Body): Ask => {
  const prompts: string[] = [];
  let round = 0;
  let results: readonly string[] = [];
  for (const { role, content } of messages) {
    if (role !== "user") continue;
    results = resultsOf(content);
    const prompt = promptOf(content);
    if (results.length > 0 && !prompt.includes(INTERRUPTED)) round += 1;
    else if (prompt !== "") {
      prompts.push(prompt);
      round = 0;
    }
  }
  return {
    prompts,
    round,
    results,
    tools: tools.map(({ name, input_schema }) => ({ name, schema: input_schema })),
    model,
    stream,
  };
};

const stopReason = ({ blocks, end }: Reply): string => {
  if (end !== "stop") return end;
  return blocks.some(({ kind }) => kind === "call") ? "tool_use" : "end_turn";
};

const message = (model: string) => ({
  id: newId("msg"),
  type: "message",
  role: "assistant",
  model,
  content: [] as unknown[],
  stop_reason: null as string | null,
  stop_sequence: null,
  usage: {
    input_tokens: USAGE.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: USAGE.cached,
    output_tokens: 1,
  },
});

const SIGNATURE = "ZmFrZQ==";

const contentOf = (block: Block) => {
  switch (block.kind) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return { type: "thinking", thinking: block.text, signature: SIGNATURE };
    case "call":
      return { type: "tool_use", id: newId("toolu"), name: block.name, input: block.input };
  }
};

/** The empty block that begins a stream, and the deltas that fill it. */
const streamOf = (block: Block): readonly [object, Iterable<object>] => {
  const content = contentOf(block);
  switch (block.kind) {
    case "text":
      return [{ ...content, text: "" }, deltas(block.text).map((text) => ({ type: "text_delta", text }))];
    case "thinking":
      return [
        { ...content, thinking: "", signature: "" },
        [
          ...deltas(block.text).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: SIGNATURE },
        ],
      ];
    case "call":
      return [
        { ...content, input: {} },
        deltas(JSON.stringify(block.input)).map((partial_json) => ({
          type: "input_json_delta",
          partial_json,
        })),
      ];
  }
};

function* events(reply: Reply, model: string): Generator<ServerEvent> {
  yield { type: "message_start", message: message(model) };
  for (const [index, block] of reply.blocks.entries()) {
    const [content_block, filling] = streamOf(block);
    yield { type: "content_block_start", index, content_block };
    for (const delta of filling) yield { type: "content_block_delta", index, delta };
    if (isBroken(reply.end) && index === reply.blocks.length - 1) return;
    yield { type: "content_block_stop", index };
  }
  yield {
    type: "message_delta",
    delta: { stop_reason: stopReason(reply), stop_sequence: null },
    usage: { output_tokens: USAGE.output },
  };
  yield { type: "message_stop" };
}

const whole = (reply: Reply, model: string) => {
  const empty = message(model);
  return {
    ...empty,
    content: reply.blocks.map(contentOf),
    stop_reason: stopReason(reply),
    usage: { ...empty.usage, output_tokens: USAGE.output },
  };
};

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

const error = (status: number) => ({
  type: "error",
  error: { type: ERROR_TYPES[status] ?? "api_error", message: `fake error ${status}` },
  request_id: newId("req"),
});

const failed = (status: number, type: string, message: string): FailedReply => ({
  status,
  body: { type: "error", error: { type, message }, request_id: newId("req") },
});

const failures: Readonly<Record<Failure, FailedReply>> = {
  overflow: failed(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
  quota: failed(429, "rate_limit_error", "This request would exceed your organization's rate limit."),
  nomodel: failed(404, "not_found_error", "model: gpt-x"),
};

export const anthropic: Dialect = { read, events, whole, error, failures, frame: named };
