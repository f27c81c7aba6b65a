/** A kind of ours is its folder and its line in two lists: help, completion, checks, doctor, capabilities and trees take the rest from its facts. */
import { expect, it, vi } from "vitest";
import type { AgentAdapter } from "../../../src/adapters/adapter.ts";
import { adapterOf, type KindFacts } from "../../../src/adapters/facts.ts";
import { command } from "../../../src/adapters/kinds/command/index.ts";
import { makeRegistry } from "../../../src/adapters/registry.ts";
import { refusal } from "../../../src/adapters/spec-refusal.ts";
import { programs } from "../../../src/cli/commands/doctor.ts";
import { spawnGate, spawnProblems, specOf } from "../../../src/cli/commands/spawn-spec.ts";
import { parse } from "../../../src/cli/parse.ts";
import { COMMANDS } from "../../../src/commands/commands.ts";
import { ENVIRONMENT } from "../../../src/commands/flags.ts";
import { kindOf } from "../../../src/commands/kinds.ts";
import { WorkerSpec } from "../../../src/protocol/worker.ts";
import { treeFileSchema } from "../../../src/tree-file/schema.ts";

const novel = vi.hoisted(
  (): KindFacts => ({
    kind: "novel_cli",
    aliases: ["novel"],
    summary: "Novel CLI, for a test.",
    limits: ["It is not there."],
    capabilities: ["agent_api.run", "agent_api.events", "agent_api.config.model.v1"],
    opt_ins: { allow_external_sandbox_exec: ["agent_api.exec.external_sandbox.v1"] },
    binary: { name: "novel-program", variable: "NOVEL_PROGRAM" },
    credentials: ["NOVEL_LOGIN"],
    default_restart: "permanent",
    needs_prompt: true,
    validate: (spec) => (spec.model === "bad" ? ["Novel CLI has no such model."] : []),
  }),
);

vi.mock("../../../src/adapters/kinds.ts", async (original) => {
  const real = await original<typeof import("../../../src/adapters/kinds.ts")>();
  return {
    ...real,
    KIND_FACTS: [...real.KIND_FACTS, novel],
    KIND_VARIABLES: [...real.KIND_VARIABLES, ...novel.credentials],
  };
});

const callOf = (...argv: string[]) => {
  const parsed = parse(["spawn", ...argv]);
  if (parsed.kind !== "call") throw new Error("help");
  return parsed.call;
};

it("stands in help, with the flags that its facts allow and the variable of its program", () => {
  const spawn = COMMANDS.find(({ command: name }) => name === "agent/spawn")!;
  expect(spawn.details).toMatch(/^KIND is .*, novel\./);
  expect(kindOf("novel")).toMatchObject({
    kind: "novel_cli",
    binary: "novel-program",
    refuses: [
      "interactive",
      "session",
      "fork",
      "add-dir",
      "output-schema",
      "mcp",
      "approval-within",
      "approval-default",
    ],
  });
  expect(ENVIRONMENT).toContainEqual({ name: "NOVEL_PROGRAM", help: "the program of kind novel" });
});

it("is checked before there is a daemon, by its own rules", () => {
  expect(spawnProblems(callOf("novel"))).toEqual([expect.stringMatching(/^kind novel needs a PROMPT/)]);
  expect(spawnProblems(callOf("novel", "hi", "--fork"))).toEqual(["--fork means nothing to kind novel"]);
  expect(spawnProblems(callOf("novel", "hi", "--model", "bad"))).toEqual(["Novel CLI has no such model."]);
  expect(spawnProblems(callOf("novle", "hi"))).toEqual([expect.stringMatching(/did you mean novel\?$/)]);
  expect(spawnGate(callOf("novel", "hi", "--ext", "backend.novel_cli.x=1"))).toBe("UNSUPPORTED_CAPABILITY");
  expect(
    spawnGate(callOf("novel", "hi", "--ext", "agent_api.exec.external_sandbox.v1=true")),
  ).toBeUndefined();
});

it("makes a spec with its own defaults and variables", () => {
  const env = { NOVEL_LOGIN: "me", OTHER: "no" };
  const spec = specOf(callOf("novel", "hi"), { env, cwd: "/", stateDir: "/s" });
  expect(spec).toMatchObject({ kind: "novel_cli", restart: "permanent", client_env: { NOVEL_LOGIN: "me" } });
  expect(spec.client_env).not.toHaveProperty("OTHER");
});

it("is looked for by the doctor, and named by the schema of holdfast.yaml", () => {
  const [agents] = programs({ PATH: "/nowhere" }).filter(({ name }) => name === "agents");
  expect(agents?.finding).toMatch(/, novel/);
  expect(JSON.stringify(treeFileSchema())).toMatch(/claude, [^"]*, novel, or a kind of the configuration/);
});

it("has its capabilities in a registry, and those that the configuration allows", () => {
  const { streams, plan, decoder_version, initial, decode, finish } = command;
  const adapter = adapterOf(novel, {
    streams,
    plan,
    decoder_version,
    initial,
    decode,
    finish,
  }) as AgentAdapter;
  const kindOfRegistry = (options = {}) =>
    makeRegistry({ users: [{ adapter, module: null }], options }).adapterFor("novel")!;
  expect(kindOfRegistry()).toMatchObject({ kind: "novel_cli", capabilities: novel.capabilities });
  expect(kindOfRegistry({ novel_cli: { allow_external_sandbox_exec: true } }).capabilities).toContain(
    "agent_api.exec.external_sandbox.v1",
  );
  const spec = { kind: "novel_cli", cwd: "/", restart: "temporary", prompt: "hi", model: "bad" } as const;
  expect(refusal(kindOfRegistry(), WorkerSpec.parse(spec))?.message).toBe("Novel CLI has no such model.");
});
