/** A board as people use it: fed from a file, worked off by agents in worktrees, over a crash of the daemon. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AGENT } from "../support/built.ts";
import { makeRepository, type TestRepository } from "../support/repository.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

let commands: Commands;
let repository: TestRepository;
beforeAll(() => {
  commands = makeCommands();
  repository = makeRepository({ "README.md": "hello\n" });
});
afterAll(async () => {
  await commands.close();
  rmSync(repository.root, { recursive: true, force: true });
});

const lanesOf = async (...flags: string[]): Promise<Record<string, number>> =>
  (await commands.agent("board", "list", ...flags)).data.lanes as Record<string, number>;

it("works off the cards of a file, each in a worktree of its own, while the daemon is killed", async () => {
  const file = join(commands.home, "issues.jsonl");
  const cards = [1, 2, 3, 4].map((n) =>
    JSON.stringify({ id: `GH-${n}`, title: `Issue ${n}`, body: "Do it." }),
  );
  writeFileSync(file, `${cards.join("\n")}\n`);
  // The first card waits for a file, so that the daemon is killed while it runs.
  const go = join(commands.home, "go");
  const script = `cat > "$HOLDFAST_CARD.txt"; [ "$HOLDFAST_CARD" != GH-1 ] || while ! [ -e ${go} ]; do sleep 0.05; done`;
  const dispatch = [
    "board",
    "dispatch",
    "--slots",
    "2",
    "--review",
    "--from",
    file,
    "--cwd",
    repository.path,
  ];
  const set = await commands.text(...dispatch, "--", "sh", "-c", script);
  expect(set).toMatchObject({ exit: 0 });
  expect(set.stdout).toContain("2 slots of command, each in a worktree, completed cards go to Review");
  await until(async () => (await lanesOf()).Review === 3);
  await commands.killDaemon();
  await commands.agent("daemon", "start");
  expect(await lanesOf()).toMatchObject({ Running: 1, Review: 3 });
  writeFileSync(go, "");
  await until(async () => (await lanesOf()).Review === 4);

  const shown = await commands.text("board", "show", "GH-1");
  expect(shown.stdout).toMatch(/branch +holdfast\/GH-1-/);
  const { data: card } = await commands.agent("board", "show", "GH-1");
  const { id } = card.worker as { id: string };
  const { path } = card.workspace as { path: string };
  expect(card).toMatchObject({ lane: "Review", attempt: 1, agent_id: id, last_outcome: "completed" });
  expect(card.commands).toContain(`agent changes ${id}`);
  expect(readFileSync(join(path, "GH-1.txt"), "utf8")).toBe("GH-1: Issue 1\n\nDo it.");

  // Feeding it again adds nothing.
  const again = await commands.agent("board", "add", "--from", file);
  expect((again.data.cards as { effect: string }[]).map(({ effect }) => effect)).toEqual(
    Array(4).fill("noop"),
  );
  await commands.agent("board", "done", "GH-1");
  expect((await commands.text("board", "list")).stdout).toMatch(/^Review 3 {2}Done 1/);
});

it("a person moves cards by hand, and is told why one does not move", async () => {
  const on = ["--board", "hand"];
  const added = await commands.text(
    "board",
    "add",
    "A",
    "Look at it",
    "--label",
    "bug",
    "--priority",
    "high",
    ...on,
  );
  expect(added.stdout).toBe("A\n");
  expect((await commands.text("board", "claim", "A", ...on)).stdout).toBe("A Claimed\n");
  for (const [verb, lane] of [
    ["release", "Todo"],
    ["block", "Blocked"],
    ["handoff", "Review"],
    ["retry", "RetryQueued"],
  ] as const)
    expect((await commands.agent("board", verb, "A", ...on)).data).toMatchObject({ lane, effect: "updated" });
  const refused = await commands.text("board", "release", "A", ...on);
  expect(refused.exit).toBe(6);
  expect(refused.stderr).toContain("Card A is in RetryQueued, so it cannot be released.");
  expect(await commands.agent("board", "show", "B", ...on)).toMatchObject({
    exit: 5,
    error: { code: "CARD_NOT_FOUND" },
  });
});

it("an agent claims and finishes a card in its own name, from its own shell", async () => {
  const on = ["--board", "agents"];
  await commands.agent("board", "add", "A", "Look at it", ...on);
  const agent = `${process.execPath} ${AGENT} board`;
  const script = `${agent} claim A ${on.join(" ")} && ${agent} done A ${on.join(" ")} --reason 'looked at'`;
  const spawned = await commands.agent(
    "spawn",
    "--wait",
    "--env",
    `HOLDFAST_HOME=${commands.home}`,
    "--",
    "sh",
    "-c",
    script,
  );
  expect(spawned.exit).toBe(0);
  const watched = commands.start(["-o", "ndjson", "board", "watch", ...on, "--from", "0", "--no-follow"]);
  const records = (await watched.ended).stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).data);
  expect(records.filter(({ type }) => type !== undefined)).toMatchObject([
    { type: "issue.discovered" },
    { type: "issue.claimed", payload: { by: `worker:${spawned.data.id}` } },
    { type: "issue.done", payload: { by: `worker:${spawned.data.id}`, note: "looked at" } },
  ]);
});

it("mistakes of a call are told before anything is done", async () => {
  const lines = join(commands.home, "broken.jsonl");
  writeFileSync(lines, '{"id":"A","title":"a"}\n{"id":\n[1]\n');
  const refusals = [
    ["add"],
    ["add", "A", "a", "--from", lines],
    ["add", "--from", lines],
    ["add", "two words", "a"],
    ["list", "--lane", "Somewhere"],
    ["dispatch"],
    ["dispatch", "--slots", "1", "--model", "m"],
    ["dispatch", "nonsense", "--slots", "1"],
    ["dispatch", "--restart", "permanent", "--no-worktree", "--", "true"],
  ];
  for (const argv of refusals) {
    const { exit, error } = await commands.agent("board", ...argv);
    expect({ argv, exit }).toEqual({ argv, exit: 3 });
    expect(["INVALID_REQUEST", "INVALID_AGENT_KIND"]).toContain(error?.code);
  }
  const outside = await commands.agent("board", "dispatch", "--cwd", "/", "--", "true");
  expect(outside.error).toMatchObject({
    code: "WORKTREE_UNAVAILABLE",
    suggestion: expect.stringContaining("--no-worktree"),
  });
});
