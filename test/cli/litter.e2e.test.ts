/** What codex leaves where it works when it is stopped in a command: empty directories, which go with it. */
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

it("a codex that is killed leaves none of them, neither in its directory nor in others that it may work in nor in that of temporary files", async () => {
  const [work, other, temporary] = [join(dir, "work"), join(dir, "other"), join(dir, "temporary")];
  for (const place of [work, other, temporary]) mkdirSync(place);
  mkdirSync(join(work, ".aws"));
  const program = join(dir, "codex");
  const made = `mkdir -p .git .codex .agents .aws ${other}/.git $TMPDIR/.codex; echo here >${dir}/made; exec sleep 600`;
  writeFileSync(program, `#!/bin/sh\n${made}\n`);
  chmodSync(program, 0o755);
  const argv = ["-o", "json", "spawn", "codex", "hi", "--name", "c", "-C", work, "--add-dir", other];
  const { exit, stdout } = await commands.start(argv, { CODEX_BINARY: program, TMPDIR: temporary }).ended;
  expect(exit, stdout).toBe(0);
  while (!readdirSync(dir).includes("made"));
  expect(readdirSync(work)).toHaveLength(4);
  expect(readdirSync(temporary)).toContain(".codex");
  await commands.agent("kill", "c");
  expect(readdirSync(work)).toEqual([".aws"]);
  expect(readdirSync(other)).toEqual([]);
  expect(readdirSync(temporary)).not.toContain(".codex");
});
