/** An agent whose calls were refused ends well and has not done what was asked: whoever looks at it is told, and with which flag it would have. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Answer, type Commands, makeCommands } from "./support/commands.ts";

const PLAYS = fileURLToPath(new URL("../fixtures/children/prints-played.sh", import.meta.url));
const refused = (tool_name: string, tool_use_id: string) => ({
  type: "system",
  subtype: "permission_denied",
  tool_name,
  tool_use_id,
});
const LINES = [
  { type: "system", subtype: "init", session_id: "s", model: "large" },
  refused("Bash", "t1"),
  refused("Bash", "t2"),
  refused("Write", "t3"),
  { type: "result", subtype: "success", is_error: false, num_turns: 1, result: "done", duration_ms: 9 },
];
const DENIED = [
  { tool: "Bash", calls: 2 },
  { tool: "Write", calls: 1 },
];
const ADVICE =
  "3 calls were denied: Bash, Write. To allow such calls: --allow-tool Bash, --permission ask, or --permission allow with --sandbox workspace";

let commands: Commands;
let waited: Answer;
beforeAll(async () => {
  commands = makeCommands();
  const played = join(commands.home, "played.ndjson");
  writeFileSync(played, LINES.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const program = ["--env", `CLAUDE_BINARY=${PLAYS}`, "--env", `PLAYED=${played}`];
  waited = await commands.agent("spawn", "--name", "fixer", ...program, "claude", "fix it", "--wait");
});
afterAll(() => commands.close());

it("a wait ends well, with a warning and the tools", () => {
  expect(waited.exit).toBe(0);
  expect(waited.data.denied).toEqual(DENIED);
  expect(waited.warnings).toEqual([`fixer: ${ADVICE}`]);
});

it("list, info and why tell it as data", async () => {
  const { data: list } = await commands.agent("list", "--all");
  expect((list as unknown as { denied: unknown }[])[0]!.denied).toEqual(DENIED);
  expect((await commands.agent("info", "fixer")).data.denied).toEqual(DENIED);
  expect((await commands.agent("why", "fixer")).data.denied).toEqual(DENIED);
});

it("list, info and why tell it to people", async () => {
  expect((await commands.text("list", "--all")).stdout).toContain("completed (3 denied)");
  expect((await commands.text("info", "fixer")).stdout).toMatch(/permission +deny\n/);
  expect((await commands.text("info", "fixer")).stdout).toContain(ADVICE);
  expect((await commands.text("why", "fixer")).stdout).toContain(ADVICE);
});
