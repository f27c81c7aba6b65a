/** OpenAI's Responses API (`POST /v1/responses`), as codex speaks it. */
import {
  type Ask,
  type Block,
  type Dialect,
  deltas,
  type End,
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

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
  readonly output?: unknown;
}

interface Body {
  readonly model?: string;
  readonly stream?: boolean;
  readonly input?: readonly Item[];
  readonly text?: { readonly format?: { readonly schema?: unknown } };
  readonly tools?: readonly Offer[];
}

interface Offer {
  readonly type?: string;
  readonly name?: string;
  readonly parameters?: Tool["schema"];
  /** The functions in a namespace. */
  readonly tools?: readonly Offer[];
}

/** A function of a namespace is called NAMESPACE/NAME here. */
const functionsOf = ({ type, name, parameters, tools = [] }: Offer): readonly Tool[] => {
  if (name === undefined) return [];
  if (type === "namespace")
    return tools.flatMap(functionsOf).map((tool) => ({ ...tool, name: `${name}/${tool.name}` }));
  return type === "function" ? [{ name, schema: parameters }] : [];
};

const isResult = ({ type = "" }: Item): boolean => type.endsWith("_output");
const resultOf = ({ output }: Item): string => (typeof output === "string" ? output : textOf(output));

const read = ({ model = "fake-model", stream = false, input = [], tools = [], text }: Body): Ask => {
  const prompts: string[] = [];
  let round = 0;
  let results: string[] = [];
  for (const item of input) {
    if (isResult(item)) {
      if (results.length === 0) round += 1;
      results.push(resultOf(item));
      continue;
    }
    results = [];
    if (item.role !== "user") continue;
    prompts.push(textOf(item.content));
    round = 0;
  }
  return {
    prompts,
    round,
    results,
    tools: tools.flatMap(functionsOf),
    model,
    stream,
    schema: text?.format?.schema,
  };
};

const response = (model: string) => ({
  id: newId("resp"),
  object: "response",
  created_at: 0,
  status: "in_progress",
  model,
  output: [] as readonly unknown[],
  error: null,
  incomplete_details: null as { reason: string } | null,
  usage: null as object | null,
});

const itemOf = (block: Block) => {
  switch (block.kind) {
    case "text":
      return {
        type: "message",
        id: newId("msg"),
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: block.text, annotations: [] }],
      };
    case "thinking":
      return { type: "reasoning", id: newId("rs"), summary: [{ type: "summary_text", text: block.text }] };
    case "call": {
      const [name, namespace] = block.name.split("/").reverse();
      return {
        type: "function_call",
        id: newId("fc"),
        call_id: newId("call"),
        ...{ name, namespace },
        arguments: JSON.stringify(block.input),
        status: "completed",
      };
    }
  }
};

/** The events of one item between `added` and `done`: codex reads the deltas of text, and whole items of the rest. */
function* filling(
  block: Block,
  place: { readonly item_id: string; readonly output_index: number },
): Generator<ServerEvent> {
  const at = { ...place, content_index: 0 };
  if (block.kind !== "text") return;
  const part = { type: "output_text", text: "", annotations: [] };
  yield { type: "response.content_part.added", ...at, part };
  for (const delta of deltas(block.text)) yield { type: "response.output_text.delta", ...at, delta };
}

function* stream(reply: Reply, model: string): Generator<ServerEvent> {
  const started = response(model);
  yield { type: "response.created", response: started };
  const output: object[] = [];
  for (const [output_index, block] of reply.blocks.entries()) {
    const item = itemOf(block);
    const empty = { ...item, status: "in_progress", ...("content" in item ? { content: [] } : {}) };
    yield { type: "response.output_item.added", output_index, item: empty };
    yield* filling(block, { item_id: item.id, output_index });
    if (isBroken(reply.end) && output_index === reply.blocks.length - 1) return;
    yield { type: "response.output_item.done", output_index, item };
    output.push(item);
  }
  const failure = (FAILURES as Partial<Record<End, object>>)[reply.end];
  if (failure !== undefined) {
    yield { type: "response.failed", response: { ...started, status: "failed", error: failure, output } };
    return;
  }
  yield { type: `response.${endOf(reply).status}`, response: { ...started, ...endOf(reply), output } };
}

/** In the words of both of OpenAI's APIs. */
export const FAILURES: Readonly<Record<Failure, { readonly code: string; readonly message: string }>> = {
  overflow: {
    code: "context_length_exceeded",
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
  },
  quota: {
    code: "insufficient_quota",
    message: "You exceeded your current quota, please check your plan and billing details.",
  },
  nomodel: {
    code: "model_not_found",
    message: "The model gpt-x does not exist or you do not have access to it.",
  },
};

const usage = {
  input_tokens: USAGE.input,
  input_tokens_details: { cached_tokens: USAGE.cached },
  output_tokens: USAGE.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: USAGE.input + USAGE.output,
};

const INCOMPLETE: Partial<Record<Reply["end"], string>> = {
  max_tokens: "max_output_tokens",
  refusal: "content_filter",
};

const endOf = ({ end }: Reply) => {
  const reason = INCOMPLETE[end];
  return reason === undefined
    ? { status: "completed", usage }
    : { status: "incomplete", incomplete_details: { reason }, usage };
};

function* events(reply: Reply, model: string): Generator<ServerEvent> {
  let sequence_number = 0;
  for (const event of stream(reply, model)) yield { ...event, sequence_number: sequence_number++ };
}

const whole = (reply: Reply, model: string) => ({
  ...response(model),
  ...endOf(reply),
  output: reply.blocks.map(itemOf),
});

const ERRORS: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  400: ["invalid_request_error", null],
  401: ["invalid_request_error", "invalid_api_key"],
  403: ["permission_error", null],
  404: ["invalid_request_error", "model_not_found"],
  429: ["rate_limit_error", "rate_limit_exceeded"],
};

/** As both of OpenAI's APIs write it. */
export const error = (status: number) => {
  const [type, code] = ERRORS[status] ?? ["server_error", null];
  return { error: { message: `fake error ${status}`, type, param: null, code } };
};

export const responses: Dialect = { read, events, whole, error, frame: named };
