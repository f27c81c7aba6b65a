/** Defaults as a user writes them and sees them count: agent config, a repository that came with code, and dry runs. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Commands, makeCommands } from "../support/commands.ts";

let commands: Commands;
let repository: string;
const userFile = () => join(commands.home, "config.yaml");
const repositoryFile = () => join(repository, ".holdfast", "config.yaml");
beforeAll(() => {
  commands = makeCommands();
});
beforeEach(() => {
  repository = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-repository-")));
  mkdirSync(join(repository, ".git"));
  rmSync(userFile(), { force: true });
});
afterAll(() => commands.close());

interface Default {
  readonly name: string;
  readonly value: unknown;
  readonly source: string;
  readonly from: string | null;
  readonly refused?: unknown;
}
/** In the repository. */
const run = async (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const ran = await commands.start(["-o", "json", ...argv], { PWD: repository, ...env }, repository).ended;
  return { ...JSON.parse(ran.stdout), exit: ran.exit } as {
    ok: boolean;
    exit: number;
    data: Record<string, unknown>;
    warnings: string[];
    error: { message: string } | null;
  };
};
const plannedWith = async (argv: readonly string[], env?: Readonly<Record<string, string>>) => {
  const { data, error } = await run(["spawn", "claude", "hello", "--dry-run", ...argv], {
    CLAUDE_BINARY: "/bin/true",
    ...env,
  });
  expect(error).toBeNull();
  const { defaults, plan } = data as { defaults: Default[]; plan: { argv: string[] } };
  return {
    ...Object.fromEntries(defaults.map(({ name, ...one }) => [name, one])),
    argv: plan.argv.join(" "),
  };
};

it("a default counts from its source, and a dry run says which", async () => {
  expect(await run(["config", "set", "defaults.model", "users"])).toMatchObject({
    data: { key: "defaults.model", path: userFile(), value: "users", effect: "created" },
  });
  await run(["config", "set", "kinds.claude.permission", "ask"]);
  await run(["config", "set", "--repository", "defaults.timeout", "5m"]);
  expect(readFileSync(repositoryFile(), "utf8")).toBe("defaults:\n  timeout: 5m\n");

  const planned = await plannedWith([]);
  expect(planned).toMatchObject({
    model: { value: "users", source: "user", from: userFile() },
    permission: { value: "ask", source: "user" },
    timeout: { value: 300_000, source: "repository", from: repositoryFile() },
    sandbox: { value: "off", source: "built_in", from: null },
    argv: expect.stringContaining("--model users"),
  });
  expect(await plannedWith(["--model", "flags"], { HOLDFAST_PERMISSION: "deny" })).toMatchObject({
    model: { value: "flags", source: "flag", from: "--model" },
    permission: { value: "deny", source: "environment", from: "HOLDFAST_PERMISSION" },
  });
  const { data } = await run(["config", "list"]);
  expect(data).toMatchObject({ user: userFile(), repository: repositoryFile() });
  expect((data.defaults as { key: string }[]).map(({ key }) => key)).toEqual([
    "defaults.timeout",
    "defaults.model",
    "kinds.claude.permission",
  ]);
  expect(await run(["config", "unset", "defaults.model"])).toMatchObject({ data: { effect: "deleted" } });
  expect((await plannedWith([])).argv).not.toContain("--model");
  // A change of defaults alone outdates no daemon.
  expect(await run(["daemon", "status"])).toMatchObject({ data: { configuration_changed: false } });
});

it("a repository may give an agent less than you do, and never more", async () => {
  await run(["config", "set", "defaults.permission", "ask"]);
  mkdirSync(join(repository, ".holdfast"));
  writeFileSync(
    repositoryFile(),
    "defaults: { permission: allow, sandbox: off, timeout: 0, model: theirs }\n",
  );
  expect(await plannedWith([])).toMatchObject({
    permission: { value: "ask", source: "user", refused: "allow" },
    timeout: { source: "built_in", refused: 0 },
    model: { value: "theirs", source: "repository" },
  });
  const spawned = { env: { CLAUDE_BINARY: "/bin/true" }, argv: ["spawn", "claude", "hello", "--dry-run"] };
  writeFileSync(repositoryFile(), "binaries: { claude: /tmp/theirs }\n");
  const refused = await run(spawned.argv, spawned.env);
  expect(refused.exit).toBe(3);
  expect(refused.error?.message).toBe(
    `${repositoryFile()}: a repository may not write binaries; it may write model, permission, sandbox, worktree, timeout, below defaults or kinds.KIND; mend it, or start the worker with --no-defaults.`,
  );
  expect(await run([...spawned.argv, "--no-defaults"], spawned.env)).toMatchObject({ ok: true });
  // Lists go on working.
  expect((await run(["config", "list"])).warnings).toHaveLength(1);
});

it.each<[readonly string[], number, RegExp, Readonly<Record<string, string>>?]>([
  [
    ["set", "http.listen", "1"],
    3,
    /only defaults of agent spawn; edit http\.listen in .*config\.yaml, then run: agent daemon upgrade --force\.$/,
  ],
  [
    ["set", "kinds.claude.allow_mcp_write", "true"],
    3,
    /only defaults of agent spawn; edit kinds\.claude\.allow_mcp_write in /,
  ],
  [["set", "model", "m"], 3, /did you mean defaults\.model\?$/],
  [["get", "kinds.cluade.model"], 3, /there is no kind "cluade"; did you mean claude\?$/],
  [["set", "kinds.command.model", "m"], 3, /means nothing to kind command\.$/],
  [["set", "defaults.sandbox", "on"], 3, /is one of workspace, off, not "on"\.$/],
  [["set", "--repository", "defaults.permission", "allow"], 3, /may only give an agent less/],
  [
    ["set", "defaults.permission", "allow"],
    7,
    /^An agent may not change the defaults of its user\.$/,
    { HOLDFAST_RUN: "s/w/1" },
  ],
])("agent config %j is refused in one sentence", async (argv, exit, message, env) => {
  const answer = await run(["config", ...argv], env);
  expect(answer).toMatchObject({ exit, error: { message: expect.stringMatching(message) } });
});
