/** agent up, diff and down against a daemon that answers what the test says. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ResponseEnvelope } from "../../src/protocol/envelope-schemas.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { type SupervisorNode, TreeSpec, type WorkerNode } from "../../src/protocol/tree.ts";
import { type AgentOptions, agent } from "./support/agent.ts";
import { type Answerer, type FakeDaemon, fakeDaemon } from "./support/fake-daemon.ts";

let daemon: FakeDaemon | undefined;
let directory: string;
let file: string;
beforeAll(() => void process.setMaxListeners(0));
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-tree-"));
  file = join(directory, "holdfast.yaml");
});
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
  rmSync(directory, { recursive: true });
});

const FILE = `version: 1
name: shop
tree:
  children:
    - name: store
      argv: [serve]
      env: { KEY: "@env:SHOP_KEY" }
      inherit_env: [SHOP_MODE]
    - name: crew
      children:
        - { name: fixer, argv: ["\${GREETING:-hello}"] }
`;
const CHANGES = [
  { path: "shop", action: "unchanged", reason: "" },
  { path: "store", action: "restart", reason: "its spec changed", fields: ["argv", "grace_ms"] },
  { path: "crew", action: "update", reason: "its supervision changed", fields: ["period_ms"] },
  { path: "crew/fixer", action: "create", reason: "it is new in the file" },
  { path: "crew/old", action: "remove", reason: "it is in the file no more" },
  { path: "crew/dead", action: "kept_dead", reason: "killed by name; `agent restart crew/dead` starts it" },
];
const applied: Answerer = () => ({ tree: "shop", changes: CHANGES, state: "starting" });
const treeOf = (phase: string, children: readonly object[] = []) => ({
  id: "root",
  name: "root",
  type: "supervisor",
  children: [{ id: "shop", name: "shop", type: "supervisor", phase, reason: "said so", children }],
});
const worker = (name: string, state: string) => ({
  id: `id-${name}`,
  name,
  type: "worker",
  state,
  reason: state,
  children: [],
});

const against = async (
  answers: Record<string, Answerer>,
  argv: readonly string[],
  options: AgentOptions = {},
) => {
  daemon ??= await fakeDaemon(answers);
  const ran = await agent(["--state-dir", daemon.stateDir, ...argv], options);
  return { ...ran, asked: daemon.requests.filter(({ command }) => command.startsWith("tree/")) };
};
const withFile = (text = FILE): readonly string[] => {
  writeFileSync(file, text);
  return ["-f", file];
};
const envelopeOf = (stdout: string): ResponseEnvelope => ResponseEnvelope.parse(JSON.parse(stdout));

describe("agent up", () => {
  it("sends the tree, and once what its workers may need of the environment", async () => {
    const env = { SHOP_KEY: "k", SHOP_MODE: "m", OTHER: "o" };
    const answers = { "tree/apply": applied, "agent/tree": () => treeOf("running") };
    const { exit, asked } = await against(answers, ["up", ...withFile(), "--var", "GREETING=hi"], { env });
    expect(exit).toBe(0);
    const { tree: sent, client_env, dry_run } = asked[0]!.data;
    expect(dry_run).toBe(false);
    expect(client_env).toEqual({
      PATH: process.env.PATH,
      SHOP_KEY: "k",
      SHOP_MODE: "m",
      HOLDFAST_HOME: daemon!.stateDir,
    });
    const tree = TreeSpec.parse(sent);
    expect(tree).toMatchObject({ name: "shop", file });
    const [store, crew] = tree.root.children as [WorkerNode, SupervisorNode];
    expect(store.spec.inherit_env).toEqual(["SHOP_MODE", "HOLDFAST_HOME"]);
    expect(crew.children[0]).toMatchObject({
      spec: { argv: ["hi"], cwd: directory, inherit_env: ["HOLDFAST_HOME"] },
    });
  });

  it("says what it changed, and returns when the tree runs", async () => {
    let looks = 0;
    const phases = ["pending", "starting", "running", "running"];
    const answers: Record<string, Answerer> = {
      "tree/apply": applied,
      "agent/tree": () => {
        looks += 1;
        return treeOf(phases[looks - 1]!, [worker("store", looks < 4 ? "starting" : "running")]);
      },
    };
    const { exit, stdout } = await against(answers, ["up", ...withFile(), "-o", "text"]);
    expect(exit).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "~ store  restart: argv, grace changed",
      "~ crew  update: period changed",
      "+ crew/fixer  created",
      "- crew/old  removed",
      "! crew/dead  kept dead: killed by name; `agent restart crew/dead` starts it",
      "= unchanged 1",
      "shop  running",
      "",
    ]);
    expect(looks).toBe(4);
  });

  it("is one envelope in JSON", async () => {
    const answers = { "tree/apply": applied, "agent/tree": () => treeOf("running") };
    const { stdout } = await against(answers, ["up", ...withFile(), "-o", "json"]);
    expect(envelopeOf(stdout)).toMatchObject({
      ok: true,
      data: { tree: "shop", changes: CHANGES, state: "running" },
    });
  });

  it.each([
    ["--dry-run", { dry_run: true }],
    ["--detach", { dry_run: false }],
  ])("with %s does not wait", async (flag, data) => {
    const { exit, asked, stdout } = await against({ "tree/apply": applied }, ["up", ...withFile(), flag]);
    expect(exit).toBe(0);
    expect(asked[0]!.data).toMatchObject(data);
    expect(envelopeOf(stdout)).toMatchObject({ data: { state: "starting" } });
  });

  it("fails with the first worker that does not run, its error, and the way to the reasons", async () => {
    const answers: Record<string, Answerer> = {
      "tree/apply": applied,
      "agent/tree": () =>
        treeOf("terminated", [
          worker("store", "running"),
          {
            id: "crew",
            name: "crew",
            type: "supervisor",
            phase: "terminated",
            reason: "gave up",
            children: [worker("fixer", "failed")],
          },
        ]),
      "agent/info": ({ id }) => ({
        id,
        incarnation: 1,
        error: { code: "AGENT_FAILED", message: "The program exited with code 3." },
      }),
    };
    const { exit, stdout, stderr } = await against(answers, ["up", ...withFile(), "-o", "text"]);
    expect(exit).toBe(1);
    expect(stdout).toContain("+ crew/fixer  created");
    expect(stderr).toContain("shop is not whole: crew/fixer failed: The program exited with code 3.");
    expect(stderr).toContain("agent why crew/fixer");
    const json = await against(answers, ["up", "-f", file, "-o", "json"]);
    expect(envelopeOf(json.stdout)).toMatchObject({ ok: false, error: { code: "WORKER_FAILED" } });
    expect(daemon!.requests.find(({ command }) => command === "agent/info")?.data).toEqual({
      id: "id-fixer",
    });
  });

  it("fails with the worker that failed by itself, not with one that only went down with it", async () => {
    const errors: Record<string, unknown> = {
      "id-stopped": { code: "WORKER_CANCELLED", message: "Stopped by shop." },
      "id-culprit": { code: "TIMEOUT", message: "It was not ready within 1s" },
    };
    const answers: Record<string, Answerer> = {
      "tree/apply": applied,
      "agent/tree": () =>
        treeOf(
          "terminated",
          ["stopped", "unborn", "culprit"].map((name) => worker(name, "failed")),
        ),
      "agent/info": ({ id }) => ({
        id,
        incarnation: id === "id-unborn" ? 0 : 1,
        error: errors[id as string] ?? null,
      }),
    };
    const { exit, stderr } = await against(answers, ["up", ...withFile(), "-o", "text"]);
    expect(exit).toBe(1);
    expect(stderr).toContain("shop is not whole: culprit failed: It was not ready within 1s.");
    expect(stderr).toContain("agent why culprit");
  });

  it("says how a tree that was killed by name is started", async () => {
    const dead = () => ({ children: [{ ...treeOf("terminated").children[0], tombstone: true }] });
    const answers = { "tree/apply": applied, "agent/tree": dead };
    const { exit, stderr } = await against(answers, ["up", ...withFile(), "-o", "text"]);
    expect(exit).toBe(6);
    expect(stderr).toContain("shop was killed by name, and stays dead.");
    expect(stderr).toContain("agent restart shop");
  });

  it("fails with the supervisor that gave up where no worker says why", async () => {
    const answers = { "tree/apply": applied, "agent/tree": () => treeOf("parked") };
    const { exit, stdout } = await against(answers, ["up", ...withFile()]);
    expect(exit).toBe(12);
    expect(envelopeOf(stdout).error).toMatchObject({
      code: "SUPERVISOR_GAVE_UP",
      message: "shop has given up: said so.",
    });
  });

  it("fails where somebody takes the tree down meanwhile", async () => {
    const answers = { "tree/apply": applied, "agent/tree": () => ({ ...treeOf("running"), children: [] }) };
    const { exit, stdout } = await against(answers, ["up", ...withFile()]);
    expect(exit).toBe(6);
    expect(envelopeOf(stdout).error).toMatchObject({ code: "INVALID_STATE" });
  });

  it("says which file owns the name", async () => {
    const refuse = () => {
      throw new HoldfastError("ALREADY_EXISTS", 'The tree "shop" belongs to /else/holdfast.yaml.');
    };
    const { exit, stdout } = await against({ "tree/apply": refuse }, ["up", ...withFile()]);
    expect(exit).toBe(6);
    expect(envelopeOf(stdout).error?.message).toContain("/else/holdfast.yaml");
  });

  it("gives what the daemon finds wrong with a worker its place in the file", async () => {
    const refuse = () => {
      throw new HoldfastError("BINARY_NOT_FOUND", "There is no program serve.", {
        problems: ["store: There is no program serve.", "crew/fixer: There is no program hello."],
      });
    };
    const { exit, stderr } = await against({ "tree/apply": refuse }, ["up", ...withFile(), "-o", "text"]);
    expect(exit).toBe(4);
    expect(stderr).toContain(`${file}:5:7: store: There is no program serve.`);
    expect(stderr).toContain(`${file}:11:11: crew/fixer: There is no program hello.`);
  });
});

describe("a mistake in the file", () => {
  it("is told with its place and a suggestion, before any daemon is asked", async () => {
    const { exit, stderr, asked } = await against({}, [
      "up",
      ...withFile(FILE.replace("argv: [serve]", "agrv: [serve]")),
      "-o",
      "text",
    ]);
    expect(exit).toBe(3);
    expect(stderr).toContain(`${file}:6:7: a worker has no "agrv"; did you mean argv?`);
    expect(stderr).toContain("Correct the file and run this again");
    expect(asked).toEqual([]);
  });

  it.each([
    ["include: ff", "include ff"],
    ["include: /dev/zero", "include /dev/zero"],
    ["name: f, kind: claude, prompt_file: ff", "prompt_file ff"],
  ])("is what is no regular file, and is told at once: %s", async (child, what) => {
    execFileSync("mkfifo", [join(directory, "ff")]);
    const text = `version: 1\nname: shop\ntree:\n  children:\n    - { ${child} }\n`;
    const { exit, stderr } = await against({}, ["up", ...withFile(text), "-o", "text"]);
    expect(exit).toBe(3);
    expect(stderr).toContain(`: ${what} is no regular file.`);
  });

  it("is a fact in JSON", async () => {
    const { stdout } = await against({}, [
      "diff",
      ...withFile(FILE.replace("argv: [serve]", "agrv: [serve]")),
    ]);
    const { error, meta } = envelopeOf(stdout);
    expect(error).toMatchObject({ code: "INVALID_REQUEST" });
    expect(JSON.stringify(meta.details)).toContain('"line":6,"column":7');
  });

  it.each([
    [["up", "-f", "/nowhere/holdfast.yaml"], "/nowhere/holdfast.yaml does not exist."],
    [["up", "-f", "/dev/zero"], "/dev/zero is no regular file."],
    [["diff", "-f", "/dev/zero"], "/dev/zero is no regular file."],
    [["up", "-f", "/"], "/ is a directory."],
    [
      ["up", "--var", "A-B=1"],
      '--var has letters, digits and _ before the =, and first no digit, not "A-B".',
    ],
    [["up", "--var", "A=1", "--var", "A=2"], "--var A is given twice."],
    [["up", "--wait", "--detach"], "--detach does not go with --wait."],
    [["down", "shop", "-f", "x.yaml"], "Agent down takes NAME or --file, not both."],
  ])("%j", async (argv, problem) => {
    const { exit, stdout } = await against({}, argv);
    expect(exit).toBe(3);
    expect(envelopeOf(stdout).error?.message.toLowerCase()).toBe(problem.toLowerCase());
  });

  it("names a variable that the file does not have", async () => {
    const { exit, stdout } = await against({}, ["up", ...withFile(), "--var", "GREETIN=1"]);
    expect(exit).toBe(3);
    expect(envelopeOf(stdout).error?.message).toBe(
      "--var GREETIN is no variable of the file; did you mean GREETING?",
    );
  });
});

it("agent diff asks for nothing to be done, and exits with 0 for changes too", async () => {
  const { exit, stdout, asked } = await against({ "tree/apply": applied }, [
    "diff",
    ...withFile(),
    "-o",
    "text",
  ]);
  expect(exit).toBe(0);
  expect(asked[0]!.data).toMatchObject({ dry_run: true });
  expect(stdout).toContain("+ crew/fixer  create\n- crew/old  remove\n");
});

it("a tree that is too large for a request is told so", async () => {
  const words = "x".repeat(130_000);
  const children = Array.from({ length: 20 }, (_, at) => `    - { name: w${at}, argv: [*long] }`);
  children[0] = `    - { name: w0, argv: [&long ${words}] }`;
  const { exit, stdout } = await against({}, [
    "up",
    ...withFile(`version: 1\ntree:\n  children:\n${children.join("\n")}\n`),
  ]);
  expect(exit).toBe(3);
  expect(envelopeOf(stdout).error).toMatchObject({ code: "REQUEST_TOO_LARGE" });
});

describe("agent down", () => {
  const downed: Answerer = () => ({
    tree: "shop",
    changes: [{ path: "store", action: "remove", reason: "" }],
    state: "stopping",
  });

  it("stops the tree of a file that owns it, and returns when it is gone", async () => {
    let looks = 0;
    const answers: Record<string, Answerer> = {
      "tree/down": downed,
      "agent/tree": () => {
        looks += 1;
        return looks < 3 ? treeOf("stopping") : { ...treeOf("running"), children: [] };
      },
    };
    const { exit, stdout, asked } = await against(answers, ["down", ...withFile(), "-o", "text"]);
    expect(exit).toBe(0);
    expect(asked).toEqual([{ command: "tree/down", data: { name: "shop", file } }]);
    expect(stdout).toBe("- store  removed\nshop  stopped\n");
    expect(looks).toBe(3);
  });

  it("needs no more of the file than the name", async () => {
    const answers = { "tree/down": downed, "agent/tree": () => ({ ...treeOf("running"), children: [] }) };
    const { exit, asked } = await against(answers, [
      "down",
      ...withFile("name: shop\ntree: { chidren: 5 }\n"),
    ]);
    expect(exit).toBe(0);
    expect(asked[0]!.data).toEqual({ name: "shop", file });
  });

  it("takes a name where there is no file", async () => {
    const answers = { "tree/down": downed, "agent/tree": () => ({ ...treeOf("running"), children: [] }) };
    const { exit, asked } = await against(answers, ["down", "shop"]);
    expect(exit).toBe(0);
    expect(asked).toEqual([{ command: "tree/down", data: { name: "shop" } }]);
  });
});
