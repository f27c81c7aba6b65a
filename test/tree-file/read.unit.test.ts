import { describe, expect, it } from "vitest";
import { TREE_PROBLEMS_MAX } from "../../src/base/limits.ts";
import { makeAddedKinds } from "../../src/commands/kinds.ts";
import { FIRST, mistakesIn, nodeAt, problemsOf, read, specAt, tree } from "./support.ts";

/** A file with the most usual keys. */
const EXAMPLE = `version: 1
tree:                       # the root supervisor
  strategy: rest_for_one    # one_for_one (default) | one_for_all | rest_for_one
  intensity: 3/60s          # restarts / period; default 3/60s
  children:
    - name: store           # a worker: what \`spawn\` takes, in snake_case
      kind: command
      argv: [sh, -c, "exec my-store"]
      restart: permanent
      ready: { log: "listening" }
    - name: crew            # a nested supervisor: it has children
      strategy: one_for_one
      children:
        - { name: fixer, kind: claude, prompt_file: fix.md, cwd: ../repo, restart: transient, grace: 10s }
`;
const FIX = { files: { "fix.md": "make the test pass\n" } };

describe("the documented example", () => {
  const file = read(EXAMPLE, FIX);

  it("becomes the tree that it draws", () => {
    expect(file.tree).toMatchObject({ name: "shop", file: "/work/shop/holdfast.yaml" });
    expect(file.tree.root).toMatchObject({
      name: "shop",
      config: { strategy: "rest_for_one", max_restarts: 3, period_ms: 60_000 },
      children: [
        { type: "worker", name: "store" },
        { type: "supervisor", name: "crew" },
      ],
    });
  });

  it("gives workers what spawn would give them", () => {
    expect(specAt(file, "store")).toMatchObject({
      kind: "command",
      argv: ["sh", "-c", "exec my-store"],
      restart: "permanent",
      cwd: "/work/shop",
      timeout_ms: 0,
      stall_ms: 0,
      ready: { log: "listening", within_ms: 60_000 },
    });
    expect(specAt(file, "crew/fixer")).toMatchObject({
      kind: "claude_code",
      prompt: "make the test pass\n",
      cwd: "/work/repo",
      restart: "transient",
      grace_ms: 10_000,
      timeout_ms: 1_800_000,
    });
  });

  it("knows where each node stands", () => {
    expect(file.places.get("store")).toEqual({ file: "/work/shop/holdfast.yaml", line: 6, column: 7 });
    expect(file.places.get("crew/fixer")).toMatchObject({ line: 14, column: 11 });
    expect([...file.places.keys()]).toEqual(["", "store", "crew", "crew/fixer"]);
  });
});

it("JSON is a holdfast.yaml too", () => {
  const json = JSON.stringify({
    version: 1,
    name: "web",
    tree: { children: [{ name: "a", argv: ["true"] }] },
  });
  expect(specAt(read(json), "a")).toMatchObject({ kind: "command", argv: ["true"] });
});

describe("the name of a tree", () => {
  it.each([
    ["the one that it is given", "version: 1\nname: web\ntree: { children: [] }", "web"],
    ["the one of its directory", "version: 1\ntree: { children: [] }", "shop"],
  ])("is %s", (_what, text, name) => {
    expect(read(text).tree.name).toBe(name);
    expect(read(text).tree.root.name).toBe(name);
  });
});

const worker = (keys: string) => tree(`- { name: a, argv: [x], ${keys} }`);

describe("keys of a worker", () => {
  it.each([
    ["a duration", "timeout: 5m", { timeout_ms: 300_000 }],
    ["no duration", "stall: 0", { stall_ms: 0 }],
    ["a backoff", "backoff: 1s..5s", { backoff_min_ms: 1_000, backoff_max_ms: 5_000 }],
    ["a budget as spawn takes it", "budget: 'usd=5,tokens=2M'", { budget: { usd: 5, tokens: 2_000_000 } }],
    ["a budget as a map", "budget: { turns: 40, wall: 1h }", { budget: { turns: 40, wall_ms: 3_600_000 } }],
    [
      "limits",
      "limits: { memory: 512M, pids: 100, cpu: 1.5 }",
      { limits: { memory_bytes: 512 * 1024 ** 2, pids: 100, cpu: 1.5 } },
    ],
    ["a worktree", "worktree: true", { worktree: {} }],
    ["a worktree on a branch", "worktree: fix/login", { worktree: { branch: "fix/login" } }],
    ["a sandbox", "sandbox: true", { sandbox: { writable: [] } }],
    [
      "what a sandbox may",
      "sandbox: { net: none, writable: [more] }",
      { sandbox: { net: "none", writable: [expect.stringMatching(/\/more$/)] } },
    ],
    [
      "a quota of output that pauses",
      "output_quota: 1MB, on_output_quota: pause",
      { output_quota_bytes: 1024 ** 2, on_output_quota: "pause" },
    ],
    ["what the daemon's death means", "on_supervisor_death: die", { on_supervisor_death: "die" }],
    ["a shutdown at once", "shutdown: brutal_kill", { shutdown: "brutal_kill" }],
    ["a shutdown without end", "shutdown: infinity", { shutdown: "infinity" }],
    ["a shutdown with a grace", "shutdown: 3s", { shutdown: "grace", grace_ms: 3_000 }],
    ["a port", "ready: { port: 8080, within: 5s }", { ready: { port: 8080, within_ms: 5_000 } }],
    ["a time", "ready: { healthy_for: 2s }", { ready: { healthy_for_ms: 2_000, within_ms: 60_000 } }],
    ["a first event", "ready: { first_event: true }", { ready: { first_event: true } }],
    [
      "numbers as they are written",
      "env: { V: 1.10, N: 010, B: true }",
      { env: { V: "1.10", N: "010", B: "true" } },
    ],
    ["references to secrets", "env: { K: '@env:KEY' }", { env: { K: "@env:KEY" } }],
    ["labels", "labels: { team: 7 }", { labels: { team: "7" } }],
    [
      "directories beside its own",
      "kind: claude, prompt: hi, add_dirs: [lib, /abs]",
      { ext: { "agent_api.exec.add_dirs.v1": { dirs: [expect.stringMatching(/^\/.*\/lib$/), "/abs"] } } },
    ],
    ["extensions", "ext: { a: { b: [1] } }", { ext: { a: { b: [1] } } }],
  ])("take %s", (_what, keys, spec) => {
    expect(specAt(read(worker(keys)), "a")).toMatchObject(spec);
  });

  it("take words of a command line that look like numbers", () => {
    expect(specAt(read(tree("- { name: a, argv: [sleep, 60, 1.50, false] }")), "a").argv).toEqual([
      "sleep",
      "60",
      "1.50",
      "false",
    ]);
  });
});

it("keys of a supervisor become its configuration", () => {
  const keys =
    "strategy: one_for_all, intensity: 1/5s, decay: 30s, backoff: 1s..2s, on_intensity: park, auto_shutdown: any, restart: transient";
  expect(nodeAt(read(tree(`- { name: s, ${keys}, children: [] }`)), "s")).toMatchObject({
    config: {
      strategy: "one_for_all",
      max_restarts: 1,
      period_ms: 5_000,
      decay_ms: 30_000,
      backoff_min_ms: 1_000,
      backoff_max_ms: 2_000,
      on_intensity: "park",
      auto_shutdown: "any",
      restart: "transient",
    },
  });
});

it("a dynamic supervisor is written without children", () => {
  expect(nodeAt(read(tree("- { name: pool, strategy: dynamic }")), "pool")).toMatchObject({
    type: "supervisor",
    config: { strategy: "dynamic" },
    children: [],
  });
});

describe("a kind that the configuration of the daemon adds", () => {
  const mine = { kind: "mine", aliases: ["my"], restart: "temporary", variables: [] } as const;
  const kinds = makeAddedKinds([mine]);

  it.each([["mine"], ["my"]])("is as good as ours: %s, with what its adapter says of restarts", (typed) => {
    const spec = specAt(read(tree(`- { name: a, kind: ${typed} }`), { kinds }), "a");
    expect(spec).toMatchObject({ kind: "mine", restart: "temporary", stall_ms: 600_000 });
  });

  it("leaves what is written as it is", () => {
    const text = tree("- { name: a, kind: mine, restart: permanent }");
    expect(specAt(read(text, { kinds }), "a").restart).toBe("permanent");
  });

  it("is one of those that are named where there is none of that name", () => {
    expect(problemsOf(tree("- { name: a, kind: mien }"), { kinds })).toEqual([
      'holdfast.yaml:5:24: there is no kind "mien"; did you mean mine?',
    ]);
    expect(problemsOf(tree("- { name: a, kind: mine }"))[0]).toContain(
      "there are claude, codex, gemini, opencode, copilot, qwen, command, acp, llm, weblisk; config.yaml of the state directory can add one",
    );
  });
});

it("a conversation has no time limit of its own, as with spawn", () => {
  const text = tree("- { name: a, kind: claude, interactive: true }");
  expect(specAt(read(text), "a").timeout_ms).toBe(0);
});

describe("a mistake is told with its place and what was meant", () => {
  it.each([
    ["version: 2\ntree: { children: [] }", "1:10: version is 1, not 2."],
    ["tree: { children: [] }", "1:1: the file needs the key version."],
    ["version: 1", "1:1: the file needs the key tree."],
    [
      "version: 1\ntree:\n  stratgy: one_for_all\n  children: []",
      '3:3: the top supervisor has no "stratgy"; did you mean strategy?',
    ],
    [
      "version: 1\ntree:\n  strategy: rest_for_on\n  children: []",
      '3:13: strategy is one of one_for_one, one_for_all, rest_for_one, dynamic, not "rest_for_on"; did you mean rest_for_one?',
    ],
    ["version: 1\ntree: { chidren: [] }", '2:9: the top supervisor has no "chidren"; did you mean children?'],
    [
      "version: 1\ntree: { name: x, children: [] }",
      "2:9: the top supervisor has no name; the tree's name stands beside version.",
    ],
    [
      "version: 1\nchildren: []\ntree: { children: [] }",
      "2:1: the file has no children; that stands below tree:.",
    ],
    [
      "version: 1\nname: -x\ntree: { children: [] }",
      "2:7: name has letters, digits, '.', '_' and '-', and starts with a letter or digit.",
    ],
    [
      "version: 1\ntree: { intensity: 3, children: [] }",
      '2:20: intensity needs a number and a period, as in 3/60s, not "3".',
    ],
    ["version: 1\ntree: {}", "2:7: the top supervisor needs children, or strategy: dynamic."],
    ["version: 1\ntree: []", "2:7: tree needs a strategy and children, not a list."],
    ["version: 1\ntree: { children: }", "2:19: children needs a list, not nothing."],
    ["- a", "1:1: a file begins with version: 1 and has a tree, and this is a list."],
    ["", "1:1: the file is empty."],
  ])("at the top: %j", (text, problem) => {
    expect(problemsOf(text)).toEqual([`holdfast.yaml:${problem}`]);
  });

  it.each([
    ["- { name: a, kind: ▸cluade, prompt: hi }", 'there is no kind "cluade"; did you mean claude?'],
    ["- ▸{ name: a, kind: claude }", "a is of kind claude and needs a prompt or a prompt_file."],
    ["- { name: a, kind: gemini, prompt: hi, ▸fork: true }", "fork means nothing to kind gemini."],
    ["- { name: a, argv: [x], ▸add_dirs: [lib] }", "add_dirs means nothing to kind command."],
    ["- { name: a, argv: [x], ▸approval_within: 5s }", "approval_within means nothing to kind command."],
    [
      "- { name: a, kind: claude, prompt: hi, ▸add_dirs: [lib], ext: { agent_api.exec.add_dirs.v1: { dirs: [x] } } }",
      "the directories are given twice: as add_dirs and by the extension key agent_api.exec.add_dirs.v1.",
    ],
    ["- ▸{ name: a, kind: command }", "a is a command and needs a program, as in argv: [sleep, 60]."],
    ["- { name: a, ▸argv: [] }", "a is a command and needs a program, as in argv: [sleep, 60]."],
    ["- ▸{ name: a }", "a needs a kind (claude, codex, gemini …), or the argv of a program."],
    ["- ▸{ argv: [x] }", "a worker needs the key name."],
    ["- { ▸nmae: a, argv: [x] }", 'a worker has no "nmae"; did you mean name?'],
    [
      "- { name: ▸a/b, argv: [x] }",
      "name has letters, digits, '.', '_' and '-', and starts with a letter or digit.",
    ],
    ["- { name: a, argv: ▸x }", 'argv needs a list, as in [a, b], not "x".'],
    ["- { name: a, argv: [x, ▸[y]] }", "argv[1] needs a text, not a list."],
    ["- { name: a, argv: [x], ▸graze: 5s }", 'a worker has no "graze"; did you mean grace?'],
    [
      "- { name: a, argv: [x], grace: ▸5 }",
      'grace needs a duration such as 500ms, 10s, 5m, 2h or 1d, not "5".',
    ],
    [
      "- { name: a, argv: [x], grace: ▸[5s] }",
      "grace needs a duration such as 500ms, 10s, 5m, 2h or 1d, not a list.",
    ],
    ["- { name: a, argv: [x], ▸grace: 5s, shutdown: 9s }", "grace is given twice: as grace and as shutdown."],
    [
      "- { name: a, argv: [x], ▸grace: 5s, shutdown: infinity }",
      "grace means nothing with shutdown infinity.",
    ],
    [
      "- { name: a, argv: [x], shutdown: ▸brutalkill }",
      'shutdown is brutal_kill, infinity or a duration such as 10s, not "brutalkill"; did you mean brutal_kill?',
    ],
    [
      "- { name: a, argv: [x], ▸max_restarts: 3/60s }",
      "a worker has no max_restarts; its restarts count in the intensity of its supervisor.",
    ],
    [
      "- { name: a, argv: [x], restart: ▸always }",
      'restart is one of permanent, transient, temporary, not "always"; did you mean permanent?',
    ],
    [
      "- { name: a, argv: [x], ▸intensity: 3/5s }",
      "a worker has no intensity; that is for a supervisor, which has children.",
    ],
    [
      "- { name: a, argv: [x], ready: ▸listening }",
      'ready needs a condition, as in { log: listening }, not "listening".',
    ],
    ["- { name: a, argv: [x], ready: { ▸prot: 80 } }", 'ready has no "prot"; did you mean port?'],
    [
      "- { name: a, argv: [x], ready: { port: ▸99999 } }",
      'ready.port needs a port from 1 to 65535, not "99999".',
    ],
    ["- { name: a, argv: [x], ready: { log: ▸'(' } }", "ready.log is no regular expression."],
    [
      "- { name: a, argv: [x], ready: ▸{ log: up, port: 1 } }",
      "ready has exactly one of log, file, port, first_event, healthy_for.",
    ],
    [
      "- { name: a, argv: [x], ready: ▸{ within: 1s } }",
      "ready has exactly one of log, file, port, first_event, healthy_for.",
    ],
    [
      "- { name: a, argv: [x], env: { ▸A-B: 1 } }",
      "env.A-B is not a valid variable name: use letters, digits and _, and no digit first.",
    ],
    ["- { name: a, argv: [x], env: { A: ▸} }", "env.A needs a text, not nothing."],
    ["- { name: a, argv: [x], budget: { ▸token: 5 } }", 'budget has no "token"; did you mean tokens?'],
    [
      "- { name: a, argv: [x], budget: ▸usd=0 }",
      'budget needs more than 0 for usd, as in usd=5,tokens=2M,turns=40,wall=1h, not "0".',
    ],
    ["- { name: a, argv: [x], ▸cwd: ~/repo }", "cwd is read by no shell; write ${env:HOME}/repo."],
    ["- { name: a, kind: claude, ▸prompt_file: no.md }", "prompt_file no.md does not exist."],
    ["- { name: a, kind: claude, ▸prompt_file: blank.md }", "prompt_file blank.md is empty."],
    [
      "- { name: a, kind: claude, prompt: hi, ▸prompt_file: blank.md }",
      "the prompt is given twice: as prompt and as prompt_file.",
    ],
    ["- { name: a, kind: claude, ▸prompt: ' ' }", "prompt is empty."],
    ["- { name: a, argv: [x], interactive: ▸yes }", 'interactive needs true or false, not "yes".'],
    [
      "- { name: s, strategy: dynamic, ▸children: [] }",
      "a dynamic supervisor has no children in the file; agent spawn --supervisor starts them.",
    ],
    [
      "- { name: s, ▸kind: claude, children: [] }",
      "a supervisor has no kind; that is for a worker, which has no children.",
    ],
    ["- ▸{ name: s, strategy: one_for_all }", "a supervisor needs children, or strategy: dynamic."],
    [
      "- { name: s, auto_shutdown: ▸al, children: [] }",
      'auto_shutdown is one of never, any, all, not "al"; did you mean all?',
    ],
    [
      "- { name: a, ▸comand: [x] }",
      'a worker has no "comand"; its program is argv, a list: argv: [npm, run, dev].',
    ],
    ["- ▸text", 'a child needs keys, as in { name: web, argv: [my-server] }, not "text".'],
    [
      "- { name: a, argv: [x], ▸significant: true }",
      "significant means nothing while the supervisor of a has no auto_shutdown: any or all.",
    ],
  ])("in a child: %s", (marked, problem) => {
    const child = marked.replace("▸", "");
    const column = tree(marked).split("\n")[FIRST - 1]!.indexOf("▸") + 1;
    expect(problemsOf(tree(child), { files: { "blank.md": "\n" } })[0]).toBe(
      `holdfast.yaml:${FIRST}:${column}: ${problem}`,
    );
  });

  it("the second of two with one name", () => {
    expect(problemsOf(tree("- { name: a, argv: [x] }\n- { name: a, argv: [y] }"))).toEqual([
      "holdfast.yaml:6:15: a sibling in line 5 is called a already; names of siblings differ.",
    ]);
  });

  it("a supervisor called as its tree, whose children would have the paths of the top's", () => {
    expect(problemsOf(tree("- { name: shop, children: [] }"))).toEqual([
      "holdfast.yaml:5:15: shop is the name of the tree too; give the tree another one with name:, beside version.",
    ]);
  });

  it("a significant child that always comes back contradicts itself", () => {
    const child = "{ name: a, argv: [x], significant: true, restart: permanent }";
    expect(problemsOf(`version: 1\ntree: { auto_shutdown: any, children: [${child}] }`)).toEqual([
      "holdfast.yaml:2:62: a is significant, so it may end: its restart is transient or temporary, not permanent.",
    ]);
  });
});

describe("all mistakes at once", () => {
  const text = `version: 1
tree:
  stratgy: one_for_all
  children:
    - { name: a, argv: [x], grace: fast, depends_on: [crew/fixr] }
    - name: crew
      children:
        - { name: fixer, kind: cluade, prompt: hi }
`;

  it("are in the order of the text, and there as facts", () => {
    const { message, problems, mistakes } = mistakesIn(text);
    expect(problems.map((line) => line.split(": ")[0])).toEqual([
      "holdfast.yaml:3:3",
      "holdfast.yaml:5:36",
      "holdfast.yaml:5:55",
      "holdfast.yaml:8:32",
    ]);
    expect(message).toContain("4 mistakes in holdfast.yaml:\n");
    expect(mistakes[3]).toEqual({
      file: "/work/shop/holdfast.yaml",
      line: 8,
      column: 32,
      path: "crew/fixer",
      message: 'there is no kind "cluade"; did you mean claude?',
    });
  });

  it("are told up to a bound", () => {
    const many = Array.from({ length: TREE_PROBLEMS_MAX + 5 }, (_, at) => `- { name: n${at}, argv: x }`);
    const problems = problemsOf(tree(many.join("\n")));
    expect(problems).toHaveLength(TREE_PROBLEMS_MAX + 1);
    expect(problems.at(-1)).toBe("There are 5 more.");
  });
});
