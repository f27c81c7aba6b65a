/** The real agents that speak ACP, as kind `acp`: what each does by the protocol, and where they differ. */
import { existsSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type AgentUnderTest,
  claude,
  codex,
  FAKE_KEY,
  gemini,
  NODE_PATH,
  copilot as ofPrompt,
  openCodeConfig,
  qwen,
} from "./agents.ts";
import { type AgentName, BINARIES, isUnderTest } from "./install.ts";
import {
  killedBetweenTurns,
  makeCanary,
  makeCwd,
  makeWorld,
  type Story,
  until,
  type World,
} from "./world.ts";

type Wired = Pick<AgentUnderTest, "env" | "files" | "flags">;

interface AcpAgent extends Wired {
  readonly program: AgentName;
  /** The words about its session once it was killed in the middle of a tool: one of these. */
  readonly resumes: readonly (keyof typeof SESSIONS)[];
  readonly e401: string;
  /** False where it asks nobody about a command that changes nothing; "guarded" where it asks nobody while everything is allowed. */
  readonly asks?: false | "guarded";
  /** False where it tells no tokens of a turn. */
  readonly counts?: false;
}

const opencode: Wired = {
  env: (modelUrl) => ({
    OPENCODE_BINARY: BINARIES.opencode,
    OPENCODE_DISABLE_MODELS_FETCH: "true",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "true",
    OPENCODE_CONFIG_CONTENT: openCodeConfig(modelUrl),
  }),
  files: () => ({}),
  // A plugin would be installed from here.
  flags: ["--env", "npm_config_registry=http://127.0.0.1:9/"],
};

const copilot: Wired = { env: ofPrompt.env, files: ofPrompt.files, flags: [] };

const claudeBridge: Wired = {
  ...claude,
  env: (modelUrl) => ({
    ...claude.env(modelUrl),
    PATH: NODE_PATH,
    CLAUDE_ACP_BINARY: BINARIES.claudeBridge,
    CLAUDE_CODE_EXECUTABLE: BINARIES.claude,
  }),
  flags: ["--env", "CLAUDE_CODE_MAX_RETRIES=1"],
};

const codexBridge: Wired = {
  ...codex,
  env: (modelUrl) => ({
    ...codex.env(modelUrl),
    PATH: NODE_PATH,
    CODEX_ACP_BINARY: BINARIES.codexBridge,
    CODEX_PATH: BINARIES.codex,
  }),
  files: (modelUrl) =>
    Object.fromEntries(
      Object.entries(codex.files(modelUrl)).map(([name, text]) => [name, `model = "fake-model"\n${text}`]),
    ),
  flags: ["--inherit-env", "FAKE_KEY"],
};

const kilo: Wired = {
  env: (modelUrl) => ({
    KILO_BINARY: BINARIES.kilo,
    KILO_DISABLE_MODELS_FETCH: "true",
    KILO_DISABLE_LSP_DOWNLOAD: "true",
    KILO_CONFIG_CONTENT: openCodeConfig(modelUrl),
  }),
  files: () => ({}),
  flags: opencode.flags,
};

const kimi: Wired = {
  env: () => ({ PATH: NODE_PATH, KIMI_BINARY: BINARIES.kimi }),
  files: (modelUrl) => ({
    ".kimi-code/config.toml": `
default_model = "fake"
default_permission_mode = "yolo"
telemetry = false
[providers.fake]
type = "openai"
base_url = "${modelUrl}/v1"
api_key = "${FAKE_KEY}"
[models.fake]
provider = "fake"
model = "fake-model"
max_context_size = 200000
capabilities = ["tool_use"]
`,
  }),
  flags: [],
};

const cline: Wired = {
  env: () => ({
    CLINE_BINARY: BINARIES.cline,
    CLINE_API_KEY: FAKE_KEY,
    CLINE_PROVIDER: "openai-compatible",
    CLINE_MODEL: "fake-model",
  }),
  files: (modelUrl) => ({
    ".cline/data/settings/providers.json": JSON.stringify({
      version: 1,
      lastUsedProvider: "openai-compatible",
      modes: {},
      providers: {
        "openai-compatible": {
          settings: {
            provider: "openai-compatible",
            apiKey: FAKE_KEY,
            model: "fake-model",
            baseUrl: `${modelUrl}/v1`,
          },
          updatedAt: "2026-01-01T00:00:00.000Z",
          tokenSource: "manual",
        },
      },
    }),
  }),
  flags: [],
};

const LOADED = "The agent loaded its session.";
const RENEWED = "The session of the previous incarnation could not be loaded, so the agent begins a new one.";

/** How many sessions there are once an agent has said one of these. */
const SESSIONS = { [LOADED]: 1, [RENEWED]: 2 } as const;

const AGENTS: Readonly<Record<string, AcpAgent>> = {
  // It writes its session beside its work, so that a kill comes before or after that.
  gemini: { ...gemini, program: "gemini", resumes: [LOADED, RENEWED], e401: "TOKEN_INVALID" },
  opencode: { ...opencode, program: "opencode", resumes: [LOADED], e401: "PROVIDER_ERROR", asks: "guarded" },
  claude: { ...claudeBridge, program: "claudeBridge", resumes: [LOADED], e401: "TOKEN_MISSING", asks: false },
  codex: { ...codexBridge, program: "codexBridge", resumes: [LOADED], e401: "TOKEN_MISSING", asks: false },
  copilot: { ...copilot, program: "copilot", resumes: [LOADED], e401: "TOKEN_INVALID" },
  qwen: { ...qwen, program: "qwen", resumes: [LOADED], e401: "TOKEN_INVALID", asks: false },
  kilo: { ...kilo, program: "kilo", resumes: [LOADED], e401: "PROVIDER_ERROR", asks: "guarded" },
  kimi: {
    ...kimi,
    program: "kimi",
    resumes: [LOADED],
    e401: "TOKEN_MISSING",
    asks: "guarded",
    counts: false,
  },
  cline: { ...cline, program: "cline", resumes: [LOADED], e401: "TOKEN_MISSING", counts: false },
};

const textOf = (story: Story): string =>
  story.events
    .filter(({ kind, channel }) => kind === "TextOutput" && channel === "assistant")
    .map(({ text = "" }) => text)
    .join("");
const kindsOf = (story: Story): readonly string[] =>
  story.events.map(({ kind }) => kind).filter((kind) => kind.startsWith("Tool"));

describe.each(Object.entries(AGENTS))("acp:%s", (name, under) => {
  describe.skipIf(!isUnderTest(under.program))("itself", () => {
    let world: World;
    beforeAll(async () => {
      world = await makeWorld({ ...under, kind: `acp:${name}`, allowed: { flags: [], argv: [] } });
    });
    afterAll(() => world.close());

    it("answers, and its session, its turn and its final text are told", async () => {
      const story = await world.story(await world.spawn("text", makeCwd()));
      // A bridge may warn before it.
      expect(textOf(story).endsWith("Hello from the fake model.")).toBe(true);
      expect(story.of("worker_completed")).toMatchObject([
        { payload: { completion: { final_text: "Hello from the fake model." } } },
      ]);
      expect(story.of("session_started")).toHaveLength(1);
      expect(story.of("turn_completed")).toHaveLength(1);
      const { output_tokens } = story.of("turn_completed")[0]!.payload.usage;
      expect(output_tokens > 0).toBe(under.counts !== false);
      // It was acknowledged when it was begun, not only when it was answered.
      const types = story.records.map((record) =>
        record.type === "worker_message" ? record.payload.state : record.type,
      );
      expect(types.indexOf("turn_started")).toBeLessThan(types.lastIndexOf("agent.event"));
      expect(types.lastIndexOf("acknowledged")).toBeGreaterThan(0);
    });

    it("asks before it runs a command, and runs it where that is allowed", async () => {
      const story = await world.story(await world.spawn("shell", makeCwd(), "--permission", "allow"));
      const answers = under.asks !== undefined ? [] : [{ payload: { decision: "allow" } }];
      expect(story.of("approval_answered")).toMatchObject(answers);
      expect(kindsOf(story)).toEqual(["ToolCall", "ToolResult"]);
      const told = world.model.requests.filter(({ scenario, round }) => scenario === "shell" && round === 1);
      expect(told.flatMap(({ results = [] }) => results).join("")).toContain("hello-from-tool");
    });

    it.skipIf(under.asks === false)(
      "does not run it where that is denied, and its call has its result",
      async () => {
        const before = world.model.requests.length;
        const story = await world.story(await world.spawn("shell", makeCwd()));
        expect(story.of("approval_answered")).toMatchObject([{ payload: { decision: "deny" } }]);
        expect(kindsOf(story)).toEqual(["ToolCall", "ToolResult"]);
        const results = world.model.requests.slice(before).flatMap(({ results: given = [] }) => given);
        expect(results.join("")).not.toContain("hello-from-tool");
        expect(story.of("worker_exited")).toHaveLength(1);
      },
    );

    it.each([
      ["deny", []],
      ["ask", ["--approval-within", "3s"]],
    ] as const)(
      "writes nothing unasked under --permission %s, inside or outside",
      async (permission, more) => {
        const cwd = makeCwd();
        const flags = ["--permission", permission, "--restart", "temporary", ...more];
        for (const scenario of ["shellescape", "shellask"] as const) {
          const story = await world.story(await world.spawn(scenario, cwd, ...flags));
          expect(story.of("turn_completed")).toHaveLength(1);
          expect(story.of("approval_answered").filter(({ payload }) => payload.decision === "allow")).toEqual(
            [],
          );
          expect(readdirSync(cwd)).toEqual([]);
          expect(existsSync(`${cwd}.out`)).toBe(false);
        }
      },
    );

    it("asks a person, and does it where that one allows it", async () => {
      const cwd = makeCwd();
      const id = await world.spawn("shellask", cwd, "--permission", "ask");
      const asked = async () => (await world.soFar(id)).of("approval_requested").length === 1;
      await until(asked, "it asks");
      await world.agent("approvals", "approve", id);
      await world.story(id);
      expect(readdirSync(cwd)).toContain("asked.txt");
    });

    it("converses: a turn for each message, until its input ends", async () => {
      const id = await world.spawn("text", makeCwd(), "--interactive", "--permission", "allow");
      const said = await world.agent("ask", id, "And now? [[scenario:shell]]", "-o", "text");
      expect(said).toContain("The command printed hello-from-tool.");
      await world.agent("send", id, "Good. [[scenario:text]]");
      await world.agent("send", id, "--close");
      const story = await world.story(id);
      expect(story.of("turn_completed")).toHaveLength(3);
      expect(story.of("worker_completed")).toHaveLength(1);
      expect(story.of("session_started")).toHaveLength(1);
    });

    it("its turn is cancelled, and the conversation goes on", async () => {
      const id = await world.spawn("hangstream", makeCwd(), "--interactive");
      // Cancelled before it has said anything, some put that prompt before the next one.
      await until(async () => textOf(await world.soFar(id)).includes("silence"), "it is in its turn");
      await world.agent("cancel", id);
      const said = await world.agent("ask", id, "Go on. [[scenario:text]]", "-o", "text");
      expect(said).toContain("Hello from the fake model.");
      await world.agent("kill", id, "--grace", "2s");
    });

    it("e401 has its code", async () => {
      const story = await world.story(await world.spawn("e401", makeCwd(), "--restart", "temporary"));
      expect(story.of("worker_failed").map(({ payload }) => payload.error.code)).toEqual([under.e401]);
    });

    it("killed in the middle of a tool, it is started again, and no tool is left", async () => {
      const cwd = makeCwd();
      const isHeld = makeCanary(cwd);
      const flags = [
        ...["--permission", "allow", "--restart", "transient", "--backoff", "100ms..1s"],
        ...["--on-interrupted", "continue"],
      ];
      const id = await world.spawn("shellsleep", cwd, ...flags);
      await until(isHeld, "the tool runs");
      const [spawned] = (await world.soFar(id)).of("worker_spawned");
      process.kill(spawned!.payload.agent!.pid, "SIGKILL");
      const said = async () => {
        const { events } = await world.soFar(id);
        return under.resumes.filter((words) => events.some(({ message }) => message === words));
      };
      await until(async () => (await said()).length > 0, "it says what it goes on in");
      await world.agent("kill", id, "--grace", "2s");
      expect(isHeld()).toBe(false);
      const story = await world.story(id);
      const sessions = new Set(story.of("session_started").map(({ payload }) => payload.session_id));
      expect((await said()).map((words) => SESSIONS[words])).toEqual([sessions.size]);
      expect(story.of("worker_failed")).toMatchObject([{ incarnation: 1 }]);
    });

    it("killed between two turns of a conversation, it has failed, and goes on in its session", async () => {
      const story = await killedBetweenTurns(world, makeCwd());
      expect(story.of("worker_failed")).toMatchObject([{ incarnation: 1 }]);
      expect(story.of("worker_completed")).toMatchObject([{ incarnation: 2 }]);
      if (under.resumes.includes(RENEWED)) return;
      expect(new Set(story.of("session_started").map(({ payload }) => payload.session_id)).size).toBe(1);
    });

    it("the output is its final answer, and not what it said before its tool", async () => {
      const { id } = await world.story(await world.spawn("shell", makeCwd(), "--permission", "allow"));
      expect((await world.agent("output", id, "-o", "text")).trim()).toBe(
        "The command printed hello-from-tool.",
      );
    });

    it.runIf(name === "codex").each([
      ["overflow", "PROVIDER_BAD_REQUEST"],
      ["quota", "RATE_LIMITED"],
      ["nomodel", "PROVIDER_BAD_REQUEST"],
    ] as const)("%s is told as %s", async (scenario, code) => {
      const story = await world.story(await world.spawn(scenario, makeCwd(), "--restart", "temporary"));
      expect(story.of("worker_failed").map(({ payload }) => payload.error.code)).toEqual([code]);
    });

    // The others try for minutes.
    it.runIf(name === "copilot" || name === "claude" || name === "codex")(
      "a provider that fails for good after a tool was called is a failure",
      async () => {
        const flags = ["--permission", "allow", "--restart", "temporary"];
        const story = await world.story(await world.spawn("e500late", makeCwd(), ...flags));
        expect(story.of("worker_failed").map(({ payload }) => payload.error.code)).toEqual([
          "PROVIDER_ERROR",
        ]);
        expect(textOf(story)).not.toContain("Retrying");
      },
    );

    it("asked nobody but the model, with nothing but the fake key", () => {
      const keys = world.model.requests.map(({ credential }) => credential?.replace("Bearer ", ""));
      expect(new Set(keys)).toEqual(new Set([FAKE_KEY]));
    });
  });
});

describe.skipIf(!isUnderTest("auggie"))("acp:auggie", () => {
  it("without an account, it is told as TOKEN_MISSING", async () => {
    const world = await makeWorld({
      kind: "acp:auggie",
      env: () => ({ PATH: NODE_PATH, AUGGIE_BINARY: BINARIES.auggie }),
      files: () => ({}),
      flags: [],
      allowed: { flags: [], argv: [] },
    });
    onTestFinished(() => world.close());
    const story = await world.story(await world.spawn("text", makeCwd(), "--restart", "temporary"));
    expect(story.of("worker_failed").map(({ payload }) => payload.error.code)).toEqual(["TOKEN_MISSING"]);
  });
});
