/** The nodes of a cluster as hosts of `--host`: daemons of this machine that share a real Postgres, each behind a program. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AGENT } from "../support/built.ts";
import { TestPostgres } from "../support/postgres.ts";
import { type Commands, makeCommands, type Running, until } from "./support/commands.ts";

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

const isWatched = (watch: Running, host: string, type: string) => (): boolean =>
  watch
    .out()
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .some(({ data }) => data?.host === host && data.type === type);

it("a question of the whole cluster is one row of all hosts, and an answer on any of them settles it", async () => {
  await desk.agent("spawn", "--name", "lost", "--where", "gpu=1", "--", "true");
  const rowsOf = async (...hosts: readonly string[]): Promise<readonly unknown[]> =>
    (await desk.agent(...hosts, "inbox")).data as unknown as readonly unknown[];
  for (const host of ["local", "build"]) await until(async () => (await rowsOf("--host", host)).length === 1);
  expect(await rowsOf("--host", "all")).toMatchObject([{ host: "local", id: "lost:placement" }]);
  expect(await rowsOf("--host", "build,local")).toMatchObject([{ host: "build", id: "lost:placement" }]);
  const { stdout } = await desk.text("--host", "all", "inbox");
  expect(stdout.trimEnd().split("\n").slice(1)).toEqual([expect.stringMatching(/^local\/lost +wait\|/)]);
  expect((await desk.agent("--host", "all", "answer", "build/lost", "kill")).data).toMatchObject({
    answer: "kill",
  });
  expect(await rowsOf("--host", "all")).toEqual([]);
});

it("a spent budget of a file over nodes asks once on all hosts, and one answer settles it on each", async () => {
  const argv = ["sh", "-c", "head -c 2000 /dev/zero | tr '\\0' 'x' | fold -w 99; exec sleep 100000"];
  const placed = (name: string) => ({ name, argv, placement: { where: { node: "build" } } });
  const children = [{ name: "near", argv }, placed("far"), placed("further")];
  const file = join(desk.home, "shop.yaml");
  writeFileSync(
    file,
    JSON.stringify({ version: 1, name: "shop", tree: { budget: "output=4000", children } }),
  );
  expect((await desk.agent("up", "-f", file)).exit).toBe(0);
  const rowsOf = async (...hosts: readonly string[]): Promise<readonly { shared_id: string }[]> =>
    (await desk.agent(...hosts, "inbox")).data as unknown as readonly { shared_id: string }[];
  const asksAt = (host: string, worker: string) => async (): Promise<boolean> =>
    ((await desk.agent("--host", host, "inbox", worker)).data as unknown as readonly unknown[]).length > 0;
  for (const worker of ["far", "further"]) await until(asksAt("build", worker));
  await until(asksAt("local", "shop"));
  for (const hosts of [["--host", "all"], ["--host", "build"], []])
    expect(await rowsOf(...hosts)).toMatchObject([{ reason: "budget", shared_id: expect.any(String) }]);
  const [here, there] = [await rowsOf(), await rowsOf("--host", "build")];
  expect(here[0]!.shared_id).toBe(there[0]!.shared_id);

  const answered = await desk.agent(
    "--host",
    "all",
    "answer",
    "build/far",
    "continue",
    "--budget",
    "output=9000",
  );
  expect([answered.error, answered.data]).toMatchObject([null, { answer: "continue" }]);
  await until(async () => (await rowsOf("--host", "all")).length === 0);
  expect((await desk.agent("down", "shop")).exit).toBe(0);
});

it("a record of another node is found once: in the copy, or over all hosts", async () => {
  await desk.agent("spawn", "--where", "node=build", "--name", "hay", "--", "echo", "a needle");
  const find = (...hosts: readonly string[]) =>
    desk.agent(...hosts, "search", "needle", "--type", "TextOutput");
  await until(async () => (await find()).meta.elsewhere !== undefined);
  const hit = { worker_name: "hay", text: "a needle " };
  expect(await find()).toMatchObject({ data: [], meta: { elsewhere: [{ ...hit, node: "build" }] } });
  const { data, meta } = await find("--host", "all");
  expect([data, meta.elsewhere]).toMatchObject([[{ ...hit, host: "build" }], undefined]);
});

it("both nodes are listed, watched and commanded by their names, and one that is killed is told", async () => {
  const watch = desk.start(["-o", "ndjson", "--host", "all", "watch"]);
  // The first heartbeat of a stream comes late, so records tell that both are watched.
  await until(async () => {
    await Promise.all([desk, build].map((each) => each.agent("spawn", "--", "true")));
    return isWatched(watch, "local", "worker_ended")() && isWatched(watch, "build", "worker_ended")();
  });
  await build.agent("spawn", "--name", "fixer", "--", "sleep", "1000");
  await until(isWatched(watch, "build", "worker_started"));
  watch.child.kill("SIGINT");
  await watch.ended;

  const listed = await desk.agent("--host", "all", "list");
  expect([listed.exit, listed.data]).toMatchObject([0, [{ host: "build", name: "fixer" }]]);
  expect((await desk.agent("--host", "build", "info", "fixer")).data).toMatchObject({ state: "running" });
  const missed = await desk.agent("kill", "fixer");
  expect([missed.exit, missed.error?.suggestion]).toEqual([
    5,
    expect.stringContaining("agent --host all list"),
  ]);
  expect((await desk.agent("--host", "all", "kill", "build/fixer")).exit).toBe(0);
  expect((await build.agent("info", "fixer")).data).toMatchObject({ state: "cancelled" });

  await build.killDaemon();
  const { exit, error, meta } = await desk.agent("--host", "all", "list");
  expect([exit, error?.code]).toEqual([2, "PARTIAL_FAILURE"]);
  expect(meta.details).toMatchObject({ hosts: [{ host: "build", code: "SUPERVISOR_DOWN" }] });
  await build.agent("daemon", "start");
});

it("with the database away, what is known is shown, and what is not is told", async () => {
  await desk.agent("spawn", "--name", "runs", "--", "sleep", "1000");
  await postgres.stop();
  const { exit, error, meta } = await desk.agent("--host", "all", "list");
  expect([exit, error?.code]).toEqual([2, "PARTIAL_FAILURE"]);
  expect(meta).toMatchObject({
    partial: { workers: [{ host: "local", name: "runs" }] },
    details: { hosts: [{ host: "cluster", code: "UNAVAILABLE" }] },
  });
  await postgres.start();
});
