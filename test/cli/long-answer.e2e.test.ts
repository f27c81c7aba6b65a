/** A long answer on the wire: `agent output` names its artifact, and the envelope keeps every rule of the contract. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands } from "./support/commands.ts";

const AGENT = join(import.meta.dirname, "../fixtures/agents/answers-at-length.mjs");

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

it("comes with the summary of its artifact, and its daemon lives on", async () => {
  const env = { CLAUDE_BINARY: AGENT };
  const flags = ["--env", "ANSWER_BYTES=200000", "--env", "THE_SECRET=correct-horse-battery-staple"];
  const spawned = await commands.start(
    ["spawn", "claude", "go on", "--name", "long", "--wait", ...flags],
    env,
  ).ended;
  expect(spawned.exit, spawned.stderr + spawned.stdout).toBe(0);
  const before = await commands.daemonPid();
  const { exit, data } = await commands.agent("output", "long");
  expect(exit).toBe(0);
  expect(data).toMatchObject({
    artifact: expect.stringMatching(/^sha256:/),
    summary: { size_bytes: expect.any(Number) },
  });
  expect(await commands.daemonPid()).toBe(before);
});
