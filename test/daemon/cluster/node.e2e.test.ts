/** Daemons as nodes of a cluster on a real Postgres: they join and leave, and their logs are copied whatever is killed. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CLUSTER_COPY_KEEP_DAYS_DEFAULT } from "../../../src/base/limits.ts";
import { MIGRATIONS, SCHEMA } from "../../../src/cluster/postgres/schema.ts";
import { type Commands, makeCommands, until } from "../../cli/support/commands.ts";
import { TestPostgres } from "../../support/postgres.ts";

const SECRET = "correct-horse-battery-staple";

let postgres: TestPostgres;
const made: Commands[] = [];
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(async () => {
  for (const commands of made) await commands.close();
  await postgres?.remove();
});

const daemon = async (): Promise<Commands> => {
  const commands = makeCommands();
  made.push(commands);
  await commands.agent("daemon", "start");
  return commands;
};

/** The address with a password, in a file beside the state: the server here asks for none. */
const addressIn = (commands: Commands, url: string): string => {
  const file = join(commands.home, "cluster-address");
  writeFileSync(file, `${url.replace("holdfast@", `holdfast:${SECRET}@`)}\n`, { mode: 0o600 });
  return `@file:${file}`;
};

interface Status {
  readonly self: {
    readonly name: string;
    readonly holds_lease: boolean;
    readonly failing: string | null;
    readonly copy: { readonly copied_to: number; readonly behind: number | null };
  } | null;
  readonly nodes:
    | readonly { readonly name: string; readonly state: string; readonly beat_age_ms: number }[]
    | null;
}
const statusOf = async (commands: Commands): Promise<Status> =>
  (await commands.agent("cluster", "status")).data as unknown as Status;
const stateOf = async (commands: Commands, name: string): Promise<string | undefined> =>
  (await statusOf(commands)).nodes?.find((node) => node.name === name)?.state;
const holds = async (commands: Commands): Promise<boolean> =>
  (await statusOf(commands)).self?.holds_lease === true;

interface CopiedRow {
  readonly store_id: string;
  readonly seq: number;
  readonly text: string;
}
const copyIn = async (url: string): Promise<readonly CopiedRow[]> => {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
  await client.connect();
  const { rows } = await client.query<CopiedRow>(
    "select store_id, seq::integer, text from record order by seq",
  );
  await client.end();
  return rows;
};
const linesOf = async (commands: Commands): Promise<readonly string[]> => {
  const { stdout } = await commands.start(["db", "export", "-o", "json"]).ended;
  return stdout.trimEnd().split("\n").slice(0, -1);
};

it("daemons join, see each other, copy their logs, and leave; nobody sees the password", async () => {
  const url = await postgres.database("joined");
  const [a, b] = [await daemon(), await daemon()];
  expect((await a.agent("cluster", "status")).data).toEqual({
    self: null,
    nodes: null,
    unplaced: null,
    waiting: null,
    failed: null,
    keep_days: null,
  });
  const addresses = new Map([a, b].map((each) => [each, addressIn(each, url)]));
  const join_ = (each: Commands, name: string, ...more: string[]) =>
    each.agent("cluster", "join", addresses.get(each)!, "--name", name, ...more);
  expect(await join_(a, "a")).toMatchObject({ exit: 6, error: { code: "INVALID_STATE" } });
  expect((await a.agent("cluster", "init", addresses.get(a)!)).data).toEqual({
    version: MIGRATIONS.length,
    keep_days: CLUSTER_COPY_KEEP_DAYS_DEFAULT,
    dropped_days: 0,
    effect: "created",
  });
  expect((await b.agent("cluster", "init", addresses.get(b)!)).data).toEqual({
    version: MIGRATIONS.length,
    keep_days: CLUSTER_COPY_KEEP_DAYS_DEFAULT,
    dropped_days: 0,
    effect: "noop",
  });

  expect((await join_(a, "a", "--label", "gpu=1")).data).toMatchObject({
    labels: { gpu: "1" },
    effect: "created",
  });
  expect((await join_(a, "a", "--label", "gpu=1")).data.effect).toBe("noop");
  expect(await join_(a, "a")).toMatchObject({ exit: 6, error: { code: "INVALID_STATE" } });
  await until(() => holds(a));
  expect(await join_(b, "a")).toMatchObject({ exit: 6, error: { code: "ALREADY_EXISTS" } });
  await join_(b, "b", "--capacity", "2");
  await until(async () => (await holds(b)) && (await stateOf(a, "b")) === "active");

  await a.agent("spawn", "--wait", "--", "echo", "hello");
  await until(async () => (await statusOf(a)).self?.copy.behind === 0);
  const texts = (await copyIn(url)).map(({ text }) => text);
  for (const line of await linesOf(a)) expect(texts).toContain(line);

  const shown = await a.text("cluster", "status");
  expect(shown.stdout).toContain("holds its lease");
  expect(statSync(join(a.home, "cluster.json")).mode & 0o777).toBe(0o600);
  const said = [texts.join("\n"), shown.stdout, readFileSync(join(a.home, "daemon.log"), "utf8")].join("\n");
  expect(said).not.toContain(SECRET);

  expect((await b.agent("cluster", "leave")).data).toMatchObject({ name: "b", effect: "deleted" });
  expect(await stateOf(a, "b")).toBe("left");
  expect(await b.agent("cluster", "leave")).toMatchObject({ exit: 6, error: { code: "INVALID_STATE" } });
  expect(await statusOf(b)).toMatchObject({ self: null });
});

it("a node is the same after a kill; one that stays away is dead, and its name is free again", async () => {
  const url = await postgres.database("killed");
  const [a, b] = [await daemon(), await daemon()];
  await a.agent("cluster", "init", url);
  for (const [each, name] of [
    [a, "a"],
    [b, "b"],
  ] as const)
    await each.agent("cluster", "join", url, "--name", name);
  await until(async () => (await holds(a)) && (await holds(b)));
  await b.killDaemon();
  await b.agent("daemon", "start");
  await until(() => holds(b));
  expect(await stateOf(a, "b")).toBe("active");

  await b.killDaemon();
  await until(async () => (await stateOf(a, "b")) === "dead");
  await b.agent("daemon", "start");
  await until(async () => (await holds(b)) && (await stateOf(a, "b")) === "active");

  // A lone node whose file is gone finds its own row, which nobody else can bury.
  await a.agent("cluster", "leave");
  await b.killDaemon();
  rmSync(join(b.home, "cluster.json"));
  await b.agent("daemon", "start");
  expect((await b.agent("cluster", "join", url, "--name", "b")).data.effect).toBe("created");
  await until(() => holds(b));
});

it("a copy is dense, and has each record once, although the daemon and Postgres are killed in the middle", async () => {
  const url = await postgres.database("copied");
  const a = await daemon();
  await a.agent("cluster", "init", url);
  await a.agent("cluster", "join", url, "--name", "a");
  const lines = "i=0; while [ $i -lt 4000 ]; do echo line $i; i=$((i+1)); done";
  await a.agent("spawn", "--name", "one", "--", "sh", "-c", lines);
  await until(async () => ((await statusOf(a)).self?.copy.copied_to ?? 0) > 100);
  await a.killDaemon();
  await a.agent("daemon", "start");
  await postgres.stop();
  await a.agent("spawn", "--name", "two", "--", "sh", "-c", lines);
  await until(async () => (await statusOf(a)).self?.failing !== null);
  expect((await statusOf(a)).nodes).toBeNull();
  await postgres.start();
  await a.agent("wait", "one", "two");
  await until(async () => (await holds(a)) && (await statusOf(a)).self?.copy.behind === 0);
  const copy = await copyIn(url);
  expect(copy.map(({ seq }) => seq)).toEqual(copy.map((_, at) => at + 1));
  expect(new Set(copy.map(({ store_id }) => store_id)).size).toBe(1);
  const log = await linesOf(a);
  expect(log.length).toBeGreaterThan(8_000);
  expect(copy.slice(0, log.length).map(({ text }) => text)).toEqual(log);
});

it("a node whose address is gone leaves nothing hanging: it refuses to leave, and its daemon stops", async () => {
  const url = await postgres.database("lost");
  const a = await daemon();
  const address = addressIn(a, url);
  await a.agent("cluster", "init", address);
  await a.agent("cluster", "join", address, "--name", "a");
  await until(() => holds(a));
  await a.killDaemon();
  rmSync(join(a.home, "cluster-address"));
  await a.agent("daemon", "start");
  await until(async () => (await statusOf(a)).self?.failing?.includes("has no address") === true);
  expect(await a.agent("cluster", "leave")).toMatchObject({
    exit: 3,
    error: { message: expect.stringContaining("has no address") },
  });
  const pid = await a.daemonPid();
  expect((await a.agent("daemon", "stop")).exit).toBe(0);
  await until(() => !isAlive(pid));

  writeFileSync(join(a.home, "cluster.json"), `{"database":"${SECRET}"`);
  await a.agent("daemon", "start");
  const refused = await a.agent("cluster", "status");
  expect(refused.error).toMatchObject({ code: "FILE_FAILED" });
  expect(refused.stdout).not.toContain(SECRET);
  expect(readFileSync(join(a.home, "daemon.log"), "utf8")).not.toContain(SECRET);
  rmSync(join(a.home, "cluster.json"));
  addressIn(a, url);
  expect((await a.agent("cluster", "join", address, "--name", "b")).data.effect).toBe("created");
  await until(() => holds(a));
});

it("a node whose file was removed says so, writes none, and leaves or stays as it is told", async () => {
  const url = await postgres.database("removed");
  const a = await daemon();
  await a.agent("cluster", "init", url);
  const join_ = () => a.agent("cluster", "join", url, "--name", "a");
  await join_();
  await until(() => holds(a));
  const file = join(a.home, "cluster.json");
  const isTold = async () => (await statusOf(a)).self?.failing?.includes("cluster.json was removed") === true;
  rmSync(file);
  await until(isTold);
  await until(async () => !(await holds(a)));
  expect(existsSync(file)).toBe(false);
  expect((await join_()).data.effect).toBe("created");
  await until(() => holds(a));
  expect((await statusOf(a)).self?.failing).toBeNull();
  rmSync(file);
  await until(isTold);
  expect((await a.agent("cluster", "leave")).data).toMatchObject({ name: "a", effect: "deleted" });
  expect(await statusOf(a)).toMatchObject({ self: null });
  expect(existsSync(file)).toBe(false);
});

it("a node that lost its name to another daemon says so, and leaves nothing of the other", async () => {
  const url = await postgres.database("renamed");
  const [a, b] = [await daemon(), await daemon()];
  await a.agent("cluster", "init", url);
  await a.agent("cluster", "join", url, "--name", "a");
  await until(() => holds(a));
  await a.killDaemon();
  expect((await b.agent("cluster", "join", url, "--name", "a")).data.effect).toBe("created");
  await until(() => holds(b));
  await a.agent("daemon", "start");
  const lost = "Another daemon is the node a now";
  await until(async () => (await statusOf(a)).self?.failing?.includes(lost) === true);
  expect(readFileSync(join(a.home, "daemon.log"), "utf8").split(lost)).toHaveLength(2);
  expect((await a.agent("cluster", "leave")).data.effect).toBe("deleted");
  expect([await stateOf(b, "a"), await holds(b)]).toEqual(["active", true]);
});

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
