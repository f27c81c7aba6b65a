/** The CLIs under test: how each is pointed at the fake model, kept quiet, and where it differs from the others. */
import { dirname } from "node:path";
import type { ErrorCode } from "../../src/protocol/errors.ts";
import { type AgentName, BINARIES } from "./install.ts";

/** The outcome of a run, and its exit code. */
type Ending = readonly [outcome: "completed" | ErrorCode, exit_code: number];

export interface AgentUnderTest {
  /** KIND of `agent spawn`. */
  readonly kind: AgentName;
  /** Variables of whoever runs `agent`. Keys are fake. */
  env(modelUrl: string): Readonly<Record<string, string>>;
  /** Files of its HOME. */
  files(modelUrl: string): Readonly<Record<string, string>>;
  /** Flags of `agent spawn`. */
  readonly flags: readonly string[];
  /** Flags of `agent spawn`, and arguments of the CLI itself, with which it may run the shell. */
  readonly allowed: { readonly flags: readonly string[]; readonly argv: readonly string[] };
  /** Whether it prints what the model thinks. */
  readonly thinks: boolean;
  /** Tokens that it tells of an answer of the fake model. */
  readonly output_tokens: number;
  /** Scenarios that end by themselves: if one is missing, the CLI asks the provider again for minutes. */
  readonly endings: Readonly<Partial<Record<"e401" | "e429" | "e500" | "maxtokens", Ending>>>;
}

export const FAKE_KEY = "sk-fake-0123456789";

const ENDINGS = {
  e401: ["TOKEN_INVALID", 1],
  e429: ["RATE_LIMITED", 1],
  e500: ["PROVIDER_ERROR", 1],
  maxtokens: ["OUTPUT_TOO_LARGE", 1],
} as const satisfies AgentUnderTest["endings"];
/** Some are scripts, for the node of their own PATH. */
export const NODE_PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;

const ALLOW = { flags: ["--permission", "allow"], argv: [] };

export const claude: AgentUnderTest = {
  kind: "claude",
  env: (modelUrl) => ({
    CLAUDE_BINARY: BINARIES.claude,
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: FAKE_KEY,
  }),
  files: () => ({}),
  flags: ["--model", "claude-sonnet-4-5", "--env", "CLAUDE_CODE_MAX_RETRIES=1"],
  // It refuses --permission allow to root, so the one tool is allowed by name.
  allowed: { flags: [], argv: ["--allowedTools", "Bash"] },
  thinks: true,
  output_tokens: 56,
  endings: ENDINGS,
};

export const codex: AgentUnderTest = {
  kind: "codex",
  env: () => ({ CODEX_BINARY: BINARIES.codex, FAKE_KEY }),
  files: (modelUrl) => ({
    ".codex/config.toml": `
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 1
stream_max_retries = 1
[features]
plugins = false
apps = false
`,
  }),
  // A model that it knows would be sent another set of tools.
  flags: ["--model", "fake-model", "--inherit-env", "FAKE_KEY"],
  allowed: ALLOW,
  thinks: true,
  output_tokens: 56,
  endings: ENDINGS,
};

export const gemini: AgentUnderTest = {
  kind: "gemini",
  env: (modelUrl) => ({
    PATH: NODE_PATH,
    GEMINI_BINARY: BINARIES.gemini,
    GEMINI_API_KEY: FAKE_KEY,
    GOOGLE_GEMINI_BASE_URL: modelUrl,
  }),
  files: () => ({
    ".gemini/settings.json": JSON.stringify({
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 2 },
      telemetry: { enabled: false },
    }),
  }),
  // Without a model it asks one which to ask.
  flags: ["--model", "gemini-2.5-flash"],
  allowed: ALLOW,
  thinks: false,
  output_tokens: 56,
  // The HTTP status modulo 256; and an answer that was cut off is a good one to it.
  endings: {
    e401: ["TOKEN_INVALID", 145],
    e429: ["RATE_LIMITED", 173],
    e500: ["PROVIDER_ERROR", 244],
    maxtokens: ["completed", 0],
  },
};

export const qwen: AgentUnderTest = {
  kind: "qwen",
  env: (modelUrl) => ({
    PATH: NODE_PATH,
    QWEN_BINARY: BINARIES.qwen,
    OPENAI_API_KEY: FAKE_KEY,
    OPENAI_BASE_URL: `${modelUrl}/v1`,
  }),
  files: () => ({
    ".qwen/settings.json": JSON.stringify({
      security: { auth: { selectedType: "openai" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
      // A prompt may be as long as it may be, and this model's window is not known to it.
      model: { generationConfig: { contextWindowSize: 2_000_000 } },
    }),
  }),
  flags: ["--model", "fake-model"],
  allowed: ALLOW,
  thinks: true,
  output_tokens: 112,
  // It asks again for minutes after 429 and 500; and an answer that was cut off is a good one to it.
  endings: { e401: ENDINGS.e401, maxtokens: ["completed", 0] },
};

/** The configuration of OpenCode, and of Kilo Code that is made from it. */
export const openCodeConfig = (modelUrl: string): string =>
  JSON.stringify({
    autoupdate: false,
    share: "disabled",
    model: "fake/fake-model",
    small_model: "fake/fake-model",
    provider: {
      fake: {
        npm: "@ai-sdk/openai-compatible",
        name: "Fake",
        options: { baseURL: `${modelUrl}/v1`, apiKey: FAKE_KEY },
        models: {
          "fake-model": { name: "Fake", tool_call: true, limit: { context: 200_000, output: 32_000 } },
        },
      },
    },
  });

export const opencode: AgentUnderTest = {
  kind: "opencode",
  env: (modelUrl) => ({
    OPENCODE_BINARY: BINARIES.opencode,
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      share: "disabled",
      model: "fake/fake-model",
      small_model: "fake/fake-model",
      provider: {
        fake: {
          npm: "@ai-sdk/openai-compatible",
          name: "Fake",
          options: { baseURL: `${modelUrl}/v1`, apiKey: FAKE_KEY },
          models: {
            "fake-model": {
              name: "Fake",
              tool_call: true,
              reasoning: true,
              limit: { context: 200_000, output: 32_000 },
              cost: { input: 1, output: 2 },
            },
          },
        },
      },
    }),
  }),
  files: () => ({}),
  // No list of models, no language servers, and no plugin from a registry: there is none.
  flags: [
    ["--env", "OPENCODE_DISABLE_MODELS_FETCH=true"],
    ["--env", "OPENCODE_DISABLE_LSP_DOWNLOAD=true"],
    ["--env", "npm_config_registry=http://127.0.0.1:9/"],
  ].flat(),
  allowed: ALLOW,
  thinks: true,
  output_tokens: 56,
  // It exits with 0 all the same: its last step says how it ended.
  endings: { e401: ENDINGS.e401, maxtokens: ["OUTPUT_TOO_LARGE", 0] },
};

export const copilot: AgentUnderTest = {
  kind: "copilot",
  env: (modelUrl) => ({
    COPILOT_BINARY: BINARIES.copilot,
    COPILOT_OFFLINE: "true",
    COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
    COPILOT_PROVIDER_API_KEY: FAKE_KEY,
    COPILOT_MODEL: "fake-model",
  }),
  files: () => ({}),
  // A prompt may be as long as the model takes, and of a model that it does not know it thinks little.
  flags: ["--env", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=1000000"],
  allowed: ALLOW,
  thinks: true,
  output_tokens: 56,
  endings: { e401: ENDINGS.e401, e500: ENDINGS.e500, maxtokens: ["completed", 0] },
};
