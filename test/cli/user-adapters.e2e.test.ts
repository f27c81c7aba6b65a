/** An adapter of a user's, from the configuration of a real daemon: it is listed and run, and a bad one beside it changes nothing. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import { CONFIGURATION_CHANGED } from "../../src/protocol/configuration-changed.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const examples = resolve(import.meta.dirname, "../../examples/adapters");
let commands: Commands;
let bad: string;
let configuration: string;

const configure = (text: string): void => writeFileSync(join(commands.home, "config.yaml"), text);

beforeAll(async () => {
  commands = makeCommands();
  mkdirSync(join(commands.home, "mine"));
  bad = join(commands.home, "mine", "bad.mjs");
  writeFileSync(bad, "export default { kind: 'bad_one' };\n");
  const throwing = join(commands.home, "mine", "throwing.mjs");
  writeFileSync(
    throwing,
    `import lines from ${JSON.stringify(join(examples, "lines.mjs"))};
const rename = (value) => JSON.parse(JSON.stringify(value).replaceAll('"lines"', '"throwing"'));
export default {
  ...lines,
  kind: "throwing",
  decode: (state, line, stream) => {
    if (line.text === '{"say":"you said: boom"}') throw new Error("boom");
    return rename(lines.decode(state, line, stream));
  },
  finish: (state, exit) => rename(lines.finish(state, exit)),
};
`,
  );
  configuration = `adapters:
  - module: ${bad}
  - { module: ${join(examples, "lines.mjs")}, kind: lines }
  - module: ${throwing}
  - module: ${join(examples, "asks.mjs")}
binaries:
  asks: ${join(examples, "asks-agent.mjs")}
  lines: ${join(examples, "lines-agent.sh")}
  throwing: ${join(examples, "lines-agent.sh")}
kinds:
  codex: { allow_external_sandbox_exec: true }
`;
  configure(configuration);
  // However busy the machine is.
  await commands.agent("daemon", "start");
  await until(async () => (await commands.agent("daemon", "status")).exit === 0);
});
afterAll(() => commands.close());

describe("an adapter of a user's", () => {
  it("is listed with its file, beside ours; one that is left out is told, with why", async () => {
    const { data, warnings, error } = await commands.agent("capabilities");
    expect(error).toBeNull();
    const kinds = data as unknown as Record<string, unknown>[];
    expect(kinds.find(({ kind }) => kind === "lines")).toMatchObject({
      origin: "user",
      module: join(examples, "lines.mjs"),
      binary: join(examples, "lines-agent.sh"),
      path: join(examples, "lines-agent.sh"),
    });
    expect(kinds.find(({ kind }) => kind === "command")).toMatchObject({ origin: "built_in", module: null });
    expect(kinds.some(({ kind }) => kind === "bad_one")).toBe(false);
    const leftOut = warnings.filter((warning) => warning.includes("left out"));
    expect(leftOut).toHaveLength(1);
    expect(leftOut[0]).toContain(`${bad} is left out: it is not an adapter: aliases: `);
    const { stdout } = await commands.text("capabilities", "lines");
    expect(stdout).toContain(join(examples, "lines.mjs"));
  });

  it("allows what the configuration allows, and to no other kind", async () => {
    const { data } = await commands.agent("capabilities");
    const kinds = data as unknown as { kind: string; capabilities: string[] }[];
    const allowed = kinds.filter(({ capabilities }) =>
      capabilities.includes("agent_api.exec.external_sandbox.v1"),
    );
    expect(allowed.map(({ kind }) => kind)).toEqual(["codex"]);
    const refused = await commands.agent(
      "spawn",
      "claude",
      "hi",
      "--env",
      "CLAUDE_BINARY=/bin/true",
      "--ext",
      "agent_api.exec.external_sandbox.v1=true",
    );
    expect(refused).toMatchObject({ exit: 3, error: { code: "UNSUPPORTED_CAPABILITY" } });
  });

  it("is spawned, watched and read like any other", async () => {
    const { data } = await commands.agent("spawn", "lines", "one\ntwo", "--name", "liner", "--wait");
    expect(data).toMatchObject({ kind: "lines", status: "completed" });
    expect((await commands.agent("output", "liner")).data).toMatchObject({
      text: expect.stringContaining("you said: two"),
    });
    expect((await commands.agent("info", "liner")).data).toMatchObject({ session_id: "s-1" });
    const failed = await commands.agent("spawn", "lines", "fail", "--restart", "temporary", "--wait");
    expect(failed).toMatchObject({ exit: 2, error: { code: "AGENT_FAILED" } });
  });

  it("converses, asks for permission, and ends a turn when it is told to", async () => {
    const { data } = await commands.agent("spawn", "asks", "do ls", "--permission", "ask", "--name", "once");
    expect(data).toMatchObject({ kind: "asks" });
    const open = async () => (await commands.agent("approvals")).data as unknown as Record<string, unknown>[];
    await until(async () => (await open()).length === 1);
    expect(await open()).toMatchObject([{ worker: "once", tool: "Shell", input: { command: "ls" } }]);
    expect((await commands.agent("approvals", "approve", "once")).exit).toBe(0);
    expect((await commands.agent("wait", "once")).exit).toBe(0);
    expect((await commands.agent("output", "once")).data.text).toBe("did: ls");

    await commands.agent("spawn", "asks", "--interactive", "--permission", "ask", "--name", "talker");
    expect((await commands.agent("ask", "talker", "hello")).data.text).toBe("you said: hello\n");
    await commands.agent("send", "talker", "do rm");
    await until(async () => (await open()).length === 1);
    expect((await commands.agent("cancel", "talker")).exit).toBe(0);
    await until(async () => (await open()).length === 0);
    expect((await commands.agent("ask", "talker", "still there?")).data.text).toBe(
      "you said: still there?\n",
    );
    expect((await commands.agent("kill", "talker")).exit).toBe(0);
  });

  it("is asked for nothing that it would leave out in silence, neither by flags nor in a tree file", async () => {
    const flags = ["--session", "s-1", "--model", "m", "--interactive"];
    const { exit, error } = await commands.agent("spawn", "lines", "hi", "--name", "silent", ...flags);
    expect({ exit, code: error?.code }).toEqual({ exit: 3, code: "INVALID_REQUEST" });
    for (const flag of ["session", "model", "interactive"])
      expect(error?.message).toContain(`--${flag} means nothing to kind lines: its adapter `);
    expect((await commands.agent("info", "silent")).error?.code).toBe("WORKER_NOT_FOUND");
    const file = join(commands.home, "silent.yaml");
    writeFileSync(
      file,
      "version: 1\nname: quiet\ntree:\n  children:\n    - { name: silent, kind: lines, prompt: hi, cwd: /, model: m, session: s, fork: true, interactive: true }\n",
    );
    const up = await commands.agent("up", "-f", file);
    expect(up.exit).toBe(3);
    for (const key of ["model", "fork", "interactive"])
      expect(up.error?.message).toContain(`${key} means nothing to kind lines`);
    expect((await commands.agent("info", "silent")).error?.code).toBe("WORKER_NOT_FOUND");
  });

  it("that throws while its agent runs fails its worker, and nobody else", async () => {
    const failed = await commands.agent("spawn", "throwing", "boom", "--restart", "temporary", "--wait");
    expect(failed).toMatchObject({
      error: { code: "INTERNAL" },
      meta: { partial: { status: "failed", error: { code: "INTERNAL" } } },
    });
    expect((await commands.agent("spawn", "lines", "still here", "--wait")).data).toMatchObject({
      status: "completed",
    });
  });

  it("makes no kind of a typing mistake: the daemon says what there is", async () => {
    const { exit, error } = await commands.agent("spawn", "linse", "hi");
    expect({ exit, error }).toMatchObject({
      exit: 3,
      error: { code: "INVALID_AGENT_KIND", suggestion: 'Did you mean "lines"?' },
    });
  });

  it("stands in a tree file like any other, by the daemon that knows it", async () => {
    const file = join(commands.home, "holdfast.yaml");
    const treeOf = (kind: string) =>
      writeFileSync(
        file,
        `version: 1\nname: mine\ntree:\n  children:\n    - { name: liner, kind: ${kind}, prompt: hi, cwd: / }\n`,
      );
    treeOf("linse");
    const { exit, error, warnings } = await commands.agent("diff", "-f", file);
    expect({ exit, error }).toMatchObject({
      exit: 3,
      error: { code: "INVALID_REQUEST", message: expect.stringContaining(':5:28: there is no kind "linse"') },
    });
    expect(error?.message).toContain("did you mean lines?");
    expect(warnings.some((warning) => warning.includes(`${bad} is left out: `))).toBe(true);
    treeOf("nobodys");
    const unknown = await commands.agent("up", "-f", file);
    expect(unknown).toMatchObject({ exit: 3 });
    expect(unknown.error?.message).toContain(
      "there are claude, codex, gemini, opencode, copilot, qwen, command, acp, llm, weblisk, lines, throwing, asks; config.yaml of the state directory can add one",
    );

    treeOf("lines");
    expect(await commands.agent("up", "-f", file, "--dry-run")).toMatchObject({
      exit: 0,
      data: {
        changes: [
          { path: "mine", action: "create" },
          { path: "liner", action: "create" },
        ],
      },
    });
    // The variable that its adapter names reaches it, as with spawn.
    const own = join(commands.home, "mine", "own.sh");
    writeFileSync(own, `#!/bin/sh\necho '{"say":"my own"}'\necho '{"done":true}'\n`, { mode: 0o700 });
    const brought = await commands.start(["-o", "json", "up", "-f", file], { LINES_BINARY: own }).ended;
    expect(brought.exit).toBe(0);
    expect((await commands.agent("wait", "liner")).exit).toBe(0);
    expect((await commands.agent("output", "liner")).data).toMatchObject({ text: "my own" });
    expect((await commands.agent("info", "liner")).data).toMatchObject({ kind: "lines" });
    expect((await commands.agent("down", "-f", file)).exit).toBe(0);
  });

  it("is told by the doctor, as a configuration with mistakes is", async () => {
    const checkOf = async () => {
      const { checks } = (await commands.agent("doctor")).data as { checks: Record<string, string>[] };
      return checks.find(({ name }) => name === "configuration");
    };
    expect(await checkOf()).toMatchObject({ result: "warn", finding: expect.stringContaining(bad) });
    configure("adapters: 7\n");
    expect(await checkOf()).toMatchObject({
      result: "warn",
      finding: expect.stringContaining("counts as none: adapters: "),
    });
    configure(configuration);
  });

  it("whose module is gone, it is not started again, and stays as it ended", async () => {
    const file = join(commands.home, "gone.yaml");
    writeFileSync(
      file,
      "version: 1\nname: left\ntree:\n  children:\n    - { name: ended, kind: lines, prompt: hi, cwd: / }\n",
    );
    expect((await commands.agent("up", "-f", file)).exit).toBe(0);
    expect((await commands.agent("wait", "ended")).exit).toBe(0);
    configure("adapters: []\n");
    expect((await commands.agent("daemon", "upgrade", "--force")).exit).toBe(0);
    expect(await commands.agent("restart", "ended")).toMatchObject({
      exit: 3,
      error: { code: "INVALID_AGENT_KIND", message: 'There is no agent kind "lines".' },
    });
    expect((await commands.agent("info", "ended")).data).toMatchObject({
      state: "completed",
      incarnation: 1,
    });
  });

  it("that is not loaded any more leaves nobody alone: what runs is shown, counted and stopped", async () => {
    configure(configuration);
    expect((await commands.agent("daemon", "upgrade", "--force")).exit).toBe(0);
    const file = join(commands.home, "orphans.yaml");
    writeFileSync(
      file,
      "version: 1\nname: orphans\ntree:\n  children:\n    - { name: three, kind: asks, interactive: true, cwd: / }\n",
    );
    for (const name of ["one", "two"])
      expect((await commands.agent("spawn", "asks", "-i", "--name", name)).exit).toBe(0);
    const up = await commands.agent("up", "-f", file);
    expect(up.exit, JSON.stringify(up.error)).toBe(0);
    const infoOf = async (name: string) =>
      (await commands.agent("info", name)).data as { pid: number; id: string };
    const runs = [await infoOf("one"), await infoOf("two"), await infoOf("three")];
    configure(configuration.replace("binaries:", "binariez:"));
    expect((await commands.agent("daemon", "upgrade", "--force")).exit).toBe(0);

    expect((await commands.agent("list")).data).toHaveLength(3);
    expect((await commands.agent("info", "one")).data).toMatchObject({
      state: "running",
      reason: "kind asks is not loaded, so its output is not read: see agent doctor",
      pid: runs[0]!.pid,
    });
    expect((await commands.agent("daemon", "status")).data).toMatchObject({ workers: { live: 3 } });
    expect((await commands.agent("send", "one", "hi")).error).toMatchObject({
      code: "INVALID_AGENT_KIND",
      suggestion: expect.stringContaining("is ignored: `agent doctor` says what"),
    });
    expect(await commands.agent("daemon", "stop")).toMatchObject({
      error: { code: "AGENTS_RUNNING" },
    });
    expect((await commands.agent("kill", "one")).exit).toBe(0);
    expect((await commands.agent("info", "one")).data).toMatchObject({ state: "cancelled" });

    configure(configuration);
    expect((await commands.agent("daemon", "upgrade", "--force")).exit).toBe(0);
    expect((await commands.agent("ask", "two", "there?")).data.text).toBe("you said: there?\n");
    configure(configuration.replace("binaries:", "binariez:"));
    expect((await commands.agent("daemon", "upgrade", "--force")).exit).toBe(0);
    expect((await commands.agent("kill", "--all")).exit).toBe(0);
    for (const { pid } of runs) expect(readStat(pid)).toBeUndefined();
    expect((await commands.agent("list")).data).toEqual([]);
    expect((await commands.agent("down", "orphans")).exit).toBe(0);
  });

  it("of a configuration that was changed meanwhile is there after a restart of the daemon, as its refusal says", async () => {
    configure(configuration);
    expect((await commands.agent("daemon", "upgrade", "--force")).exit).toBe(0);
    const isTold = async () => (await commands.agent("daemon", "status")).data.configuration_changed;
    const diagnosis = async () => (await commands.agent("doctor")).data.checks;
    const changed = { name: "configuration", result: "warn", finding: CONFIGURATION_CHANGED };
    expect(await isTold()).toBe(false);
    expect(await diagnosis()).not.toContainEqual(changed);
    const suggestion = async () => (await commands.agent("spawn", "liness", "hi")).error?.suggestion;
    expect(await suggestion()).toBe('Did you mean "lines"?');
    // A comment alone, or a default of spawn, would outdate no daemon.
    configure(`${configuration}# more\nhttp: { listen: "127.0.0.1:0" }\n`);
    expect(await isTold()).toBe(true);
    for (const command of ["upgrade", "start"])
      expect((await commands.agent("daemon", command)).warnings).toEqual([CONFIGURATION_CHANGED]);
    expect(await diagnosis()).toContainEqual(changed);
    expect(await suggestion()).toMatch(
      /^config\.yaml was changed since .* `agent daemon upgrade --force` .* Did you mean "lines"\?$/,
    );
  });
});
