/** The blackboard as people and agents use it: in a terminal, from inside a run, over a crash of the daemon. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AGENT } from "../support/built.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

let commands: Commands;
beforeAll(async () => {
  commands = makeCommands();
  await commands.agent("daemon", "start");
});
afterAll(() => commands.close());

interface Item {
  readonly item_id: string;
  readonly title: string;
  readonly state: string;
  readonly by: string;
  readonly lease: { readonly by: string } | null;
}
const items = async (...flags: string[]): Promise<readonly Item[]> =>
  (await commands.agent("bb", "list", ...flags)).data as unknown as readonly Item[];

it("an item is posted, found, claimed, extended and done, and each refusal says what to do", async () => {
  const posted = await commands.text("bb", "post", "Fix the login", "--tag", "rust", "--body", "It hangs.");
  expect(posted).toMatchObject({ exit: 0, stderr: "" });
  const id = posted.stdout.trim();
  expect((await commands.text("bb", "list")).stdout).toMatch(
    new RegExp(`${id} +free +\\S+ +#rust +Fix the login`),
  );
  expect((await commands.text("bb", "search", "hang*", "--tag", "rust")).stdout).toContain(id);
  expect((await commands.agent("bb", "search", "logout")).data).toEqual([]);

  const claimed = await commands.agent("bb", "claim", "--tag", "rust", "--lease", "1h");
  const token = String(claimed.data.token);
  expect(claimed.data).toMatchObject({ item_id: id, item: { state: "claimed", lease: { by: "user" } } });
  const second = await commands.text("bb", "claim", id);
  expect(second.exit).toBe(6);
  expect(second.stderr).toContain("is claimed by user for another");
  expect(await commands.agent("bb", "claim")).toMatchObject({ exit: 5, error: { code: "ITEM_NOT_FOUND" } });
  const extended = await commands.text("bb", "claim", id, "--token", token, "--lease", "2h");
  expect(extended.stdout).toMatch(
    new RegExp(`${id} token ${token} for (2h|1h59m)\\S* #rust\nFix the login\nIt hangs.`),
  );

  const wrong = await commands.agent("bb", "release", id, "--token", "1");
  expect(wrong).toMatchObject({ exit: 6, error: { code: "LEASE_LOST" } });
  expect(await commands.agent("bb", "release", id, "--token", token, "--done")).toMatchObject({
    exit: 0,
    data: { item_id: id, done: true, effect: "deleted" },
  });
  expect(await items()).toEqual([]);
  expect(await commands.agent("bb", "claim", id)).toMatchObject({
    exit: 5,
    error: { code: "ITEM_NOT_FOUND" },
  });
});

it("mistakes of a call are told before anything is done", async () => {
  const refusals = [
    ["post"],
    ["post", "a", "--data", "{"],
    ["post", "a", "--body", "b", "--body-file", "-"],
    ["post", "a", "--body-file", "/nonexistent.txt"],
    ["post", "a", "--tag", "two words"],
    ["post", "a", "--ns", "no/slash"],
    ["post", "a", "--ttl", "0s"],
    ["claim", "A", "--tag", "x"],
    ["claim", "--token", "3"],
    ["claim", "--lease", "2d"],
    ["release", "A"],
    ["watch", "--from", "0", "--since", "1h"],
  ];
  for (const argv of refusals) {
    const { exit, error } = await commands.agent("bb", ...argv);
    expect({ argv, exit, code: error?.code }).toEqual({ argv, exit: 3, code: "INVALID_REQUEST" });
  }
});

it("a text comes from stdin or a file, and an artifact stays as long as its item", async () => {
  const file = join(commands.home, "body.txt");
  writeFileSync(file, "from a file");
  const { data: artifact } = await commands.agent("cas", "put", file);
  const { data } = await commands.agent(
    ...[
      "bb",
      "post",
      "--body-file",
      file,
      "--artifact",
      artifact.digest as string,
      "--data",
      '{"n":1}',
      "--ns",
      "files",
    ],
  );
  const [item] = (await commands.agent("bb", "list", "--ns", "files")).data as unknown as readonly object[];
  expect(item).toMatchObject({
    body: "from a file",
    data: { n: 1 },
    artifacts: [artifact.digest],
    title: null,
  });
  const absent = `sha256:${"0".repeat(64)}`;
  expect(await commands.agent("bb", "post", "a", "--artifact", absent)).toMatchObject({
    exit: 5,
    error: { code: "ARTIFACT_NOT_FOUND" },
  });
  expect(data).toMatchObject({ ns: "files", effect: "created" });
});

it("an agent posts and claims in its own name, from its own shell", async () => {
  const script = [
    `${process.execPath} ${AGENT} bb post 'found it' --ns agents`,
    `${process.execPath} ${AGENT} bb claim --ns agents`,
  ].join(" && ");
  const env = ["--env", `HOLDFAST_HOME=${commands.home}`];
  const spawned = await commands.agent(
    "spawn",
    "--name",
    "finder",
    "--wait",
    ...env,
    "--",
    "sh",
    "-c",
    script,
  );
  expect(spawned.exit).toBe(0);
  const by = `worker:${spawned.data.id}`;
  expect(await items("--ns", "agents")).toMatchObject([{ title: "found it", by, lease: { by } }]);
});

it("leases, tokens and keys hold over a daemon that is killed, and a watch goes on with the next one", async () => {
  const { data: posted } = await commands.agent("bb", "post", "keep me", "--ns", "crash");
  const id = posted.item_id as string;
  const claim = ["bb", "claim", "--ns", "crash", "--lease", "1h", "--idempotency-key", "mine"];
  const { data: claimed } = await commands.agent(...claim);
  const watching = commands.start(["bb", "watch", "--ns", "crash", "--from", "0", "-o", "ndjson"]);
  await until(() => watching.out().includes("bb_claimed"));
  await commands.killDaemon();
  await until(() => watching.err().includes("The daemon is gone"));
  await commands.agent("daemon", "start");
  expect((await commands.agent(...claim)).data).toMatchObject({
    item_id: id,
    token: claimed.token,
    effect: "noop",
  });
  expect(await commands.agent("bb", "claim", id)).toMatchObject({ exit: 6, error: { code: "ITEM_CLAIMED" } });
  const release = ["bb", "release", id, "--token", String(claimed.token), "--idempotency-key", "mine"];
  expect((await commands.agent(...release)).data).toMatchObject({ effect: "updated" });
  expect((await commands.agent(...release)).data).toMatchObject({ effect: "noop" });
  await until(() => watching.out().includes("bb_released"));
  watching.child.kill("SIGINT");
  const { stdout } = await watching.ended;
  const types = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).data.type)
    .filter((type) => type !== undefined);
  expect(types).toEqual(["bb_posted", "bb_claimed", "bb_released"]);
});
