/** The README's first agent, word for word: it changes a file. Without a permission it changes none, and says so. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeRepository } from "../support/repository.ts";
import { claude } from "./agents.ts";
import { describeWorld } from "./suite.ts";
import { makeCwd } from "./world.ts";

const README = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
const [, line = ""] = /^\$ agent (spawn --name fixer .*)$/m.exec(README) ?? [];
const PROMPT = /"([^"]*)"/;
/** Its words, with a prompt that the fake model knows in place of the README's. */
const words = line.replace(PROMPT, "PROMPT").split(" ");
const asked = (scenario: string) =>
  words.map((word) => (word === "PROMPT" ? `[[scenario:${scenario}]]` : word));

const repository = (): string => {
  const { path, root } = makeRepository({ "README.md": "first\n" });
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return path;
};

describeWorld(claude, "the README's first agent", (world) => {
  it("changes a file in a worktree of its own, and its changes are a diff in a pipe", async () => {
    expect(line).toContain(" claude ");
    const path = repository();
    const { exit, stdout } = await world().run(...asked("shellwrite"), "--cwd", path, "-o", "text");
    expect(stdout).not.toContain("denied");
    expect(exit).toBe(0);
    expect(await world().agent("changes", "fixer")).toContain("+made-by-tool");
    expect(existsSync(join(path, "made.txt"))).toBe(false);
  });

  it.each([
    ["by default", []],
    ["by its rules", ["--allow-tool", "Read"]],
  ] as const)(
    "is told which calls were denied %s, and with which flag they would not be",
    async (_, flags) => {
      const argv = ["spawn", "claude", "[[scenario:shellwrite]]", "--cwd", makeCwd(), ...flags, "--wait"];
      const { exit, stderr } = await world().run(...argv, "-o", "text");
      expect(exit).toBe(0);
      expect(stderr).toContain("1 call was denied: Bash. To allow such calls: --allow-tool Bash");
    },
  );
});
