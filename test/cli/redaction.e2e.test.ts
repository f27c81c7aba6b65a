/** Secrets that nobody has named: what an agent prints, and what a person types, is masked wherever it comes out again. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeStreamValidator } from "../../src/protocol/validate/stream.ts";
import { type Commands, makeCommands } from "./support/commands.ts";

/** Made here, so that no scanner takes this file for a leak. */
const TOKEN = `ghp_${"aB3dE5gH7j".repeat(4).slice(0, 36)}`;
const WORD = "hunter2secretvalue";
const SAID = [
  `\\033[32m${TOKEN}\\033[0m`,
  `tok-${TOKEN} x_${TOKEN} 7${TOKEN}`,
  `aws_secret_access_key = ${WORD}`,
  `password=${WORD}`,
  `X-API-Key: ${WORD}`,
  `--token=${WORD}`,
  `https://${WORD}@example.org`,
].join("\\n");

let commands: Commands;
beforeAll(async () => {
  commands = makeCommands();
  await commands.agent("spawn", "--name", "teller", "--wait", "--", "sh", "-c", `printf '${SAID}\\n'`);
});
afterAll(() => commands.close());

/** In all three modes, stdout and stderr. */
const everywhere = async (...argv: string[]): Promise<string> => {
  const told = [];
  for (const mode of ["json", "ndjson", "text"]) {
    const { stdout, stderr } = await commands.start(["-o", mode, ...argv]).ended;
    told.push(stdout + stderr);
  }
  return told.join("\n");
};

it.each([
  ["what an agent says, in its events", ["logs", "teller"]],
  ["the final answer", ["output", "teller"]],
  ["the export", ["db", "export"]],
  ["its command line", ["info", "teller"]],
  ["an id that is not there", ["kill", TOKEN]],
  ["a flag that there is not", ["list", `--${TOKEN}`]],
  ["a command that there is not", [TOKEN]],
  ["help about nothing", ["help", TOKEN]],
  ["a digest that is none", ["cas", "get", TOKEN]],
  [
    "a plan",
    ["spawn", "--dry-run", "--label", `note=${TOKEN}`, "--", "mysql", `-p${TOKEN}`, "--password", WORD],
  ],
  ["a name", ["spawn", "--name", TOKEN, "--", "true"]],
])("%s: agent %j tells none", async (_what, argv) => {
  const told = await everywhere(...argv);
  expect(told).not.toContain(TOKEN);
  expect(told).not.toContain(WORD);
  expect(told.length).toBeGreaterThan(0);
});

it("a name that looks like a secret is refused, before anything is started", async () => {
  const { exit, error } = await commands.agent("spawn", "--name", TOKEN, "--", "true");
  expect({ exit, message: error!.message }).toEqual({
    exit: 3,
    message: expect.stringContaining(
      "a name has to be one that everybody may see, and this one looks like a secret",
    ),
  });
  const known = await commands.agent("spawn", "--env", `MY_TOKEN=${WORD}`, "--name", WORD, "--", "true");
  expect(known.error).toMatchObject({ code: "INVALID_REQUEST" });
  expect(known.stdout).not.toContain(WORD);
  expect(JSON.stringify((await commands.agent("list", "--all")).data)).not.toContain(WORD);
});

it("the log and what is made from it have none, and the product's own validator takes all that it prints", async () => {
  for (const name of readdirSync(commands.home).filter((name) => name.startsWith("holdfast.db"))) {
    const bytes = readFileSync(join(commands.home, name));
    expect({ name, has: bytes.includes(TOKEN) || bytes.includes(WORD) }).toEqual({ name, has: false });
  }
  for (const argv of [
    ["list", "--all"],
    ["info", "teller"],
    ["db", "export"],
    ["kill", TOKEN],
  ]) {
    const { stdout } = await commands.start(["-o", "ndjson", ...argv]).ended;
    const stream = makeStreamValidator({ level: "spec" });
    for (const line of stdout.trimEnd().split("\n")) stream.line(Buffer.from(line));
    expect({ argv, findings: stream.end().list.filter(({ rule }) => rule === "secret") }).toEqual({
      argv,
      findings: [],
    });
  }
});
