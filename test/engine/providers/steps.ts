/** One step of a model in tests: a provider at a URL, and all that came of a request to it. */
import { inspect } from "node:util";
import type { ModelError, ModelPart, ModelRequest, ToolSpec } from "../../../src/engine/model.ts";
import { providersOf } from "../../../src/engine/providers/provider.ts";
import { makeSdkModel } from "../../../src/engine/providers/sdk-model.ts";
import { secretsOf } from "../../../src/engine/secrets.ts";

export const DIALECTS = ["anthropic", "openai"] as const;
type TestDialect = (typeof DIALECTS)[number];

export const KEY = "sk-fake-0123456789-abcdefghij";

export const BASH: ToolSpec = {
  name: "bash",
  description: "Runs a command.",
  input_schema: {
    type: "object",
    properties: { command: { type: "string" } },
    required: ["command"],
    additionalProperties: false,
  },
  is_idempotent: false,
  may_overlap: false,
};

type Finished = Extract<ModelPart, { type: "finished" }>;

interface Step {
  readonly text: string;
  readonly reasoning: string;
  /** Pieces of text and reasoning. */
  readonly deltas: number;
  readonly finished: Finished | undefined;
  readonly error: ModelError | undefined;
}

interface StepOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly silence_ms?: number;
  readonly onPart?: (part: ModelPart) => void;
}

/** `url` without a version, as in ANTHROPIC_BASE_URL. Fails if anything of an error shows the key. */
export const stepOf = async (
  dialect: TestDialect,
  url: string,
  request: Partial<ModelRequest> = {},
  { env: more = {}, signal = new AbortController().signal, silence_ms, onPart }: StepOptions = {},
): Promise<Step> => {
  const env = {
    ANTHROPIC_BASE_URL: url,
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_API_KEY: KEY,
    OPENAI_API_KEY: KEY,
    ...more,
  };
  const model = makeSdkModel({
    providers: providersOf({}, env),
    secrets: secretsOf(env),
    now: () => Date.parse("2026-01-01T00:00:00Z"),
    ...(silence_ms !== undefined && { silence_ms }),
  });
  let [text, reasoning, deltas] = ["", "", 0];
  let finished: Finished | undefined;
  const asked: ModelRequest = {
    model: `${dialect}/fake-1`,
    messages: [{ role: "user", text: "Hello." }],
    tools: [BASH],
    ...request,
  };
  try {
    for await (const part of model.stream(asked, signal)) {
      onPart?.(part);
      if (part.type === "finished") finished = part;
      else deltas += 1;
      if (part.type === "text") text += part.text;
      if (part.type === "reasoning") reasoning += part.text;
    }
    return { text, reasoning, deltas, finished, error: undefined };
  } catch (cause) {
    if (inspect(cause, { depth: 20, showHidden: true }).includes(KEY))
      throw new Error("an error shows the key");
    return { text, reasoning, deltas, finished, error: cause as ModelError };
  }
};
