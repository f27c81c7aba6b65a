/**
 * Kind `llm` as people run it, over a provider: the same scenarios of the fake model that the real agent CLIs go through
 * (test/agents), in both dialects, with the outcome of the best of them. Most run by `Runtime.connect`, which saves a process
 * each.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Runtime, type WorkerHandle } from "../../src/library/index.ts";
import type { JsonValue } from "../../src/protocol/records.ts";
import { type Commands, makeCommands } from "../cli/support/commands.ts";
import {
  BIG_ARGUMENT,
  EXOTIC_TEXT,
  LOOKS_LIKE_EVENTS,
  longText,
  type ScenarioName,
} from "../support/fake-model/scenarios.ts";
import { type FakeModel, startFakeModel } from "../support/fake-model/server.ts";

const KEY = "sk-fake-0123456789-abcdefghij";
const SERVER = join(import.meta.dirname, "../fixtures/mcp/server.mjs");

let commands: Commands;
let fake: FakeModel;
let runtime: Runtime;
let work: string;
beforeAll(async () => {
  commands = makeCommands();
  fake = await startFakeModel();
  work = mkdtempSync(join(tmpdir(), "holdfast-work-"));
  const program = JSON.stringify([process.execPath, SERVER]);
  writeFileSync(
    join(commands.home, "config.yaml"),
    `mcp: { fake: { command: ${program}, trusted: true } }\n`,
  );
  await commands.agent("daemon", "start");
  runtime = await Runtime.connect({ stateDir: commands.home });
});
afterAll(async () => {
  await runtime.close();
  await commands.close();
  await fake.close();
  rmSync(work, { recursive: true, force: true });
});

const environment = (): Readonly<Record<string, string>> => ({
  ANTHROPIC_BASE_URL: fake.url,
  OPENAI_BASE_URL: `${fake.url}/v1`,
  ANTHROPIC_API_KEY: KEY,
  OPENAI_API_KEY: KEY,
  HOLDFAST_ENGINE_HOME: join(commands.home, "journals"),
});

/** By the command, as a user types it. */
const command = (model: string, scenario: string, ...flags: string[]) =>
  commands.agent(
    ...["spawn", "llm", `Hello. [[scenario:${scenario}]]`, "--model", model, "--cwd", work],
    ...Object.entries(environment()).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ...flags,
  );
const spawn = (model: string, scenario: string, ...flags: string[]) =>
  command(model, scenario, "--restart", "temporary", "--wait", ...flags);

let prompts = 0;
/** A prompt of its own, for scenarios that differ the second time. */
const promptOf = (scenario: ScenarioName): string => {
  prompts += 1;
  return `Hello ${prompts}. [[scenario:${scenario}]]`;
};

interface RunOfScenario {
  readonly worker: WorkerHandle;
  /** Requests that the model got. */
  asked(): FakeModel["requests"];
}

const run = async (
  model: string,
  scenario: ScenarioName,
  ext: Readonly<Record<string, JsonValue>> = {},
): Promise<RunOfScenario> => {
  const prompt = promptOf(scenario);
  const worker = await runtime.run({
    ...{ kind: "llm", prompt, model, cwd: work, env: environment() },
    ...{ restart: "temporary", ext },
  });
  return { worker, asked: () => fake.requests.filter((seen) => seen.prompt === prompt) };
};

const kindsOf = async ({ worker }: RunOfScenario): Promise<readonly string[]> => {
  const kinds: string[] = [];
  for await (const { kind } of worker) kinds.push(kind);
  return kinds;
};

const ANSWERS: readonly (readonly [ScenarioName, string])[] = [
  ["thinking", "Forty-two."],
  ["exotic", EXOTIC_TEXT],
  ["looksjson", LOOKS_LIKE_EVENTS],
  ["empty", ""],
  ["thoughtsonly", ""],
  ["emptyafter", ""],
  ["unknowntool", "There is no such tool."],
  ["fiverounds", "Five rounds."],
];

const WITH_MCP = { "backend.llm.mcp.v1": ["fake"] };
const USES_MCP = /^(?:fiverounds|emptyafter|e500aftertool)$/;
const TWO_TRIES = { "backend.llm.max_tries.v1": 2 };

/** The code, the words, and the requests that the provider got with at most two tries. */
const FAILURES: readonly (readonly [ScenarioName, string, RegExp, number])[] = [
  ["e400", "PROVIDER_BAD_REQUEST", /^The provider rejected the request \(HTTP 400\)\.$/, 1],
  ["e401", "TOKEN_INVALID", /^The provider refused the credentials \(HTTP 401\)\.$/, 1],
  ["e403", "TOKEN_INVALID", /^The provider does not allow this with these credentials \(HTTP 403\)\.$/, 1],
  ["e404", "PROVIDER_BAD_REQUEST", /^The provider does not know the model/, 1],
  ["nomodel", "PROVIDER_BAD_REQUEST", /^The provider does not know the model/, 1],
  ["e429", "RATE_LIMITED", /^The provider's rate limit was reached \(HTTP 429\)\.$/, 2],
  ["e429far", "RATE_LIMITED", /^The provider's rate limit was reached \(HTTP 429\)\.$/, 1],
  ["quota", "RATE_LIMITED", /^The (?:provider's rate limit was reached|account's quota)/, 2],
  ["e500", "PROVIDER_ERROR", /^The provider failed \(HTTP 500\)\.$/, 2],
  ["e529", "PROVIDER_ERROR", /^The provider is overloaded \(HTTP 529\)\.$/, 2],
  ["e502html", "PROVIDER_ERROR", /^The provider failed \(HTTP 502\)\.$/, 2],
  ["notjson", "PROVIDER_ERROR", /^The (?:provider sent something that is no answer|connection)/, 2],
  ["garbage", "PROVIDER_ERROR", /^The provider sent something that is no answer of a model\.$/, 2],
  ["rst", "PROVIDER_ERROR", /^The provider could not be reached\.$/, 2],
  ["drop", "PROVIDER_ERROR", /^The connection to the provider was cut\.$/, 2],
  ["e500aftertool", "PROVIDER_ERROR", /^The provider failed \(HTTP 500\)\.$/, 3],
  // Asked once more after one compaction.
  ["overflow", "PROVIDER_BAD_REQUEST", /^The conversation is longer than the model can read\.$/, 2],
  ["refusal", "REFUSED", /^The model refused to answer\.$/, 1],
  ["maxtokens", "OUTPUT_TOO_LARGE", /^The answer reached the model's output limit/, 1],
];

describe.each(["anthropic/fake-1", "openai/fake-1"])("%s", (model) => {
  it("text is answered", async () => {
    const { data } = await spawn(model, "text");
    expect(data).toMatchObject({ status: "completed", attempts: 1 });
    const output = await commands.agent("output", String(data.id));
    expect(output.data.text).toBe("Hello from the fake model.");
  });

  it.concurrent.each(ANSWERS)("%s is answered, character by character", async (scenario, text) => {
    const { worker } = await run(model, scenario, USES_MCP.test(scenario) ? WITH_MCP : {});
    expect(await worker.result).toMatchObject({ status: "completed" });
    expect(await worker.text()).toBe(text);
  });

  it("brings 3 MB of text, every byte of them", async () => {
    const { worker } = await run(model, "long3mb");
    expect((await worker.text()) === longText().repeat(15)).toBe(true);
  });

  it("runs each of three calls of one answer, and gives their results in the order of the calls", async () => {
    const ran = await run(model, "parallel", WITH_MCP);
    expect(await ran.worker.text()).toBe("Three echoes.");
    expect(ran.asked().at(-1)?.results).toEqual(["echo: a", "echo: b", "echo: c"]);
    const kinds = await kindsOf(ran);
    expect([
      kinds.filter((kind) => kind === "ToolCall"),
      kinds.filter((kind) => kind === "ToolResult"),
    ]).toEqual([Array(3).fill("ToolCall"), Array(3).fill("ToolResult")]);
  });

  it("takes arguments of 100 KB whole, cuts an output of 3 MB, and names what it cannot show", async () => {
    const [big, much, picture] = await Promise.all(
      (["bigargs", "bigecho", "picture"] as const).map((scenario) => run(model, scenario, WITH_MCP)),
    );
    expect(await big!.worker.text()).toBe("It took them.");
    expect(big!.asked().at(-1)?.results?.[0]).toContain(BIG_ARGUMENT.slice(0, 60_000));
    expect(await much!.worker.text()).toBe("It said much.");
    expect(much!.asked().at(-1)?.results?.[0]).toContain("[The output has 3000002 bytes; only its beginning");
    expect(await picture!.worker.text()).toBe("I saw a picture.");
    expect(picture!.asked().at(-1)?.results).toEqual([
      "[image image/png, 4 characters of base64: not shown]",
    ]);
  });

  it.concurrent.each(["droponce", "garbageonce", "e429once", "e529once"] as const)(
    "%s is asked once more, and only the whole answer counts",
    async (scenario) => {
      const ran = await run(model, scenario);
      expect(await ran.worker.result).toMatchObject({ status: "completed", text: "Whole answer." });
      expect(ran.asked()).toHaveLength(2);
      const info = await ran.worker.info();
      expect(info, "usage of the answer alone").toMatchObject({
        incarnation: 1,
        usage: { output_tokens: 56 },
      });
    },
  );

  it.concurrent.each(FAILURES)(
    "%s fails with %s, in the catalogue's words",
    async (scenario, code, message, requests) => {
      const ran = await run(model, scenario, {
        ...TWO_TRIES,
        ...(USES_MCP.test(scenario) ? WITH_MCP : {}),
      });
      expect(await ran.worker.result).toMatchObject({
        status: "failed",
        error: { code, message: expect.stringMatching(message) },
      });
      expect(ran.asked()).toHaveLength(requests);
    },
  );

  it("counts tokens in one meaning, and none twice", async () => {
    const { worker } = await run(model, "text");
    await worker.result;
    const isAnthropic = model.startsWith("anthropic/");
    expect(await worker.info()).toMatchObject({
      usage: { input_tokens: isAnthropic ? 1_234 : 1_134, cached_tokens: 100, output_tokens: 56 },
    });
  });
});

/** Files of the log and of the runs, without the launch specs, which hold the environment (decision 0004). */
const kept = (): readonly string[] =>
  (readdirSync(commands.home, { recursive: true, withFileTypes: true }) as import("node:fs").Dirent[])
    .filter((entry) => entry.isFile() && entry.name !== "spec.json" && entry.name !== "daemon.token")
    .map(({ parentPath, name }) => join(parentPath, name));

it("has no key: the agent says whose, before anything is sent", async () => {
  const asked = fake.requests.length;
  const { error } = await spawn("openai/fake-1", "text", "--env", "OPENAI_API_KEY=");
  expect(error).toMatchObject({
    code: "TOKEN_MISSING",
    message: expect.stringContaining(
      "There is no key for the provider openai: the variable OPENAI_API_KEY has none.",
    ),
  });
  expect(fake.requests.length).toBe(asked);
});

it("no file of the daemon has a key, but the launch specs", async () => {
  await spawn("anthropic/fake-1", "text");
  const files = kept();
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => readFileSync(file).includes(KEY))).toEqual([]);
});

describe("a failure, as the supervisor takes it", () => {
  it("ends the worker at once if no restart can mend it, and the command has the code of the provider's error", async () => {
    const { error, exit } = await command("openai/fake-1", "e401", "--restart", "permanent", "--wait");
    expect(error).toMatchObject({ code: "TOKEN_INVALID", message: expect.stringContaining("HTTP 401") });
    expect(exit).toBe(8);
    const { data } = await commands.agent("why", await newest());
    expect(data).toMatchObject({ state: "failed" });
  });

  it("waits for the provider's limit, uncounted, until the time that the provider says", async () => {
    const worker = await runtime.run({
      ...{ kind: "llm", prompt: promptOf("e429far"), model: "anthropic/fake-1", cwd: work },
      ...{ env: environment(), restart: "transient" },
    });
    for await (const record of runtime.watch({ ids: [worker.id], types: ["worker_restart_scheduled"] })) {
      expect(record.payload).toMatchObject({ cause: "rate_limited" });
      expect(record.payload.delay_ms).toBeGreaterThanOrEqual(900_000);
      break;
    }
    await worker.kill();
  });
});

const newest = async (): Promise<string> => {
  const listed = (await commands.agent("list", "--all")).data as unknown as readonly {
    readonly id: string;
  }[];
  return listed
    .map(({ id }) => id)
    .sort()
    .at(-1)!;
};
