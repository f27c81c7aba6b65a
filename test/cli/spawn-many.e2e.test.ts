/** agent spawn-many as a user and an agent type it: roles of config.yaml, a file, stdin, a refusal, and the wait for all. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AGENT } from "../support/built.ts";
import { type Commands, makeCommands } from "./support/commands.ts";

let commands: Commands;
const file = (name: string, text: string): string => {
  const path = join(commands.home, name);
  writeFileSync(path, text);
  return path;
};
beforeAll(() => {
  commands = makeCommands();
  const roles = { echo: { kind: "command", argv: ["cat"] }, breaks: { kind: "command", argv: ["false"] } };
  writeFileSync(join(commands.home, "config.yaml"), JSON.stringify({ roles }));
});
afterAll(() => commands.close());

it("starts a group, waits for it, and a repeat starts nobody", async () => {
  const crew = file(
    "crew.yaml",
    "epic_id: login\nrequested_subagents:\n- {role: echo, task: one}\n- {role: echo, task: two}\n",
  );
  const done = await commands.agent("spawn-many", crew, "--wait", "--idempotency-key", "k");
  expect(done).toMatchObject({ exit: 0, data: { epic_id: "login", accepted: true, effect: "created" } });
  const agents = done.data.spawned_agents as { readonly id: string; readonly status: string }[];
  expect(agents.map(({ status }) => status)).toEqual(["completed", "completed"]);
  expect((await commands.text("output", agents[1]!.id)).stdout).toBe("two");
  expect((await commands.agent("list", "--all", "--label", "epic=login")).data).toHaveLength(2);
  const again = await commands.agent("spawn-many", crew, "--idempotency-key", "k");
  expect(again.data).toMatchObject({
    effect: "noop",
    spawned_agents: [{ id: agents[0]!.id }, { id: agents[1]!.id }],
  });
});

it("a group with one that may not start is an error, with each one's reason, and starts nobody", async () => {
  const crew = file("bad.yaml", "[{role: echo, task: one}, {role: ecko, task: two}]");
  const refused = await commands.agent("spawn-many", crew);
  expect(refused).toMatchObject({
    exit: 3,
    error: { code: "INVALID_REQUEST" },
    meta: {
      partial: {
        accepted: false,
        denied_agents: [
          { role: "echo", reason: "not_started" },
          { role: "ecko", reason: "unknown_role" },
        ],
      },
    },
  });
  const failed = await commands.agent(
    "spawn-many",
    file("fails.yaml", "[{role: breaks, task: x}]"),
    "--wait",
  );
  expect(failed).toMatchObject({ exit: 2, meta: { partial: { spawned_agents: [{ status: "failed" }] } } });
});

it.each([
  ["[{role: echo}]", "task"],
  ["{", "neither YAML nor JSON"],
  ["[]", "requested_subagents"],
  ["[{role: Echo, task: x}]", "small letters"],
])("%s is refused", async (text, words) => {
  const { exit, stderr } = await commands.text("spawn-many", file("mistake.yaml", text));
  expect(exit).toBe(3);
  expect(stderr).toContain(words);
});

it("an agent's own group is below it, and agent wait --subtree waits for all of it", async () => {
  const says = `echo '[{role: echo, task: below}]' | "${process.execPath}" "${AGENT}" spawn-many - >/dev/null`;
  const lead = await commands.agent("spawn", "--name", "lead", "--", "sh", "-c", says);
  const waited = await commands.agent("wait", "lead", "--subtree");
  const results = waited.data.results as { readonly id: string; readonly status: string }[];
  expect(results.map(({ status }) => status)).toEqual(["completed", "completed"]);
  expect((await commands.agent("info", results[1]!.id)).data.parent).toBe(lead.data.id);
});
