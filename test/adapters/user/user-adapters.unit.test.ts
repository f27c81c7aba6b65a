/** Adapters that users wrote: what is taken, what is left out and why, and that their mistakes stay their own. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentAdapter } from "../../../src/adapters/adapter.ts";
import { guarded } from "../../../src/adapters/guarded.ts";
import { makeRegistry } from "../../../src/adapters/registry.ts";
import { loadAdapters } from "../../../src/adapters/user-adapters.ts";
import { parseConfiguration } from "../../../src/daemon/configuration.ts";
import { conformance } from "../../../src/library/testing.ts";
import type { WorkerSpec } from "../../../src/protocol/worker.ts";
import { openingOf } from "../conformance/support.ts";

const FILE = join(import.meta.dirname, "../../../examples/adapters/lines.mjs");
const example = ((await import(FILE)) as { default: AgentAdapter }).default;

describe("the example", () => {
  const runs = [
    ['{"session":"s"}', '{"say":"a"}', '{"say":"b"}', '{"done":true}'],
    ['{"session":"s"}', '{"session":"t"}', "{}", "no JSON", '{"error":"x"}'],
  ];
  for (const { title, check } of conformance(example, runs)) test(title, check);
});

describe("the example that is spoken with", async () => {
  const { default: asks } = (await import(join(FILE, "../asks.mjs"))) as { default: AgentAdapter };
  const runs = [
    ['{"taken":"m"}', '{"say":"a"}', '{"done":true}', '{"taken":"n"}', '{"done":true}'],
    ['{"taken":"m"}', '{"ask":"m","tool":"Shell","input":{"command":"ls"}}', '{"say":"a"}', '{"done":true}'],
    ['{"taken":"m"}', '{"ask":"m","tool":"Shell"}', "no JSON", "null"],
  ];
  for (const { title, check } of conformance(asks, runs)) test(title, check);
});

const loaded = (value: unknown, more: { kind?: string; options?: unknown } = {}) =>
  loadAdapters([{ module: "/a.mjs", ...more }], async () => value);
const whyNot = async (value: unknown, more?: { kind?: string }) => {
  const { users, refused } = await loaded(value, more);
  expect(users).toEqual([]);
  expect(refused).toMatchObject([{ module: "/a.mjs" }]);
  return refused[0]?.why;
};

/** An adapter that makes the same event of each line. */
const saying = (event: object) => ({
  ...example,
  decode: (state: unknown) => ({
    state,
    records: [{ type: "agent.event", payload: { agent_kind: "lines", ...event } }],
  }),
});

describe("loading", () => {
  test("takes an adapter, a function that makes one of its options, and a class", async () => {
    expect((await loaded(example)).users[0]?.adapter.kind).toBe("lines");
    const made = await loaded(async ({ kind }: { kind: string }) => renamed(kind), {
      options: { kind: "mine" },
    });
    expect(made.users[0]?.adapter.kind).toBe("mine");
    class Mine {}
    Object.assign(Mine.prototype, example);
    expect((await loaded(new Mine())).users[0]?.adapter.kind).toBe("lines");
  });

  test("the real file, by its path", async () => {
    expect(await loadAdapters([{ module: FILE, kind: "lines" }])).toMatchObject({
      users: [{ module: FILE }],
      refused: [],
    });
  });

  test.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /^it is not an adapter: the export/],
    ["no adapter", { kind: "x" }, /^it is not an adapter: aliases: /],
    ["a bad kind", { ...example, kind: "My Kind" }, /kind: must consist of a-z, 0-9 and _/],
    ["no functions", { ...example, decode: 7 }, /decode: is not a function/],
    ["our own kind", { ...example, kind: "codex" }, /^there is already a kind called codex$/],
    ["our own short name", { ...example, aliases: ["claude"] }, /^there is already a kind called claude$/],
    ["a factory that throws", () => boom(), /^boom$/],
    ["a decoder that throws", { ...example, decode: boom }, /"decode never throws, whatever the line": boom/],
    [
      "a decoder that forgets to be pure",
      impure(),
      /promise "(a restart at any line|decode never changes the state)/,
    ],
    [
      "a decoder that makes something else",
      {
        ...example,
        decode: (state: unknown) => ({ state, records: [{ type: "worker_killed", payload: {} }] }),
      },
      /decode of lines returned a value of the wrong shape: records\.0/,
    ],
    [
      "a prompt in argv",
      {
        ...example,
        plan: ({ spec }: { spec: WorkerSpec }) => ({
          argv: ["x", spec.prompt],
          env: {},
          stdin: { kind: "empty" },
        }),
      },
      /plan puts no prompt into argv/,
    ],
    [
      "a call of a tool without its facet",
      saying({ kind: "ToolCall", channel: "tool" }),
      /: a ToolCall or ToolResult has data\.schema agent_api\.tools\.structured\.v1, but not in: \{.*"ToolCall".*\}, of the line "/,
    ],
    [
      "a status without words",
      saying({ kind: "Status", channel: "status" }),
      /: a Status or an Error has a message, and no other event, but not in: \{.*\}, of the line "/,
    ],
    [
      "a success of nothing",
      { ...example, finish: (_: unknown, { status }: never) => completed(status) },
      /is no success where no line ever came/,
    ],
  ])("leaves out %s", async (_, value, why) => {
    expect(await whyNot(value)).toMatch(why);
  });

  test("leaves out another kind than the configuration says, a path that is not absolute, and what cannot be imported", async () => {
    expect(await whyNot(example, { kind: "other" })).toBe(
      "it is of kind lines, and the configuration says other",
    );
    const { refused } = await loadAdapters([{ module: "a.mjs" }, { module: "/nonexistent/a.mjs" }]);
    expect(refused[0]?.why).toBe("its path is not absolute");
    expect(refused[1]?.why).toMatch(/Cannot find module|Failed to load|does not exist/i);
  });

  test("goes on in slices: the loop turns between two cases", async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await loaded(example);
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(conformance(example, []).length - 1);
  });

  test("of two with one kind the first stays, and neither keeps a third from being there", async () => {
    const kinds = ["one", "one", "two"];
    const entries = kinds.map((_, at) => ({ module: `/${at}.mjs` }));
    const { users, refused } = await loadAdapters(entries, async (module) =>
      renamed(kinds[Number(module[1])]!),
    );
    expect(users.map(({ adapter }) => adapter.kind)).toEqual(["one", "two"]);
    expect(refused).toEqual([{ module: "/1.mjs", why: "there is already a kind called one" }]);
  });
});

test("results of a guarded adapter at run time are checked each time", () => {
  let bad = false;
  const turned = guarded({
    ...example,
    decode: (state, line, stream) =>
      bad
        ? { state, records: [{ type: "agent.event", payload: { agent_kind: "codex", kind: "Status" } }] }
        : example.decode(state, line, stream),
  });
  const line = { kind: "text", text: '{"say":"x"}', end: "\n" } as const;
  expect(turned.decode(turned.initial(openingOf(turned.kind)), line, "stdout").records).toHaveLength(1);
  bad = true;
  expect(() => turned.decode(turned.initial(openingOf(turned.kind)), line, "stdout")).toThrow(
    /decode of lines returned a value/,
  );
});

test("a guarded adapter writes only whole lines to its agent, also by the methods of a class", () => {
  class Talk {
    readonly acknowledges = true;
    end = "\n";
    frame = () => `m${this.end}`;
    answer() {
      return `a${this.end}`;
    }
    interrupt() {
      return undefined;
    }
  }
  const talk = new Talk();
  const { frame, answer, interrupt } = guarded({ ...example, messages: talk }).messages!;
  const allow = { decision: "allow" } as const;
  expect([frame("m", "text", {}), answer?.(null, allow), interrupt?.({})]).toEqual(["m\n", "a\n", undefined]);
  talk.end = "";
  expect(() => frame("m", "text", {})).toThrow(/messages\.frame of lines returned a value/);
  expect(() => answer?.(null, allow)).toThrow(/messages\.answer of lines returned a value/);
});

test("a registry has the kinds of users beside ours, and their programs and options as they are configured", async () => {
  const { users } = await loaded(example);
  const registry = makeRegistry({
    users,
    options: { codex: { allow_external_sandbox_exec: true } },
    binaries: { lines: "/opt/lines", codex: "/opt/codex" },
  });
  const lines = registry.adapterFor("lines")!;
  expect(registry.binaryOf(lines)).toBe("/opt/lines");
  expect(registry.moduleOf("lines")).toBe("/a.mjs");
  expect([registry.isBuiltIn("lines"), registry.isBuiltIn("codex")]).toEqual([false, true]);
  expect(registry.suggestKind("linse")).toBe("lines");
  expect(registry.adapterFor("codex")?.capabilities).toContain("agent_api.exec.external_sandbox.v1");
  expect(registry.adapterFor("claude")?.capabilities).not.toContain("agent_api.exec.external_sandbox.v1");
  expect(makeRegistry().adapterFor("lines")).toBeUndefined();
});

describe("the configuration", () => {
  test.each<[string, readonly string[]]>([
    ["adapters:\n  - module: a.mjs\n", ["adapters.0.module: a module is an absolute path"]],
    ["binaries:\n  codex: codex\n", ["binaries.codex: a program is an absolute path"]],
    ["adapter: []\n", ['Unrecognized key: "adapter"; did you mean adapters?']],
    ["adapters: [{ module: /a, knd: x }]\n", ['adapters.0: Unrecognized key: "knd"; did you mean kind?']],
    [
      "kinds: { codex: { allow_mcp_writes: true } }\n",
      ['kinds.codex: Unrecognized key: "allow_mcp_writes"; did you mean allow_mcp_write?'],
    ],
    ["xyzzy: 1\n", ['Unrecognized key: "xyzzy"']],
    [
      "kinds:\n  codex:\n    allow_external_sandbox_exec: maybe\n",
      ["kinds.codex.allow_external_sandbox_exec: Invalid input: expected boolean, received string"],
    ],
    ["just words", ["Invalid input: expected object, received string"]],
  ])("%j has mistakes, and counts as none", (text, problems) => {
    expect(parseConfiguration(text)).toEqual({
      configuration: {
        adapters: [],
        binaries: {},
        defaults: {},
        federation: { peers: {} },
        hosts: {},
        kinds: {},
        roles: {},
        mcp: {},
        providers: {},
        runtimes: {},
        skills: { directories: [], hosts: [], profiles: {} },
      },
      problems,
    });
  });

  test.each(["[", "a: &a [*a]", "a: 1\na: 2", "\0", `a: ${"x".repeat(70_000)}`])(
    "what is no configuration at all (%#) is told in a sentence",
    (text) => {
      const { problems } = parseConfiguration(text);
      expect(problems.length).toBeGreaterThan(0);
      for (const problem of problems) expect(problem).toMatch(/^[^\n]{3,300}$/);
    },
  );

  test("an empty one, and JSON, are fine", () => {
    expect(parseConfiguration("").problems).toEqual([]);
    expect(parseConfiguration("# nothing yet\n").problems).toEqual([]);
    expect(parseConfiguration('{"kinds":{"codex":{"allow_mcp_write":true}}}').configuration.kinds).toEqual({
      codex: { allow_mcp_write: true },
    });
  });

  test("the one of the docs is read", () => {
    const page = readFileSync(join(import.meta.dirname, "../../../docs/reference/daemon.md"), "utf8");
    const [, text = ""] = /```yaml\n(adapters:[\s\S]*?)```/.exec(page) ?? [];
    expect(text).not.toBe("");
    expect(parseConfiguration(text).problems).toEqual([]);
  });
});

/** The example under another name: its events have the name, too. */
function renamed(kind: string): AgentAdapter {
  const rename = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll('"agent_kind":"lines"', `"agent_kind":"${kind}"`));
  return {
    ...example,
    kind,
    decode: (state, line, stream) => rename(example.decode(state, line, stream)),
    finish: (state, exit) => rename(example.finish(state, exit)),
  };
}

function impure(): AgentAdapter {
  return {
    ...example,
    initial: () => ({ lines: 0 }),
    decode: (state) => {
      (state as { lines: number }).lines += 1;
      return { state, records: [] };
    },
  };
}

function boom(): never {
  throw new Error("boom");
}

function completed(status: never) {
  return { outcome: { status: "completed", completion: { status } }, records: [] };
}
