/** The nodes of a cluster as hosts of `--host`: daemons of this machine that share a real Postgres, each behind a program. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AGENT } from "../support/built.ts";
import { TestPostgres } from "../support/postgres.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

let postgres: TestPostgres;
let desk: Commands;
let build: Commands;

/** `agent` is a word of the path there. */
const endpointOf = ({ home }: Commands): string => {
  mkdirSync(join(home, "bin"));
  symlinkSync(AGENT, join(home, "bin/agent"));
  return `exec:env HOLDFAST_HOME=${home} PATH=${join(home, "bin")}:${process.env.PATH}`;
};

interface NodeStatus {
  readonly name: string;
  readonly state: string;
  readonly endpoint: string | null;
}
const nodesOf = async (commands: Commands): Promise<readonly NodeStatus[]> =>
  ((await commands.agent("cluster", "status")).data.nodes ?? []) as readonly NodeStatus[];

beforeAll(async () => {
  postgres = await TestPostgres.start();
  [desk, build] = [makeCommands(), makeCommands()];
  const url = await postgres.database("hosts");
  await Promise.all([desk, build].map((each) => each.agent("daemon", "start")));
  await desk.agent("cluster", "init", url);
  for (const [each, name] of [
    [desk, "desk"],
    [build, "build"],
  ] as const) {
    const joined = await each.agent("cluster", "join", url, "--name", name, "--endpoint", endpointOf(each));
    expect(joined.exit).toBe(0);
  }
  await until(async () => (await nodesOf(desk)).filter(({ state }) => state === "active").length === 2);
});
afterAll(async () => {
  await Promise.all([desk, build].map((each) => each?.close()));
  await postgres?.remove();
});

it("a node has the endpoint with which it joined, also over a restart", async () => {
  const isTold = async () => {
    const node = (await nodesOf(desk)).find(({ name }) => name === "build");
    return node?.state === "active" && node.endpoint?.includes(build.home) === true;
  };
  expect(await isTold()).toBe(true);
  const { stdout } = await desk.text("cluster", "status");
  for (const word of ["ENDPOINT", "exec:env HOLDFAST_HOME="]) expect(stdout).toContain(word);
  await build.killDaemon();
  await build.agent("daemon", "start");
  await until(isTold);
  const refused = await build.agent("cluster", "join", "postgres://me@db/x", "--endpoint", "build.example");
  expect(refused).toMatchObject({
    exit: 3,
    error: { message: expect.stringContaining("--endpoint is ssh://[USER@]MACHINE[:PORT], or exec:") },
  });
});
