/** Google's generateContent (`POST /v1beta/models/MODEL:streamGenerateContent`), as Gemini CLI speaks it. */
import {
  type Ask,
  type Block,
  type Dialect,
  deltas,
  isBroken,
  newId,
  type Reply,
  type ServerEvent,
  type Tool,
  USAGE,
  unnamed,
} from "./dialect.ts";

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly functionResponse?: { readonly response?: { readonly output?: unknown; readonly error?: unknown } };
}

interface Body {
  readonly contents?: readonly { readonly role?: string; readonly parts?: readonly Part[] }[];
  readonly tools?: readonly {
    readonly functionDeclarations?: readonly {
      readonly name: string;
      readonly parameters?: Tool["schema"];
      readonly parametersJsonSchema?: Tool["schema"];
    }[];
  }[];
}

const PATH = /^\/v1(?:beta|alpha)?\/models\/([^/:]+):(stream)?[gG]enerateContent$/;

export const isGemini = (path: string): boolean => PATH.test(path);

const resultsOf = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap(({ functionResponse }) =>
    functionResponse === undefined ? [] : [JSON.stringify(functionResponse.response ?? {})],
  );

const read = ({ contents = [], tools = [] }: Body, path: string): Ask => {
  const [, model = "fake-model", stream] = PATH.exec(path) ?? [];
  const prompts: string[] = [];
  let round = 0;
  let results: readonly string[] = [];
  for (const { role, parts = [] } of contents) {
    if (role !== "user") continue;
    results = resultsOf(parts);
    if (results.length > 0) {
      round += 1;
      continue;
    }
    // The CLI puts what it knows of the machine into a message before the prompt's, or into a part of it.
    prompts.push(...parts.flatMap(({ text = "" }) => (text === "" ? [] : [text])));
    round = 0;
  }
  return {
    prompts,
    round,
    results,
    tools: tools
      .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
      .map(({ name, parameters, parametersJsonSchema }) => ({
        name,
        schema: parametersJsonSchema ?? parameters,
      })),
    model,
    stream: stream !== undefined,
  };
};

const partsOf = (block: Block): readonly object[] => {
  switch (block.kind) {
    case "text":
      return deltas(block.text).map((text) => ({ text }));
    case "thinking":
      return [{ text: `**Considering**\n${block.text}`, thought: true }];
    case "call":
      return [{ functionCall: { name: block.name, args: block.input }, thoughtSignature: "ZmFrZQ==" }];
  }
};

const FINISH: Partial<Record<Reply["end"], string>> = { max_tokens: "MAX_TOKENS", refusal: "SAFETY" };

const chunk = (model: string, responseId: string, parts: readonly object[], finishReason?: string) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason ? { finishReason } : {}) }],
  usageMetadata: {
    promptTokenCount: USAGE.input,
    candidatesTokenCount: USAGE.output,
    cachedContentTokenCount: USAGE.cached,
    thoughtsTokenCount: 0,
    totalTokenCount: USAGE.input + USAGE.output,
  },
  modelVersion: model,
  responseId,
});

function* events(reply: Reply, model: string): Generator<ServerEvent> {
  const id = newId("resp");
  for (const block of reply.blocks) for (const part of partsOf(block)) yield chunk(model, id, [part]);
  if (!isBroken(reply.end)) yield chunk(model, id, [{ text: "" }], FINISH[reply.end] ?? "STOP");
}

const whole = (reply: Reply, model: string) =>
  chunk(model, newId("resp"), reply.blocks.flatMap(partsOf), FINISH[reply.end] ?? "STOP");

const STATUSES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

const error = (code: number) => ({
  error: { code, message: `fake error ${code}`, status: STATUSES[code] ?? "UNKNOWN" },
});

export const gemini: Dialect = { read, events, whole, error, frame: unnamed };
