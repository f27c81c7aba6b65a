/** Lists as a person chooses from a fleet, and commands for all that have a label. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { WorkerView } from "../../../src/runtime/replies.ts";
import { AGENT } from "../../support/built.ts";
import { type Commands, makeCommands, until } from "../support/commands.ts";

let commands: Commands;
beforeAll(async () => {
  commands = makeCommands();
  const spawn = (name: string, team: string, ...argv: string[]) =>
    commands.agent("spawn", "--name", name, "--label", `team=${team}`, ...argv);
  await spawn("b", "one", "--", "sleep", "1000");
  await spawn("a", "one", "--label", "night=yes", "--", "sleep", "1000");
  await spawn("c", "two", "--", "sleep", "1000");
  await spawn("gone", "one", "--wait", "--", "true");
});
afterAll(() => commands.close());

const names = async (...argv: string[]) =>
  ((await commands.agent("list", ...argv)).data as unknown as WorkerView[]).map(({ name }) => name);

it.each([
  [
    ["--label", "team=one"],
    ["b", "a"],
  ],
  [["-l", "team=one", "-l", "night=yes"], ["a"]],
  [
    ["--label", "team=one", "--all"],
    ["b", "a", "gone"],
  ],
  [["--state", "completed"], ["gone"]],
  [
    ["--state", "running,completed", "--label", "team=one"],
    ["b", "a", "gone"],
  ],
  [
    ["--kind", "command", "--since", "1h"],
    ["b", "a", "c"],
  ],
  [["--kind", "claude"], []],
  [
    ["--sort", "name"],
    ["a", "b", "c"],
  ],
  [
    ["--sort", "-name", "--limit", "2"],
    ["c", "b"],
  ],
])("list %j", async (argv, expected) => {
  expect(await names(...argv)).toEqual(expected);
});

it("the next page of a choice is of the same choice", async () => {
  const { warnings, stderr, meta } = await commands.agent("list", "--label", "team=one", "--limit", "1");
  expect(warnings).toEqual([]);
  expect(stderr).toBe("");
  expect(await names("--label", "team=one", "--limit", "1", "--cursor", String(meta.cursor))).toEqual(["a"]);
});

it("pause, unpause, restart and kill are for the living that have the label", async () => {
  const done = async (...argv: string[]) =>
    ((await commands.agent(...argv)).data.results as { name: string }[]).map(({ name }) => name);
  expect(await done("pause", "--label", "night=yes")).toEqual(["a"]);
  expect(await done("unpause", "--label", "night=yes")).toEqual(["a"]);
  expect(await done("restart", "--label", "team=two")).toEqual(["c"]);
  expect(await done("kill", "--label", "team=one", "--grace", "0s")).toEqual(["b", "a"]);
  const none = await commands.agent("kill", "--label", "team=none");
  expect(none.warnings).toEqual(["No living worker agrees with --label team=none."]);
  expect(none.data).toMatchObject({ effect: "noop", results: [] });
  expect(await names()).toEqual(["c"]);
});

it("the workers below one are those that its agents spawned, at any depth", async () => {
  const spawning = (name: string, then: string) =>
    `"${process.execPath}" "${AGENT}" spawn --name ${name} -- sh -c '${then}' && exec sleep 1000`;
  const lead = spawning("helper", "exec sleep 1000");
  await commands.agent("spawn", "--name", "lead", "--", "sh", "-c", lead);
  await until(async () => (await names("--below", "lead")).length === 1);
  expect(await names("--below", "lead")).toEqual(["helper"]);
  expect(await names("--below", "helper")).toEqual([]);
  const nobody = await commands.agent("list", "--below", "nobody");
  expect(nobody).toMatchObject({ exit: 5, error: { code: "WORKER_NOT_FOUND" } });
});
