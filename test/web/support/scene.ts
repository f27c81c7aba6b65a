/** A daemon with HTTP and a fleet in which something of every kind has happened: what people look at. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Commands, makeCommands, until } from "../../cli/support/commands.ts";

const CLAUDE = join(import.meta.dirname, "../../fixtures/agents/works.mjs");

const TREE = `version: 1
name: crew
tree:
  strategy: one_for_one
  children:
    - name: builders
      strategy: rest_for_one
      children:
        - name: compiler
          argv: [sh, -c, "while :; do echo 'compiled 214 modules'; sleep 5; done"]
        - name: linter
          argv: [sh, -c, "echo 'watching src'; exec sleep 10000"]
    - name: watcher
      argv: [sh, -c, "echo 'port 8080'; exec sleep 10000"]
`;

export interface Scene {
  readonly commands: Commands;
  readonly url: string;
  readonly secret: string;
  /** Ids of workers by their names. */
  readonly ids: Readonly<Record<string, string>>;
  ask(name: string, data?: object): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** Asks over HTTP. */
const asker =
  (url: string, secret: string): Scene["ask"] =>
  async (name, data = {}) => {
    const response = await fetch(`${url}/api/${name}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify(data),
    });
    return ((await response.json()) as { data: Record<string, unknown> }).data;
  };

export const makeScene = async (): Promise<Scene> => {
  const commands = makeCommands();
  const { home } = commands;
  const [bin, repo] = [join(home, "bin"), join(home, "repo")];
  for (const each of [bin, repo]) mkdirSync(each);
  symlinkSync(CLAUDE, join(bin, "claude"));
  const git = (...argv: string[]) => execFileSync("git", argv, { cwd: repo });
  git("init", "-q", "-b", "main");
  git(
    "-c",
    "user.name=New User",
    "-c",
    "user.email=new@example.org",
    "commit",
    "-q",
    "--allow-empty",
    "-m",
    "Begin",
  );
  writeFileSync(join(repo, "holdfast.yaml"), TREE);
  const env = { HOME: home, PATH: `${bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin` };
  const agent = async (...argv: string[]): Promise<Record<string, unknown>> => {
    const ran = await commands.start(["-o", "json", ...argv], env).ended;
    const { ok, data, error } = JSON.parse(ran.stdout.trimEnd().split("\n").at(-1) ?? "{}");
    if (ok !== true) throw new Error(`agent ${argv.join(" ")}: ${JSON.stringify(error)}`);
    return data;
  };
  const { http } = await agent("daemon", "start", "--http=0");
  const secret = (await commands.text("token", "create", "dashboard")).stdout.trim();
  const url = (http as { url: string }).url;
  const ask = asker(url, secret);
  const ids: Record<string, string> = {};
  const spawn = async (name: string, ...argv: string[]): Promise<void> => {
    const { id } = await agent("spawn", "--name", name, "--cwd", repo, ...argv);
    ids[name] = id as string;
  };
  const may = ["--allow-tool", "Edit", "--allow-tool", "Bash"];
  await Promise.all([
    spawn(
      "release-notes",
      "--worktree",
      ...may,
      "--label",
      "team=docs",
      "claude",
      "Write the release notes.",
    ),
    spawn(
      "fix-login",
      "--permission",
      "ask",
      "--label",
      "issue=1189",
      "claude",
      "Fix the login of issue 1189.",
    ),
    spawn("reviewer", "--interactive", ...may, "claude", "Is the new cache ready?"),
    spawn("spender", "--budget", "usd=0.01", "--interactive", ...may, "claude", "Plan the migration."),
    spawn("flaky", "--restart", "permanent", "command", "--", "sh", "-c", "echo 'no database' >&2; exit 3"),
    spawn("indexer", "command", "--", "sh", "-c", "echo 'indexed 4,810 files'; exec sleep 10000"),
    agent("up", "-f", join(repo, "holdfast.yaml")),
  ]);
  await agent("pause", "indexer");
  await until(async () => {
    const { holds } = await ask("agent/inbox");
    return (holds as readonly { reason: string }[]).some(({ reason }) => reason === "approval");
  });
  await until(async () => (await ask("agent/info", { id: "release-notes" })).state === "completed");
  await until(async () => (await ask("agent/info", { id: "spender" })).paused !== undefined);
  return {
    commands,
    url,
    secret,
    ids,
    ask,
    close: async () => {
      await commands.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
};
