/** Skills by the command: what a manifest declares reaches its run. Counted as skipped without a sandbox. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lookForSandbox } from "../../src/workspace/sandbox/sandbox.ts";
import { printed } from "../skills/support.ts";
import { type Commands, makeCommands } from "./support/commands.ts";

const isHere = "program" in (await lookForSandbox());

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

describe.skipIf(!isHere)("agent run", () => {
  it("gives a skill the secrets of its manifest, and masks them in its answer", async () => {
    const folder = join(commands.home, "skills", "try-out");
    const workspace = join(commands.home, "..", "skill-work");
    for (const directory of [folder, workspace]) mkdirSync(directory, { recursive: true });
    const manifest = "name: try/out\nsummary: A test.\nrun: [./run.sh]\ncapabilities: {secrets: [A_WORD]}\n";
    writeFileSync(join(folder, "skill.yaml"), manifest);
    const script = `#!/bin/sh\n${printed("try/out", '{"got":"<$A_WORD>","letters":$(expr length "$A_WORD")}')}\n`;
    writeFileSync(join(folder, "run.sh"), script, { mode: 0o755 });
    const words = ["-o", "json", "run", "try/out", "--workspace", workspace];
    const ran = await commands.start(words, { A_WORD: "orange-elephant" }).ended;
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: true, data: { got: "<***>", letters: 15 } });
    const shown = await commands.agent("skills", "show", "try/out", "--workspace", workspace);
    expect(shown.data).toMatchObject({ skill: "try/out", variables: ["A_WORD"] });
  });
});
