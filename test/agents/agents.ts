/** The CLIs under test: how each is pointed at the fake model, and kept quiet. */
import { BINARIES } from "./install.ts";

export interface AgentUnderTest {
  /** KIND of `agent spawn`. */
  readonly kind: "claude" | "codex";
  /** Variables of whoever runs `agent`. Keys are fake. */
  env(modelUrl: string): Readonly<Record<string, string>>;
  /** Files of its HOME. */
  files(modelUrl: string): Readonly<Record<string, string>>;
  /** Flags of `agent spawn`, and arguments of the CLI itself. */
  readonly flags: readonly string[];
  readonly argv: readonly string[];
}

export const FAKE_KEY = "sk-fake-0123456789";

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
  argv: ["--allowedTools", "Bash"],
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
  flags: ["--model", "fake-model", "--permission", "allow", "--inherit-env", "FAKE_KEY"],
  argv: [],
};
