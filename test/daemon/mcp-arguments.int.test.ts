/** Management of MCP servers (agent-event notes A.2 and A.5): which words each CLI is asked in, what is refused first, and what is kept of its answer. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCaptured } from "../../src/adapters/process/capture.ts";
import { theReaper } from "../../src/adapters/process/reaper.ts";
import { makeRegistry } from "../../src/adapters/registry.ts";
import { type McpCall, manageMcp } from "../../src/daemon/mcp.ts";
import { type McpAsked, mcpArguments } from "../../src/daemon/mcp-arguments.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { makeCanary, temporaryDirectory } from "../adapters/process/support.ts";

const may = makeRegistry({
  options: { codex: { allow_mcp_write: true }, claude_code: { allow_mcp_write: true } },
});
const may_not = makeRegistry();

const errorOf = (work: () => unknown): HoldfastError => {
  try {
    work();
  } catch (cause) {
    if (cause instanceof HoldfastError) return cause;
    throw cause;
  }
  throw new Error("nothing was refused");
};
const argsOf = (kind: string, asked: McpAsked, registry = may): string =>
  mcpArguments(registry.adapterFor(kind)!, asked).join(" ");

test.each<[string, McpAsked, string]>([
  ["codex", { do: "list" }, "mcp list --json"],
  ["codex", { do: "get", name: " docs " }, "mcp get --json docs"],
  ["codex", { do: "remove", name: "docs" }, "mcp remove docs"],
  [
    "codex",
    { do: "add", name: "docs", command: ["srv", "--x"], env: { A: "1", B: "$HOME" } },
    "mcp add docs --env A=1 --env B=$HOME -- srv --x",
  ],
  [
    "codex",
    { do: "add", name: "docs", url: "https://h/mcp", bearer_env_var: "T" },
    "mcp add docs --url https://h/mcp --bearer-token-env-var T",
  ],
  ["claude", { do: "list" }, "mcp list"],
  ["claude", { do: "get", name: "docs" }, "mcp get docs"],
  ["claude", { do: "remove", name: "docs" }, "mcp remove docs"],
  ["claude", { do: "add", name: "docs", command: ["srv"], env: { A: "1" } }, "mcp add docs -e A=1 -- srv"],
  ["claude", { do: "add", name: "docs", url: "http://h" }, "mcp add --transport http docs http://h"],
])("%s, %j is asked as `%s`", (kind, asked, words) => {
  expect(argsOf(kind, asked)).toBe(words);
});

describe("is refused before anything runs", () => {
  test.each(["add", "remove"] as const)("%s where it is not allowed, whatever else is wrong", (does) => {
    for (const kind of ["codex", "claude"]) {
      const error = errorOf(() => argsOf(kind, { do: does, name: "" }, may_not));
      expect(error.code).toBe("UNSUPPORTED_CAPABILITY");
      expect(error.message).toContain(`agent_api.tools.mcp.${does}.v1`);
      expect(error.message).toContain("allow_mcp_write");
    }
  });

  test("all of a kind that has none", () => {
    expect(errorOf(() => argsOf("command", { do: "list" })).code).toBe("UNSUPPORTED_CAPABILITY");
  });

  test.each<[McpAsked, RegExp]>([
    [{ do: "get", name: " \n" }, /name .* must not be empty/],
    [{ do: "remove", name: "--all" }, /does not begin with a dash/],
    [{ do: "add", name: "n" }, /either a command, after --, or an address/],
    [{ do: "add", name: "n", url: "http://h", command: ["x"] }, /either a command, after --, or an address/],
    [{ do: "add", name: "n", url: "h/mcp" }, /absolute http or https/],
    [{ do: "add", name: "n", url: "file:///x" }, /absolute http or https/],
    [{ do: "add", name: "n", url: "http://h", bearer_env_var: "1A" }, /must be the name of a variable/],
    [{ do: "add", name: "n", url: "http://h", bearer_env_var: "$T" }, /must be the name of a variable/],
    [{ do: "add", name: "n", command: ["x"], bearer_env_var: "T" }, /needs --url/],
    [{ do: "add", name: "n", url: "http://h", env: { A: "1" } }, /needs a command/],
    [{ do: "add", name: "n", command: ["x"], env: { "A-B": "1" } }, /letters, digits and _/],
    [{ do: "add", name: "n", command: [" "] }, /must not be empty/],
  ])("%j", (asked, sentence) => {
    const error = errorOf(() => argsOf("codex", asked));
    expect(error.code).toBe("INVALID_REQUEST");
    expect(error.message).toMatch(sentence);
  });

  test("a token's variable, to a CLI that knows none", () => {
    const asked: McpAsked = { do: "add", name: "n", url: "http://h", bearer_env_var: "T" };
    expect(errorOf(() => argsOf("claude", asked)).message).toMatch(/claude_code knows no variable/);
  });
});

describe("a program that is run to its end", () => {
  const env = { PATH: process.env.PATH! };
  const run = (script: string, timeout_ms?: number) =>
    runCaptured({ argv: ["sh", "-c", script], cwd: "/", env, timeout_ms });

  test("is a success whatever its exit code", async () => {
    expect(await run("echo out; echo err >&2; exit 3")).toEqual({
      exit_code: 3,
      signal: null,
      stdout: { text: "out\n", truncated: false },
      stderr: { text: "err\n", truncated: false },
    });
    expect(await run("kill -9 $$")).toMatchObject({ exit_code: null, signal: "SIGKILL" });
  });

  test("has at most 65,536 bytes of each stream kept, and does not wait for a reader", async () => {
    const { stdout, stderr } = await run("head -c 500000 /dev/zero; head -c 65536 /dev/zero >&2");
    expect([stdout.truncated, Buffer.byteLength(stdout.text)]).toEqual([true, 65_536]);
    expect([stderr.truncated, Buffer.byteLength(stderr.text)]).toEqual([false, 65_536]);
  });

  test("fails at once with no time at all, and is never started", async () => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-mcp-"));
    await expect(run(`touch ${directory}/here`, 0)).rejects.toMatchObject({ code: "TIMEOUT" });
    rmSync(directory, { recursive: true });
  });

  test("is killed with its children when its time is up, and gives nothing back", async () => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-mcp-"));
    const script = `echo begun; sleep 600 & echo $! > ${directory}/pid; wait`;
    await expect(run(script, 2_000)).rejects.toMatchObject({ code: "TIMEOUT" });
    const stat = `/proc/${readFileSync(join(directory, "pid"), "utf8").trim()}/stat`;
    await expect.poll(() => !existsSync(stat) || / Z /.test(readFileSync(stat, "utf8"))).toBe(true);
    rmSync(directory, { recursive: true });
  });

  test("does not wait for what it has left behind", async () => {
    expect(await run("sleep 600 & echo done")).toMatchObject({ exit_code: 0, stdout: { text: "done\n" } });
  });

  /** A process that hides: a session of its own, no parent, an empty environment. It says when it is ready. */
  const leaving = (then: string) => {
    const directory = temporaryDirectory();
    const canary = makeCanary(directory);
    const ready = join(directory, "ready");
    const hidden = `exec 9<>${canary.path}; : >${ready}; exec sleep 1000`;
    const script = `(setsid env -i sh -c '${hidden}' </dev/null >/dev/null 2>&1 &)
      until [ -e ${ready} ]; do sleep 0.02; done; ${then}`;
    return { canary, script };
  };

  test.skipIf(theReaper() === undefined)(
    "leaves nobody, not even who hides, and ends as it ends itself",
    async () => {
      const well = leaving("echo done");
      expect(await run(well.script)).toMatchObject({ exit_code: 0, stdout: { text: "done\n" } });
      expect(well.canary.isHeld()).toBe(false);
      const badly = leaving("kill -TERM $$");
      expect(await run(badly.script)).toMatchObject({ exit_code: null, signal: "SIGTERM" });
      expect(badly.canary.isHeld()).toBe(false);
    },
  );

  test.skipIf(theReaper() === undefined)("leaves nobody when its time is up either", async () => {
    const { canary, script } = leaving("trap '' TERM USR1; while :; do sleep 1; done");
    await expect(run(script, 2_000)).rejects.toMatchObject({ code: "TIMEOUT" });
    await expect.poll(canary.isHeld).toBe(false);
  });

  test("has its own variables for perl, of which nothing else hears", async () => {
    const directory = temporaryDirectory();
    const loaded = join(directory, "loaded");
    writeFileSync(join(directory, "Loaded.pm"), `open(my $f, ">", "${loaded}"); 1;`);
    const perl = { PERL5LIB: directory, PERL5OPT: "-MLoaded", PERL_BADLANG: "1", LC_ALL: "xx_XX" };
    const argv = ["sh", "-c", 'echo "$PERL5LIB $PERL5OPT $PERL_BADLANG"; env | grep -c HOLDFAST'];
    expect(await runCaptured({ argv, cwd: "/", env: { ...env, ...perl }, timeout_ms: 10_000 })).toMatchObject(
      {
        stdout: { text: `${directory} -MLoaded 1\n0\n` },
        stderr: { text: "" },
      },
    );
    expect(existsSync(loaded)).toBe(false);
  });

  test("cannot be run where there is none", async () => {
    const asked = { argv: ["no-such-program"], cwd: "/", env, timeout_ms: 1_000 };
    await expect(runCaptured(asked)).rejects.toMatchObject({ code: "BINARY_NOT_FOUND" });
    await expect(runCaptured({ ...asked, cwd: "/nonexistent/cwd" })).rejects.toMatchObject({
      code: "CWD_NOT_FOUND",
    });
  });
});

describe("the CLI of a kind", () => {
  let home: string;
  let call: McpCall;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "holdfast-mcp-"));
    const fake = join(home, "fake");
    writeFileSync(fake, '#!/bin/sh\nfor word; do echo "arg $word"; done\nenv\npwd\nexit 7\n');
    chmodSync(fake, 0o755);
    writeFileSync(join(home, "config.yaml"), `binaries: { codex: ${fake} }\n`);
    call = {
      stateDir: home,
      kind: "codex",
      asked: { do: "list" },
      cwd: home,
      client_env: { PATH: process.env.PATH!, OPENAI_API_KEY: "sk-own-0123456789abcdef", OTHER: "no" },
      env: { EXTRA: "yes" },
      timeout_ms: 30_000,
    };
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  test("is run with an environment that is built, in the directory, and its secrets are masked", async () => {
    const reply = await manageMcp(call);
    expect(reply).toMatchObject({ kind: "codex", exit_code: 7, stdout_truncated: false, stderr: "" });
    expect(reply.stdout).toContain("arg mcp\narg list\narg --json\n");
    expect(reply.stdout).toContain("EXTRA=yes");
    expect(reply.stdout).toContain("OPENAI_API_KEY=");
    expect(reply.stdout).not.toContain("sk-own-0123456789abcdef");
    expect(reply.stdout).not.toContain("OTHER=");
    expect(reply.stdout.trimEnd().endsWith(home)).toBe(true);
  });

  test("is the one that the variable names, before the configuration's", async () => {
    const client_env = { ...call.client_env, CODEX_BINARY: "/bin/echo" };
    expect(await manageMcp({ ...call, client_env })).toMatchObject({
      exit_code: 0,
      stdout: "mcp list --json\n",
    });
  });

  test("of a kind without one is refused, with those that have one; a mistyped kind with the one that was meant", async () => {
    await expect(manageMcp({ ...call, kind: "gemini" })).rejects.toMatchObject({
      code: "UNSUPPORTED_CAPABILITY",
      message: "agent mcp list means nothing to kind gemini_cli: it has no agent_api.tools.mcp.list.v1.",
      info: { suggestion: "Use a kind that has it: claude, codex." },
    });
    await expect(manageMcp({ ...call, kind: "codec" })).rejects.toMatchObject({
      info: { suggestion: 'Did you mean "codex"?' },
    });
  });

  test("of no kind at all is refused first", async () => {
    await expect(manageMcp({ ...call, kind: "nobody", timeout_ms: 0 })).rejects.toMatchObject({
      code: "INVALID_AGENT_KIND",
    });
    await expect(manageMcp({ ...call, asked: { do: "add" }, timeout_ms: 0 })).rejects.toMatchObject({
      code: "UNSUPPORTED_CAPABILITY",
    });
  });
});
