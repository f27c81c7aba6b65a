/** An agent does not start the daemon that somebody has stopped; anybody starts the next one after a crash. Real processes. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Commands, makeCommands, until } from "../cli/support/commands.ts";
import { AGENT } from "../support/built.ts";

const child = (name: string) => join(import.meta.dirname, "../fixtures/children", name);

let commands: Commands;
beforeEach(() => {
  commands = makeCommands();
});
afterEach(() => commands.close());

const LEDGER = () => join(commands.home, "ledger");
const GO = () => join(commands.home, "go");

const begin = async (script: string, name: string) => {
  const set = {
    AGENT: `${process.execPath} ${AGENT}`,
    HOLDFAST_HOME: commands.home,
    LEDGER: LEDGER(),
    GO: GO(),
  };
  const flags = Object.entries(set).flatMap(([key, value]) => ["--env", `${key}=${value}`]);
  await commands.agent("spawn", "--name", name, "--grace", "60s", ...flags, "--", "sh", child(script));
  await until(async () => (await commands.text("logs", name)).stdout.includes("up"));
};

const answer = async () => {
  writeFileSync(GO(), "");
  const text = () => (existsSync(LEDGER()) ? readFileSync(LEDGER(), "utf8").trim() : "");
  await until(() => text().endsWith("}"));
  return JSON.parse(text().split("\n").at(-1) as string);
};
const isDown = async () => (await commands.agent("daemon", "status")).error?.code === "SUPERVISOR_DOWN";

it("after a stop that keeps its agents, none of them starts the next daemon", async () => {
  await begin("starts-when-told.sh", "heir");
  expect((await commands.agent("daemon", "stop", "--keep-agents")).exit).toBe(0);
  const refused = await answer();
  expect(refused).toMatchObject({ ok: false, error: { code: "POLICY_VIOLATION" } });
  expect(refused.error.message).toMatch(
    /^The daemon was stopped, and the next one must not be started from inside the run of worker \w{26}\./,
  );
  expect(await isDown()).toBe(true);
  expect((await commands.agent("daemon", "start")).exit).toBe(0);
  expect((await commands.agent("info", "heir")).data).toMatchObject({ state: "running", incarnation: 1 });
});

it("after a stop that kills its agents nothing runs, and no daemon, though one of them tried to come back", async () => {
  await begin("undoes-its-kill.sh", "ember");
  expect((await commands.agent("daemon", "stop", "--kill-agents")).exit).toBe(0);
  expect(await isDown()).toBe(true);
  expect((await commands.agent("daemon", "start")).exit).toBe(0);
  const { data } = await commands.agent("list", "--all");
  expect(data).toMatchObject([{ name: "ember", status: "cancelled", incarnation: 1 }]);
});

it("after a crash of the daemon an agent starts the next one, as anybody does", async () => {
  await begin("starts-when-told.sh", "heir");
  await commands.killDaemon();
  expect(await answer()).toMatchObject({ ok: true, data: { name: "phoenix" } });
  expect((await commands.agent("info", "heir")).data).toMatchObject({ state: "running", incarnation: 1 });
});
