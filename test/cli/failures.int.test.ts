/** Every command in failure: one envelope that the contract's own schema takes, with an exit code that its manifest declares. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as z from "zod";
import { manifest } from "../../src/cli/manifest.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { EnvelopeV1, ResponseEnvelope, ResponseEnvelopeG2 } from "../../src/protocol/envelope-schemas.ts";
import { GENERATIONS } from "../../src/protocol/generations.ts";
import { hasVectors } from "../protocol/vectors.ts";
import { contractSchema } from "../support/contract-schemas.ts";
import { agent } from "./support/agent.ts";
import { ENVELOPE, FAILING } from "./support/failing.ts";

/** They are content with a state directory that is not there, and not with one that cannot be. */
const BELOW_A_FILE = ["cas/list", "cas/gc"];

/** They fail by their arguments alone (bad-input.int.test.ts), or have tests of their own with what they need to fail. */
const ELSEWHERE = [
  "db/check",
  "agent/demo",
  "agent/top",
  "mcp/serve",
  "agent/acp",
  "agent/relay",
  "agent/capabilities",
  "agent/doctor",
  "agent/completion",
  "agent/manifest",
  "agent/version",
  "daemon/run",
  "daemon/start",
  "daemon/stop",
  "daemon/upgrade",
  "daemon/install",
  "daemon/uninstall",
];

let home: string;
let contract: z.ZodType = ResponseEnvelope;
beforeAll(() => {
  process.setMaxListeners(0);
  home = mkdtempSync(join(tmpdir(), "holdfast-failing-"));
  if (hasVectors("response-envelope")) contract = contractSchema("response-envelope");
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

it("every command has its case, here or elsewhere", () => {
  expect(new Set([...Object.keys(FAILING), ...ELSEWHERE])).toEqual(
    new Set(COMMANDS.map(({ command }) => command)),
  );
});

describe.each(Object.entries(FAILING))("%s", (command, [code, ...argv]) => {
  const name = COMMANDS.find((each) => each.command === command)!.words.join(".");
  const run = async (...more: string[]) => {
    const stateDir = join(BELOW_A_FILE.includes(command) ? ENVELOPE : home, "state");
    const ran = await agent(["--state-dir", stateDir, ...more, ...argv]);
    expect(existsSync(stateDir)).toBe(false);
    expect(ran.stdout.trimEnd().split("\n")).toHaveLength(1);
    return { exit: ran.exit, told: JSON.parse(ran.stdout) };
  };

  it(`fails with ${code} in each generation, as its manifest declares`, async () => {
    for (const generation of Object.values(GENERATIONS)) {
      const { exit, told } = await run("-o", "json", "--envelope", generation.name);
      const isG1 = generation.name === "g1";
      expect((isG1 ? contract : ResponseEnvelopeG2).safeParse(told).error).toBeUndefined();
      if (isG1) ResponseEnvelope.parse(told);
      expect(told).toMatchObject({ ok: false, data: null, error: { code } });
      const { commands } = manifest(generation) as unknown as {
        commands: Record<
          string,
          { exit_codes: object; output_schema: { "x-error-codes": Record<string, string[]> } }
        >;
      };
      expect(commands[name]!.exit_codes).toHaveProperty(String(exit));
      expect(commands.manifest!.output_schema["x-error-codes"][exit]).toContain(code);
    }
  });

  it("fails with one terminal envelope of Protocol v1", async () => {
    const { told } = await run("-o", "ndjson");
    // The envelope of a run bears the name of its skill.
    const named = command === "skill/run" ? "fs/ls" : command;
    expect(EnvelopeV1.parse(told)).toMatchObject({
      status: "error",
      command: named,
      error: { details: { code } },
    });
  });
});

it.skipIf(!hasVectors("response-envelope"))(
  "the manifest is that of the contract's schema, in each generation (only where it is at hand)",
  () => {
    const schema = contractSchema("manifest-response");
    for (const generation of Object.values(GENERATIONS)) {
      const told = JSON.parse(JSON.stringify(manifest(generation)));
      expect(schema.safeParse(told).error).toBeUndefined();
    }
  },
);

it("a state directory below a file can never be: it is said so, and nothing is to be tried again", async () => {
  const { exit, stdout } = await agent(["-o", "json", "list", "--state-dir", "/dev/null/x"]);
  const { error } = JSON.parse(stdout);
  expect({ exit, error }).toMatchObject({
    exit: 3,
    error: { code: "INVALID_REQUEST", suggestion: expect.stringContaining("Choose another --state-dir") },
  });
});
