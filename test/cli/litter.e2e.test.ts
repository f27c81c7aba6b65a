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

it("a codex that is killed leaves none of them, neither in its directory nor in others that it may work in", async () => {
  const [work, other] = [join(dir, "work"), join(dir, "other")];
  for (const place of [work, other]) mkdirSync(place);
  mkdirSync(join(work, ".aws"));
  const program = join(dir, "codex");
  const made = `mkdir -p .git .codex .agents .aws ${other}/.git; echo here >${dir}/made; exec sleep 600`;
  writeFileSync(program, `#!/bin/sh\n${made}\n`);
  chmodSync(program, 0o755);
  const argv = ["-o", "json", "spawn", "codex", "hi", "--name", "c", "-C", work, "--add-dir", other];
  const { exit, stdout } = await commands.start(argv, { CODEX_BINARY: program }).ended;
  expect(exit, stdout).toBe(0);
  while (!readdirSync(dir).includes("made"));
  expect(readdirSync(work)).toHaveLength(4);
  await commands.agent("kill", "c");
  expect(readdirSync(work)).toEqual([".aws"]);
  expect(readdirSync(other)).toEqual([]);
});
