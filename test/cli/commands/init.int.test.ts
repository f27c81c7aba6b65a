/** agent init by flags and by questions, on a machine with every CLI and on one with none. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { parse } from "yaml";
import { agent } from "../support/agent.ts";
import { programsOfKinds } from "../support/programs.ts";

let programs: string;
let directory: string;
let file: string;
beforeAll(() => {
  programs = programsOfKinds();
});
afterAll(() => rmSync(programs, { recursive: true }));
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "my shop-"));
  file = join(directory, "holdfast.yaml");
});
afterEach(() => rmSync(directory, { recursive: true }));

const init = (argv: readonly string[], options: { readonly PATH?: string; readonly typed?: string } = {}) =>
  agent(["init", "-f", file, ...argv], {
    env: { PATH: options.PATH ?? programs, HOLDFAST_HOME: directory },
    terminal: options.typed !== undefined,
    ...(options.typed === undefined ? { stdin: "" } : { typed: options.typed }),
  });
const written = () => parse(readFileSync(file, "utf8"));

it("has a default for everything, and waits for nobody without a terminal", async () => {
  const { exit, stdout } = await init([]);
  expect({ exit, data: JSON.parse(stdout).data }).toMatchObject({
    exit: 0,
    data: {
      path: file,
      kind: "claude",
      effect: "created",
      found: expect.arrayContaining(["claude", "codex"]),
    },
  });
  expect(written()).toMatchObject({
    version: 1,
    name: expect.stringMatching(/^my-shop-/),
    tree: { budget: { usd: 5 }, children: [{ name: "worker", kind: "claude", permission: "ask" }] },
  });
  expect(written().tree.children[0]).not.toHaveProperty("worktree");
});

it("writes what flags say, however it is spelt", async () => {
  const prompt = `Say "hi": # no comment\n- 'x' $HOME *a &b`;
  await init(["-n", "on", "--kind", "codex", "--prompt", prompt, "--model", "yes"]);
  expect(written()).toMatchObject({
    name: "on",
    tree: { children: [{ kind: "codex", prompt: prompt, model: "yes" }] },
  });
  await init(["--force", "--workers", "3", "--usd", "0", "--permission", "deny"]);
  const { tree } = written();
  expect(tree).not.toHaveProperty("budget");
  expect(tree.children.map(({ name, worktree }: Record<string, unknown>) => [name, worktree])).toEqual([
    ["worker-1", true],
    ["worker-2", true],
    ["worker-3", true],
  ]);
});

it("asks on a terminal, again after a mistake, and not about what a flag says", async () => {
  const typed = "gemini\nFix it.\n0\n2\n\n2.5\n";
  const { exit, stderr } = await init(["--permission", "deny"], { typed });
  expect(exit).toBe(0);
  expect(stderr).toContain("Which agent (found: claude, codex");
  expect(stderr).toContain("It is from 1 to 100, not 0.\nHow many of them?");
  expect(stderr).not.toContain("no rule covers");
  expect(written().tree).toMatchObject({
    budget: { usd: 2.5 },
    children: [{ kind: "gemini", prompt: "Fix it.", worktree: true }, { worktree: true }],
  });
});

it("writes nothing if the answers end too early", async () => {
  const { exit, stderr } = await init([], { typed: "codex\n" });
  expect(exit).toBe(4);
  expect(stderr).toContain("The input ended before the last question; nothing was written.");
  expect(existsSync(file)).toBe(false);
});

it("without any CLI it writes a clock, and says why", async () => {
  const { stdout } = await init([], { PATH: "/nonexistent" });
  expect(JSON.parse(stdout)).toMatchObject({
    data: { kind: "command", found: [] },
    warnings: ["No agent CLI was found on PATH, so the worker is a clock. See: agent doctor"],
  });
  expect(written().tree.children).toMatchObject([{ name: "worker", argv: ["sh", "-c", expect.any(String)] }]);
});

it("overwrites nothing without --force, and a dry run writes nothing", async () => {
  await init(["--dry-run"]);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, "mine\n");
  const { exit, stdout } = await init([]);
  expect([exit, JSON.parse(stdout).error]).toMatchObject([
    6,
    { code: "ALREADY_EXISTS", message: `${file} exists already.` },
  ]);
  expect(readFileSync(file, "utf8")).toBe("mine\n");
  expect((await init(["--force"])).exit).toBe(0);
});

it.each([
  [["--kind", "cluade"], 'There is no kind "cluade"; did you mean claude?'],
  [["--kind", "command"], "A program stands after --: agent init -- npm start."],
  [["--prompt", "a", "--", "true"], "--prompt means nothing to a program."],
  [["--kind", "claude", "--", "true"], "A program after -- and --kind exclude each other."],
  [["--kind", "llm"], "--model is missing: it is PROVIDER/MODEL, as in openai/MODEL."],
  [["-n", "a b"], "--name has letters, digits"],
])("%j is refused in a sentence", async (argv, sentence) => {
  const { exit, stdout } = await init(argv);
  expect([exit, JSON.parse(stdout).error.message]).toEqual([3, expect.stringContaining(sentence)]);
  expect(existsSync(file)).toBe(false);
});
