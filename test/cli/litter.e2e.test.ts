/** The directories that codex leaves where it works when it is stopped in a command: empty directories, which go with it. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands } from "./support/commands.ts";

let commands: Commands;
let dir: string;
beforeAll(() => {
  commands = makeCommands();
  dir = mkdtempSync(join(tmpdir(), "holdfast-litter-"));
});
afterAll(async () => {
  await commands.close();
  rmSync(dir, { recursive: true, force: true });
});

it.each([
  ["codex", "CODEX_BINARY"],
  ["acp:codex", "CODEX_ACP_BINARY"],
])(
  "a %s that is killed leaves none of them, neither in its directory nor in others that it may work in nor in that of temporary files",
  async (kind, variable) => {
    const isOwn = kind === "codex";
    const [work, other, temporary] = [join(dir, "work"), join(dir, "other"), join(dir, "temporary")];
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir);
    for (const place of [work, other, temporary]) mkdirSync(place);
    mkdirSync(join(work, ".aws"));
    const program = join(dir, "codex");
    const made = `mkdir -p .git .codex .agents .aws ${other}/.git $TMPDIR/.codex; echo here >${dir}/made; exec sleep 600`;
    writeFileSync(program, `#!/bin/sh\n${made}\n`);
    chmodSync(program, 0o755);
    const argv = ["-o", "json", "spawn", kind, "hi", "-C", work, ...(isOwn ? ["--add-dir", other] : [])];
    const { exit, stdout } = await commands.start(argv, { [variable]: program, TMPDIR: temporary }).ended;
    expect(exit, stdout).toBe(0);
    while (!readdirSync(dir).includes("made"));
    expect(readdirSync(work)).toHaveLength(4);
    expect(readdirSync(temporary)).toContain(".codex");
    await commands.agent("kill", JSON.parse(stdout).data.id);
    expect(readdirSync(work)).toEqual([".aws"]);
    // Nobody looks where it was not told to work.
    expect(readdirSync(other)).toEqual(isOwn ? [] : [".git"]);
    expect(readdirSync(temporary)).not.toContain(".codex");
  },
);
