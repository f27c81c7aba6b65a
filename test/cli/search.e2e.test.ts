/** agent search as a user types it: the words are marked, pages go on, mistakes are told, and it works over a restart of the daemon. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands } from "./support/commands.ts";

let commands: Commands;
beforeAll(async () => {
  commands = makeCommands();
  const says = "echo the disk is full; echo a full table >&2; exit 3";
  await commands.agent("spawn", "--name", "writer", "--wait", "--", "sh", "-c", says);
});
afterAll(() => commands.close());

interface Hit {
  readonly worker_name: string;
  readonly text: string;
}
const hits = async (...argv: string[]): Promise<readonly Hit[]> =>
  (await commands.agent("search", ...argv)).data as unknown as readonly Hit[];

it("marks the words, and narrows by worker, type and time", async () => {
  const { exit, stdout } = await commands.text("search", '"is full"', "disk", "--type", "TextOutput");
  expect(exit).toBe(0);
  expect(stdout).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}\d+ {2}writer\.1 {2}TextOutput {2}the \[disk\] \[is\] \[full\] ?\n$/,
  );
  const found = await hits("full", "--worker", "writer", "--type", "TextOutput", "--since", "1h");
  expect(found.map(({ text }) => text.trim()).sort()).toEqual(["a full table", "the disk is full"]);
  expect(await hits("full", "--type", "ToolCall")).toEqual([]);
});

it("tells the next page", async () => {
  const { stderr } = await commands.text("search", "full", "--limit", "1");
  const next = /agent (search full --limit 1 --cursor \S+)/.exec(stderr)?.[1];
  expect(next).toBeDefined();
  expect((await commands.text(...next!.split(" "))).stdout).toContain("[full]");
});

it.each([
  [["search"], "TEXT"],
  [["search", "--", "?!"], "there is no word in it"],
  [["search", "ab", "c*"], "at least two letters"],
  [["search", "a", "--type", "TextOutptu"], "did you mean TextOutput"],
  [["search", "a", "--limit", "501"], "limit"],
  [["search", "a", "--cursor", "x"], "cursor"],
])("agent %j is refused", async (argv, words) => {
  const { exit, stderr } = await commands.text(...argv);
  expect(exit).toBe(3);
  expect(stderr.toLowerCase()).toContain(words.toLowerCase());
});

it("finds the same after a restart of the daemon", async () => {
  const before = await hits("full");
  await commands.agent("daemon", "stop", "--kill-agents");
  await commands.agent("daemon", "start");
  expect(await hits("full")).toEqual(before);
});
