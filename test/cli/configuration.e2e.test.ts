/** The keys of config.yaml reach a real daemon, by kind or short name; what does not count is told by who starts it, and by the doctor. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Commands, makeCommands } from "./support/commands.ts";

let commands: Commands;
let path: string;
beforeEach(() => {
  commands = makeCommands();
  path = join(commands.home, "config.yaml");
});
afterEach(() => commands.close());

const configure = (text: string): void => writeFileSync(path, text);
const doctorSays = async () => {
  const { checks } = (await commands.agent("doctor")).data as { checks: Record<string, string>[] };
  return checks.find(({ name }) => name === "configuration");
};

it("a kind is named in full or in short, and what names none is told at each start and left out alone", async () => {
  configure(`binaries:
  claude: /bin/true
  cluade: /bin/false
kinds:
  codex: { allow_external_sandbox_exec: true }
  claude: { allow_mcp_write: true }
  claude_code: { allow_mcp_write: false }
`);
  const leftOut = [
    `binaries.cluade of ${path} is left out: there is no kind of that name; did you mean claude?`,
    `kinds.claude_code of ${path} is left out: it is given twice, as claude and as claude_code`,
  ];
  expect(await doctorSays()).toMatchObject({ result: "warn", finding: leftOut.join("; ") });
  expect(await commands.agent("daemon", "start")).toMatchObject({ exit: 0, warnings: leftOut });
  const { data } = await commands.agent("capabilities");
  const kinds = data as unknown as { kind: string; binary: string; capabilities: string[] }[];
  const of = (name: string) => kinds.find(({ kind }) => kind === name)!;
  expect(of("claude_code").binary).toBe("/bin/true");
  expect(of("codex").capabilities).toContain("agent_api.exec.external_sandbox.v1");
  expect(of("claude_code").capabilities).toContain("agent_api.tools.mcp.add.v1");

  expect(await commands.agent("daemon", "upgrade", "--force")).toMatchObject({ exit: 0, warnings: leftOut });
  expect((await commands.text("daemon", "upgrade")).stderr).toContain(`warning: ${leftOut[0]}`);
  expect(await doctorSays()).toMatchObject({ result: "warn", finding: leftOut.join("; ") });
});

it("a configuration with mistakes counts as none, and who starts the daemon is told what is used instead", async () => {
  configure("adapters: 7\nbinaries: { claude: claude }\n");
  const { exit, warnings } = await commands.agent("daemon", "start");
  expect(exit).toBe(0);
  expect(warnings).toEqual([
    `${path} is left out: adapters: Invalid input: expected array, received number; binaries.claude: a program is an absolute path; it is ignored: only the built-in kinds exist, and everything that it may allow is off`,
  ]);
  const again = await commands.agent("daemon", "start");
  expect(again).toMatchObject({ exit: 0, data: { effect: "noop" }, warnings });
});
