/** One daemon tells of the agents of another host: a state directory of this machine behind a program, as a host is. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AGENT } from "../support/built.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const ASKS = join(import.meta.dirname, "../fixtures/agents/converses.mjs");

let here: Commands;
let there: Commands;

interface Told {
  readonly id: string;
  readonly host: string | null;
  readonly title: string;
  readonly command: string;
  readonly answers: readonly { readonly answer: string; readonly url: string }[];
}

const told = (): readonly Told[] => {
  const file = join(here.home, "told");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line).data);
};

beforeAll(async () => {
  [here, there] = [makeCommands(), makeCommands()];
  mkdirSync(join(there.home, "bin"));
  symlinkSync(AGENT, join(there.home, "bin/agent"));
  const build = `exec:env HOLDFAST_HOME=${there.home} PATH=${join(there.home, "bin")}:${process.env.PATH}`;
  const self = build.replaceAll(there.home, here.home);
  mkdirSync(join(here.home, "bin"));
  symlinkSync(AGENT, join(here.home, "bin/agent"));
  const desk = { command: { argv: ["sh", "-c", `(cat; echo) >> ${here.home}/told`] }, debounce: "50ms" };
  const notifications = { hosts: ["build", "self", "far"], targets: { desk } };
  writeFileSync(
    join(here.home, "config.yaml"),
    JSON.stringify({ http: { listen: "127.0.0.1:0" }, hosts: { build, self }, notifications }),
  );
  await there.agent("daemon", "start");
  await here.agent("daemon", "start");
  await untilFollowed();
});
afterAll(() => Promise.all([here.close(), there.close()]));

const failingOf = async (host: string): Promise<string | null | undefined> => {
  const { data } = await here.agent("notify", "list");
  const hosts = data.hosts as readonly { readonly name: string; readonly failing: string | null }[];
  return hosts.find(({ name }) => name === host)?.failing;
};
const untilFollowed = () => until(async () => (await failingOf("build")) === null);

/** Spawns an agent that asks for its Door. */
const spawnAsking = (at: Commands, name: string) => {
  const env = ["--env", `CLAUDE_BINARY=${ASKS}`, "--env", `LEDGER=${join(at.home, name)}`];
  return at.agent("spawn", "claude", "permit", "--name", name, "--permission", "ask", ...env);
};

it("tells of an agent that waits there, and its link answers it there", async () => {
  await spawnAsking(there, "fixer");
  await until(() => told().length > 0);
  const [{ host, title, command, answers }] = told() as [Told];
  expect([host, title]).toEqual(["build", "build: fixer asks for Door"]);
  expect(command).toMatch(/^agent --host build answer \S+ allow$/);
  const answered = await fetch(answers[0]!.url, { method: "POST" });
  expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining("fixer")]);
  expect((await there.agent("wait", "fixer")).exit).toBe(0);
  const { data } = await there.agent("approvals", "--all");
  expect(data).toMatchObject([{ worker: "fixer", by: "user" }]);
});

it("tells everything once over the deaths of both daemons", async () => {
  const before = told().length;
  await here.killDaemon();
  await spawnAsking(there, "second");
  await there.killDaemon();
  await here.agent("daemon", "start");
  await there.agent("daemon", "start");
  await until(() => told().filter(({ title }) => title.startsWith("build: ")).length >= before + 2);
  await spawnAsking(here, "own");
  await until(() => told().some(({ title }) => title === "own asks for Door"));
  expect(new Set(told().map(({ id }) => id)).size).toBe(told().length);
  const titles = told().map(({ title }) => title);
  expect(titles).toContain("build: second asks for Door");
  expect(titles).toContain("build: The daemon died and runs again");
  expect(titles).toContain("The daemon died and runs again");
});

it("says which host it cannot follow, and why", async () => {
  expect(await failingOf("build")).toBeNull();
  expect(await failingOf("self")).toBe("self and local are the same daemon.");
  expect(await failingOf("far")).toContain("hosts: of config.yaml has no far");
  const listed = await here.text("notify", "list");
  expect(listed.stdout).toMatch(/^build +its news come too$/m);
  const doctor = await here.text("doctor");
  expect(doctor.stdout).toContain("the news of self do not come: self and local are the same daemon.");
});

it("is told that a daemon reads its hosts when it starts", async () => {
  const path = join(here.home, "config.yaml");
  const written = JSON.parse(readFileSync(path, "utf8"));
  const isOutdated = async (hosts: object): Promise<unknown> => {
    writeFileSync(path, JSON.stringify({ ...written, hosts: { ...written.hosts, ...hosts } }));
    return (await here.agent("daemon", "status")).data.configuration_changed;
  };
  expect(await isOutdated({ other: "ssh://other.example" })).toBe(false);
  expect(await isOutdated({ far: "ssh://far.example" })).toBe(true);
});
