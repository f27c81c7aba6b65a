/** `agent logs` of several workers, of a tree and of a supervisor, between two times. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands, until } from "./support/commands.ts";

let commands: Commands;
beforeAll(async () => {
  commands = makeCommands();
  const tree = {
    version: 1,
    name: "shop",
    tree: {
      children: [
        {
          name: "crew",
          children: ["a", "b"].map((name) => ({
            name,
            argv: ["sh", "-c", `echo from ${name}; exec sleep 1000`],
          })),
        },
        { name: "till", argv: ["sh", "-c", "echo from till; exec sleep 1000"] },
      ],
    },
  };
  const file = join(commands.home, "holdfast.yaml");
  writeFileSync(file, JSON.stringify(tree));
  expect((await commands.agent("up", "-f", file)).exit).toBe(0);
  await until(async () => (await said("shop")).length === 3);
});
afterAll(() => commands.close());

const records = async (...argv: readonly string[]): Promise<readonly Record<string, unknown>[]> => {
  const { stdout } = await commands.start(["logs", "-o", "json", ...argv]).ended;
  return stdout
    .trimEnd()
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
};

/** The words of the agents, in the order of the log. */
const said = async (...argv: readonly string[]): Promise<readonly string[]> =>
  (await records(...argv)).flatMap(({ type, payload }) => {
    const { text } = payload as { readonly text?: string };
    return type === "agent.event" && text !== undefined ? [text.trim()] : [];
  });

it("stands for all workers of a tree, of a supervisor, and of several names, each once", async () => {
  expect((await said("shop")).toSorted()).toEqual(["from a", "from b", "from till"]);
  expect((await said("crew")).toSorted()).toEqual(["from a", "from b"]);
  expect((await said("till", "crew/a", "crew")).toSorted()).toEqual(["from a", "from b", "from till"]);
  const seqs = (await records("crew", "till")).map(({ seq }) => seq as number);
  expect(seqs).toEqual([...new Set(seqs)].sort((x, y) => x - y));
});

it("gives the newest records of each worker, in the order of the log", async () => {
  const newest = await records("crew", "-n", "1");
  expect(newest).toHaveLength(2);
  expect(new Set(newest.map(({ worker_id }) => worker_id)).size).toBe(2);
});

it("ends at an age, and shows whole times", async () => {
  expect(await records("crew", "--until", "1d")).toEqual([]);
  expect(await records("crew", "-n", "5", "--until", "1d")).toEqual([]);
  expect((await said("crew", "--until", "0s")).toSorted()).toEqual(["from a", "from b"]);
  const { stdout } = await commands.text("logs", "crew/a", "-t");
  expect(stdout.split("\n")[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z {2}/);
});

it("follows all of them until they have ended", async () => {
  const following = commands.start(["logs", "-o", "text", "-f", "crew"]);
  await until(() => following.out().includes("from b"));
  expect((await commands.agent("kill", "crew/a", "crew/b")).exit).toBe(0);
  expect((await following.ended).exit).toBe(0);
});

it.each([
  [["nobody"], "WORKER_NOT_FOUND"],
  [["crew", "nobody"], "WORKER_NOT_FOUND"],
  [["crew", "till", "--raw"], "INVALID_REQUEST"],
  [["till", "--raw", "-t"], "INVALID_REQUEST"],
  [["till", "-f", "--until", "1m"], "INVALID_REQUEST"],
])("%j is refused", async (argv, code) =>
  expect((await commands.agent("logs", ...argv)).error).toMatchObject({ code }),
);
