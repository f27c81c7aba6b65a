/** A program with kinds of its own: their workers live as any other's, and a bad adapter opens nothing. */
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Effect } from "effect";
import { expect, onTestFinished, test } from "vitest";
import { open } from "../../src/library/effect.ts";
import { type AgentAdapter, Runtime } from "../../src/library/index.ts";
import { makeRepository } from "../support/repository.ts";
import { collect, first, openRuntime, stateDirectory } from "./support.ts";

const examples = resolve(import.meta.dirname, "../../examples/adapters");
const lines = ((await import(join(examples, "lines.mjs"))) as { default: AgentAdapter }).default;
const mine: AgentAdapter = {
  ...lines,
  binary: { name: join(examples, "lines-agent.sh"), variable: "LINES_BINARY" },
};

const openMine = async (stateDir = stateDirectory()): Promise<Runtime<string>> => {
  const runtime = await Runtime.open({ stateDir, adapters: [mine] });
  onTestFinished(() => runtime.close());
  return runtime;
};

test("a worker of an own kind is run, read and restarted as its adapter says", async () => {
  const runtime = await openMine();
  const { id } = await runtime.spawn({ kind: "lines", prompt: "one\ntwo" });
  const { payload } = await first(runtime.watch(id), "worker_spawn_requested");
  expect(payload.spec).toMatchObject({ kind: "lines", restart: "transient" });
  expect(await runtime.wait(id)).toMatchObject({ status: "completed" });
  expect((await runtime.output(id)).text).toContain("you said: two");
  expect(await runtime.info(id)).toMatchObject({ kind: "lines", session_id: "s-1" });
  // Beside ours.
  const command = await runtime.spawn({ kind: "command", argv: ["true"] });
  expect(await runtime.wait(command.id)).toMatchObject({ status: "completed" });
  await expect(runtime.spawn({ kind: "linse", prompt: "hi" })).rejects.toMatchObject({
    code: "INVALID_AGENT_KIND",
    suggestion: 'Did you mean "lines"?',
  });
});

test("variables that its adapter names reach its program, in a tree too", async () => {
  const stateDir = stateDirectory();
  const own = join(stateDir, "own.sh");
  writeFileSync(own, `#!/bin/sh\necho "{\\"say\\":\\"$LINES_TOKEN\\"}"\necho '{"done":true}'\n`, {
    mode: 0o700,
  });
  const given = { LINES_BINARY: own, LINES_TOKEN: "a-token-of-the-program" };
  Object.assign(process.env, given);
  onTestFinished(() => {
    for (const name of Object.keys(given)) delete process.env[name];
  });
  const adapters = [{ ...mine, credentials: ["LINES_TOKEN"] }];
  const runtime = await Runtime.open({ stateDir, adapters });
  onTestFinished(() => runtime.close());
  const { id } = await runtime.spawn({ kind: "lines", prompt: "hi" });
  await runtime.wait(id);
  // It is one of its credentials, so it is masked; without it there would be nothing to mask.
  expect((await runtime.output(id)).text).toBe("***");
  const spec = { kind: "lines", prompt: "hi", cwd: "/", restart: "temporary" } as const;
  const root = {
    type: "supervisor",
    name: "mine",
    config: {},
    children: [{ type: "worker", name: "liner", spec }],
  } as const;
  await runtime.applyTree({ name: "mine", file: "/mine", root: root as never });
  await runtime.wait("liner");
  expect((await runtime.output("liner")).text).toBe("***");
});

test("each adapter that is refused is told with why, and nothing is opened", async () => {
  const stateDir = stateDirectory();
  const bad = [mine, { kind: "x" }, { ...mine, kind: "codex" }, mine] as never;
  const opening = Runtime.open({ stateDir, adapters: bad });
  await expect(opening).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    info: {
      problems: [
        expect.stringMatching(/^adapters\[1\] is refused: it is not an adapter: aliases: /),
        "adapters[2] is refused: there is already a kind called codex",
        "adapters[3] is refused: there is already a kind called lines",
      ],
    },
  });
  const impure = { ...mine, decode: () => Math.random() } as never;
  await expect(Runtime.open({ stateDir, adapters: [impure] })).rejects.toThrow(
    /adapters\[0\] is refused: it does not keep the promise "decode never throws, whatever the line": decode of lines returned a value/,
  );
  const effect = Effect.flip(Effect.scoped(open({ stateDir, adapters: bad })));
  expect(await Effect.runPromise(effect)).toMatchObject({ code: "INVALID_REQUEST" });
  // Nobody holds it.
  await (await Runtime.open({ stateDir })).close();
});

test("changes of a worker in a worktree, and none where it has no worktree", async () => {
  const runtime = await openRuntime();
  const repository = makeRepository({ "a.txt": "one\n" });
  onTestFinished(() => rmSync(repository.root, { recursive: true }));
  const { id } = await runtime.spawn({
    kind: "command",
    argv: ["sh", "-c", "echo two >> a.txt"],
    cwd: repository.path,
    worktree: {},
  });
  await collect(runtime.watch(id));
  expect(await runtime.changes(id)).toMatchObject({
    id,
    files: [{ path: "a.txt" }],
    diff: { digest: expect.stringMatching(/^sha256:/) },
  });
  const plain = await runtime.spawn({ kind: "command", argv: ["true"] });
  await runtime.wait(plain.id);
  await expect(runtime.changes(plain.id)).rejects.toMatchObject({ code: "UNSUPPORTED_CAPABILITY" });
});

test("a kind's CLI tells of its MCP servers; an own kind without them is refused", async () => {
  const stateDir = stateDirectory();
  const runtime = await openMine(stateDir);
  const program = join(stateDir, "codex");
  writeFileSync(program, '#!/bin/sh\necho "$@ in $PWD"\nexit 3\n', { mode: 0o700 });
  const how = { cwd: "/", env: { CODEX_BINARY: program } };
  expect(await runtime.mcp("codex", undefined, how)).toMatchObject({
    kind: "codex",
    exit_code: 3,
    stdout: "mcp list --json in /\n",
  });
  expect((await runtime.mcp("codex", "docs", how)).stdout).toBe("mcp get --json docs in /\n");
  await expect(runtime.mcp("lines")).rejects.toMatchObject({ code: "UNSUPPORTED_CAPABILITY" });
  await expect(runtime.mcp("nobody")).rejects.toMatchObject({ code: "INVALID_AGENT_KIND" });
});
