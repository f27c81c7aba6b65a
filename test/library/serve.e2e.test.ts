/** A runtime that its program serves: the command and other programs use it, and programs that start at once share one. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Runtime } from "../../src/library/index.ts";
import { agent, first, program, stateDirectory, until } from "./support.ts";

const shell = (script: string) => ({ kind: "command", argv: ["sh", "-c", script] }) as const;

const dataOf = async (stateDir: string, ...argv: string[]) =>
  JSON.parse(await agent(stateDir, ...argv, "-o", "json")).data;

test("the command and other programs use a runtime that its program serves", async () => {
  const stateDir = stateDirectory();
  const owner = program(join(import.meta.dirname, "fixtures/serves.ts"), [stateDir]);
  await until(() => owner.stdout().includes("serving"), "the program serves");
  const { pid } = owner.process;
  const other = await Runtime.connect({ stateDir });
  onTestFinished(() => other.close());
  expect(other.isOwner).toBe(false);
  await first(other.watch("mine"), "agent.event");
  expect(await dataOf(stateDir, "list")).toMatchObject([{ name: "mine", status: "running" }]);
  expect(await agent(stateDir, "logs", "mine")).toContain("begun");
  expect(await dataOf(stateDir, "daemon", "status")).toMatchObject({ served_by: "program", pid });
  await expect(agent(stateDir, "daemon", "stop", "--kill-agents")).rejects.toThrow(/embeds this runtime/);
  await expect(Runtime.open({ stateDir })).rejects.toMatchObject({
    code: "LOCK_HELD",
    message: expect.stringContaining(`A program that embeds Holdfast, pid ${pid}`),
  });
  const { id } = await other.spawn({ ...shell("exec sleep 600"), name: "theirs" });
  await agent(stateDir, "kill", "mine");
  await until(() => owner.stdout().includes("mine is cancelled"), "the owner sees the kill");
  const waiting = other.wait(id);
  owner.process.kill("SIGTERM");
  await expect(waiting).rejects.toMatchObject({ code: "SUPERVISOR_DOWN" });
  await expect(other.spawn(shell("true"))).rejects.toMatchObject({
    code: "SUPERVISOR_DOWN",
    message: `The program that served the runtime, pid ${pid}, has ended or closed it.`,
  });
  expect(await owner.ended).toMatchObject({ code: 0, stderr: "" });
});

test("programs that start at once on one directory share one runtime, and the next owner takes the agents over", async () => {
  const stateDir = stateDirectory();
  const file = join(import.meta.dirname, "fixtures/shares.ts");
  const programs = ["a", "b"].map((name) => program(file, [stateDir, name]));
  const said = await Promise.all(programs.map(async ({ ended }) => JSON.parse((await ended).stdout)));
  expect(said.filter(({ isOwner }) => isOwner)).toHaveLength(1);
  // Each program has seen the workers of all, and started the common one once.
  for (const { names } of said) expect(names).toEqual(["a", "b", "common"]);
  expect(said.filter(({ effect }) => effect === "created")).toHaveLength(1);
  const after = said.filter(({ isOwner }) => !isOwner).map(({ afterwards }) => afterwards);
  expect(after).toEqual(["SUPERVISOR_DOWN"]);
  const next = await Runtime.openOrConnect({ stateDir });
  onTestFinished(() => next.close());
  expect(next.isOwner).toBe(true);
  expect((await next.list()).map(({ name }) => name).sort()).toEqual(["a", "b", "common"]);
});

test("a directory that a program does not serve is refused", async () => {
  const stateDir = stateDirectory();
  const alone = await Runtime.open({ stateDir });
  onTestFinished(() => alone.close());
  await expect(Runtime.openOrConnect({ stateDir })).rejects.toMatchObject({ code: "LOCK_HELD" });
});
