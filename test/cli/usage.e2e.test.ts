/** Usage of agents, as people ask it: scripted agents of two kinds under a real daemon with prices of the user's own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, makeCommands } from "./support/commands.ts";

const PLAYS = fileURLToPath(new URL("../fixtures/children/prints-played.sh", import.meta.url));
const MILLION = 1_000_000;

let commands: Commands;
const agent: Commands["agent"] = (...argv) => commands.agent(...argv);

/** An agent of a kind that prints these lines, and its end. */
const run = (kind: "claude" | "codex", name: string, lines: readonly object[], ...flags: string[]) => {
  const file = join(commands.home, `${name}.ndjson`);
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const program = ["--env", `${kind.toUpperCase()}_BINARY=${PLAYS}`, "--env", `PLAYED=${file}`];
  return agent("spawn", kind, "hello", "--name", name, ...program, ...flags, "--wait");
};

const CLAUDE = [
  { type: "system", subtype: "init", session_id: "s", model: "large" },
  { type: "assistant", message: { id: "m", content: [{ type: "tool_use", id: "t", name: "Read" }] } },
  {
    type: "result",
    subtype: "success",
    is_error: false,
    num_turns: 1,
    result: "x",
    duration_ms: 90_000,
    model_usage_since_last_result: {
      small: { inputTokens: 1_000, outputTokens: 5, costUSD: 0.25 },
      large: { inputTokens: 2_000, cacheReadInputTokens: 30, outputTokens: 9, costUSD: 0.5 },
    },
  },
];
const CODEX = [
  { type: "thread.started", thread_id: "t" },
  { type: "turn.started" },
  {
    type: "turn.completed",
    usage: { input_tokens: MILLION, cached_input_tokens: MILLION / 2, output_tokens: 0 },
  },
];
const PRICES = {
  as_of: "2026-01-02",
  prices: [{ models: ["house-*"], valid_from: "2020-01-01", input: 4, cached_input: 1, output: 8 }],
};

beforeAll(async () => {
  commands = makeCommands();
  const prices = join(commands.home, "mine.json");
  writeFileSync(prices, JSON.stringify(PRICES));
  await commands.start(["daemon", "start"], { HOLDFAST_PRICES: prices }).ended;
  await run("claude", "reviewer", CLAUDE, "--label", "team=web");
  await run("codex", "fixer", CODEX, "--model", "house-1", "--label", "team=core");
  await run("codex", "guest", CODEX, "--model", "nobody-knows");
});
afterAll(() => commands.close());

describe("agent usage", () => {
  it("tells reported costs and estimates apart, and a model without a price in neither", async () => {
    const { data, warnings, exit } = await agent("usage", "--by", "model");
    expect(exit).toBe(0);
    expect(data).toMatchObject({
      rows: [
        {
          key: "house-1",
          turns: 1,
          input_tokens: MILLION / 2,
          cost_usd: null,
          estimated_usd: 2.5,
          unpriced: 0,
        },
        { key: "large", turns: 1, tool_calls: 1, cached_tokens: 30, cost_usd: 0.5, estimated_usd: null },
        { key: "small", turns: 0, input_tokens: 1_000, cost_usd: 0.25 },
        { key: "nobody-knows", cost_usd: null, estimated_usd: null, unpriced: 1 },
      ],
      total: { workers: 3, turns: 3, tool_calls: 1, cost_usd: 0.75, estimated_usd: 2.5, unpriced: 1 },
    });
    expect(warnings.join()).toContain("no price is known for the model (nobody-knows)");
  });

  it("is a table with figures under each other and a total for people", async () => {
    const { stdout, stderr } = await commands.text("usage", "--by", "label:team");
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual([
      "TEAM",
      "WORKERS",
      "TURNS",
      "TOOLS",
      "IN",
      "CACHED",
      "OUT",
      "REASONING",
      "COST",
      "ESTIMATE",
      "TIME",
    ]);
    expect(
      rows.slice(1).map(([key, , turns, , , , , , cost, estimate]) => [key, turns, cost, estimate]),
    ).toEqual([
      ["core", "1", "–", "~$2.5000"],
      ["web", "1", "$0.7500", "–"],
      ["(none)", "1", "–", "–"],
      ["total", "3", "$0.7500", "~$2.5000"],
    ]);
    expect(stderr).toContain("warning: 1 turn reported no cost");
  });

  it("is of one worker, of a time, and of nobody", async () => {
    expect((await agent("usage", "fixer", "--subtree", "--since", "1h")).data).toMatchObject({
      by: "day",
      total: { workers: 1, turns: 1 },
    });
    expect((await agent("usage", "nobody")).error).toMatchObject({ code: "WORKER_NOT_FOUND" });
    expect((await agent("usage", "--since", "0s")).data).toMatchObject({
      rows: [],
      total: { turns: 0, cost_usd: null },
    });
  });

  it("is the same after a rebuild, and after the output has left the log", async () => {
    const told = async () => [
      (await agent("usage", "--by", "kind")).data,
      (await agent("usage", "--by", "label:team")).data,
    ];
    const before = await told();
    await agent("db", "rebuild");
    expect(await told()).toEqual(before);
    expect((await agent("db", "gc", "--older-than", "0s")).data.records).toBeGreaterThan(0);
    expect(await told()).toEqual(before);
    await agent("db", "rebuild");
    expect(await told()).toEqual(before);
  });

  it("is in agent info too, in short", async () => {
    expect((await agent("info", "reviewer")).data).toMatchObject({
      tool_calls: 1,
      turn_ms: 90_000,
      turn_list: [{ models: [{ model: "large" }, { model: "small" }], duration_ms: 90_000 }],
    });
    const { stdout } = await commands.text("info", "fixer");
    expect(stdout).toMatch(/turns +1, .*1,000,000 tokens in and 0 tokens out, ~\$2\.5000 by the price list/);
  });
});

it("a daemon whose HOLDFAST_PRICES has mistakes does not start, and says where they are", async () => {
  const other = makeCommands();
  const prices = join(other.home, "prices.json");
  writeFileSync(prices, JSON.stringify({ ...PRICES, as_of: "soon" }));
  const ended = await other.start(["-o", "text", "daemon", "start"], { HOLDFAST_PRICES: prices }).ended;
  await other.close();
  expect(ended.exit).not.toBe(0);
  expect(ended.stderr).toContain(
    `The prices in ${prices} cannot be used: as_of: it is a day such as 2025-08-01`,
  );
});

it("is also read from the file that an agent's CLI writes at its end", async () => {
  const program = join(commands.home, "copilot.sh");
  const usage = { inputTokens: 1_000, outputTokens: 20, cacheReadTokens: 400 };
  const lines = [
    "#!/bin/sh",
    'while [ "$1" != --usage-output-file ]; do shift; done',
    `echo '{"type":"user.message","data":{}}'`,
    `echo '{"type":"result","sessionId":"s","exitCode":0}'`,
    `echo '${JSON.stringify({ modelMetrics: { small: { usage } } })}' > "$2"`,
  ];
  writeFileSync(program, `${lines.join("\n")}\n`, { mode: 0o755 });
  const own = ["--name", "pilot", "--env", `COPILOT_BINARY=${program}`];
  expect((await agent("spawn", "copilot", "hello", ...own, "--wait")).exit).toBe(0);
  expect((await agent("usage", "pilot", "--by", "model")).data).toMatchObject({
    rows: [{ key: "small", turns: 1, input_tokens: 600, cached_tokens: 400, output_tokens: 20 }],
  });
});
