/**
 * Every command once with success, against a daemon: `agent proto validate` accepts every envelope that it prints. The table is held
 * against the registry, so that a new command cannot be forgotten; failures.int.test.ts has each command's failure.
 */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { COMMANDS } from "../../src/commands/commands.ts";
import { BUILTINS } from "../../src/skills/builtin/index.ts";
import { lookForSandbox } from "../../src/workspace/sandbox/sandbox.ts";
import { petStore } from "../skills/openapi/pet-store.ts";
import { agent } from "./support/agent.ts";
import { type Commands, makeCommands } from "./support/commands.ts";
import { CALLS, type Data, makeStoryFiles, wordsOf } from "./support/story.ts";

const isHere = "program" in (await lookForSandbox());

/** They need a terminal, a client of another protocol, an agent CLI, a repository or a service manager, and have tests of their own, which judge all that they print, too. */
const ELSEWHERE = [
  "agent/demo",
  "agent/attach",
  "agent/top",
  "agent/dashboard",
  // Only a verified peer is trusted, after a day (control/peers.int).
  "peer/trust",
  // They need a Postgres (daemon/cluster/node.e2e).
  "cluster/init",
  "cluster/join",
  "cluster/leave",
  "agent/drain",
  "agent/resume",
  "agent/fork",
  "agent/answer",
  "agent/ask",
  "agent/changes",
  "agent/cancel",
  "approvals/approve",
  "approvals/deny",
  "worktree/remove",
  "mcp/list",
  "mcp/get",
  "mcp/add",
  "mcp/remove",
  "mcp/serve",
  "weblisk/serve",
  "weblisk/grant",
  "weblisk/register",
  "weblisk/task",
  "peer/connect",
  "peer/task",
  "agent/acp",
  "agent/relay",
  "daemon/run",
  "daemon/upgrade",
  "daemon/install",
  "daemon/uninstall",
];

const SKILLS: Readonly<Record<string, (origin: string) => object>> = {
  "fs/ls": () => ({}),
  "fs/read": () => ({ path: "events.ndjson" }),
  "text/grep": () => ({ pattern: "TextOutput" }),
  "todo/manage": () => ({ action: "list" }),
  "http/openapi": (origin) => ({
    document: "pets.json",
    operation: "GET /by-page",
    base_url: `${origin}/v1`,
  }),
  "plugin/auth": () => ({ auth: { type: "bearer", secret: "PET_TOKEN" } }),
  "plugin/pagination": () => ({
    pagination: { strategy: "page", page_param: "page" },
    url: "http://pets.example/?page=1",
    body: [],
  }),
};

let commands: Commands;
let work: string;
beforeAll(() => {
  commands = makeCommands();
  work = makeStoryFiles(commands.home);
});
afterAll(async () => {
  await commands.close();
  rmSync(work, { recursive: true, force: true });
});

/** Runs the command in ndjson, holds all that it prints against the document, and returns its last envelope. */
const answered = async (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { stdout } = await agent(["-o", "ndjson", ...argv], {
    env: { HOLDFAST_HOME: commands.home, ...env },
  });
  const judged = await agent(["-o", "text", "proto", "validate", "--stream", "--strict"], { stdin: stdout });
  expect(judged.exit, `${argv.join(" ")}: ${stdout} ${judged.stdout} ${judged.stderr}`).toBe(0);
  return JSON.parse(stdout.trimEnd().split("\n").at(-1)!) as { readonly status: string; readonly data: Data };
};

it("every command has its call, here or elsewhere", () => {
  const calls = [...CALLS.map(([command]) => command), "skill/run", ...ELSEWHERE];
  expect(new Set(calls)).toEqual(new Set(COMMANDS.map(({ command }) => command)));
  expect(Object.keys(SKILLS).toSorted()).toEqual(BUILTINS.map(({ name }) => name).toSorted());
});

it("agent proto validate accepts every envelope of every command that succeeds", async () => {
  const told = new Map<string, Data>();
  const soFar = { told: (command: string) => told.get(command) ?? {}, work };
  for (const call of CALLS) {
    const [command] = call;
    const argv = wordsOf(call, soFar);
    const envelope = await answered(argv);
    expect(envelope, `${argv.join(" ")}: ${JSON.stringify(envelope)}`).toMatchObject({
      status: "ok",
      command,
    });
    told.set(command, envelope.data);
  }
});

it.skipIf(!isHere)("it accepts the envelope of each built-in skill", async () => {
  const { origin } = await petStore();
  for (const [skill, input] of Object.entries(SKILLS)) {
    const argv = ["run", skill, "--input", JSON.stringify(input(origin)), "--workspace", work];
    const secret = skill === "plugin/auth" ? ["--secret", "PET_TOKEN"] : [];
    const envelope = await answered([...argv, ...secret], { PET_TOKEN: "of-the-pets" });
    expect(envelope, JSON.stringify(envelope)).toMatchObject({ status: "ok", command: skill });
  }
});
