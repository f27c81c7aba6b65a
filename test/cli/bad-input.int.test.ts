/** Bad input to every command of the registry: one clear sentence a mistake, all at once, exit code 3, and nothing was started. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { adapters } from "../../src/adapters/registry.ts";
import type { FlagDef, ValueType } from "../../src/base/flag.ts";
import type { CommandDef } from "../../src/commands/command.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { KINDS } from "../../src/commands/kinds.ts";
import { ResponseEnvelope } from "../../src/protocol/envelope-schemas.ts";
import { WorkerSpec } from "../../src/protocol/worker.ts";
import { hasVectors } from "../protocol/vectors.ts";
import { contractSchema } from "../support/contract-schemas.ts";
import { agent } from "./support/agent.ts";
import { programsOfKinds } from "./support/programs.ts";

let directory: string;
/** With a program of each kind. */
let programs: string;
/** Nobody may make it: a daemon would, before all else. */
let stateDir: string;
beforeAll(() => {
  process.setMaxListeners(0);
  directory = mkdtempSync(join(tmpdir(), "holdfast-bad-"));
  stateDir = join(directory, "state");
  programs = programsOfKinds();
});
afterEach(() => expect(existsSync(stateDir)).toBe(false));
afterAll(() => {
  for (const made of [directory, programs]) rmSync(made, { recursive: true, force: true });
});

/** The contract's own schema, where it is at hand. */
const contract = hasVectors("response-envelope") ? contractSchema("response-envelope") : ResponseEnvelope;

/** The sentences of a refusal. */
const refused = async (argv: readonly string[]): Promise<readonly string[]> => {
  const env = { HOLDFAST_HOME: stateDir, PATH: `${programs}:${process.env.PATH}` };
  const ran = await agent(["-o", "json", ...argv], { env });
  expect(ran).toMatchObject({ exit: 3, stderr: "" });
  const { ok, data, error, meta } = ResponseEnvelope.parse(JSON.parse(ran.stdout));
  expect(contract.safeParse(JSON.parse(ran.stdout)).error).toBeUndefined();
  expect({ ok, data }).toEqual({ ok: false, data: null });
  expect(error).toMatchObject({
    phase: "validation",
    retryable: true,
    suggestion: expect.stringMatching(/\S/),
  });
  const problems = (meta.problems as string[] | undefined) ?? [error!.message];
  for (const problem of problems) expect(problem).toMatch(/^(agent |--|[A-Z]).*[.?]$/s);
  const text = await agent(["-o", "text", ...argv], { env });
  expect(text).toMatchObject({ exit: 3, stdout: "" });
  for (const problem of problems) expect(text.stderr).toContain(problem);
  return problems;
};

const WRONG: Readonly<Record<ValueType, string | undefined>> = {
  bool: undefined,
  string: "",
  int: "many",
  duration: "5x",
  time: "soon",
  size: "5x",
  enum: "nope",
  list: "NoSuchKind",
  pair: "no-equals-sign",
  "json-pair": "key={",
  restarts: "3/xx",
  backoff: "9s..1s",
  budget: "usd=x",
  number: "many",
  signal: "SIGNOPE",
  cursor: "01JZ:x",
  name: "ba!d",
};

const wrongly = ({ name, type, optional }: FlagDef): readonly string[] =>
  optional
    ? [`--${name}=${WRONG[type]!}`]
    : type === "bool"
      ? [`--${name}=yes`]
      : [`--${name}`, WRONG[type]!];

describe.each(COMMANDS.map((command) => [command.words.join(" "), command] as const))(
  "agent %s refuses",
  (_name, command: CommandDef) => {
    const required = command.args.filter((arg) => arg.required).length;

    it("an unknown flag, and names the one that was probably meant", async () => {
      const args = command.args.slice(0, required).map(() => "x");
      const problems = await refused([...command.words, "--outptu", "json", ...args]);
      expect(problems[0]).toContain("has no flag --outptu; did you mean --output?");
    });

    it("a wrong value of each flag and each missing argument, all at once", async () => {
      const problems = await refused([...command.words, ...command.flags.flatMap(wrongly), "--no-such-flag"]);
      for (const { name } of command.flags)
        expect(problems.filter((problem) => problem.startsWith(`--${name} `))).toHaveLength(1);
      expect(problems.join("\n")).toContain("no flag --no-such-flag");
      for (const arg of command.args)
        if (arg.required) expect(problems.join("\n")).toContain(`needs ${arg.name}`);
    });

    it("a flag without its value", async () => {
      for (const { name } of command.flags.filter(({ type, optional }) => type !== "bool" && !optional))
        expect((await refused([...command.words, `--${name}`])).join("\n")).toContain(
          `--${name} needs a value`,
        );
    });

    if (command.args.some((arg) => arg.variadic)) return;
    it("an argument too many", async () => {
      const args = [...command.args.map(() => "x"), "surplus"];
      expect((await refused([...command.words, ...args])).join("\n")).toContain('does not take "surplus"');
    });
  },
);

describe("agent spawn refuses", () => {
  it.each<[string[], string[]]>([
    [[], ["agent spawn needs a KIND"]],
    [["--"], ["agent spawn needs a program after --"]],
    [["command"], ["kind command needs a program after --"]],
    [["cluade", "hi"], ['there is no kind "cluade"; did you mean claude?']],
    [
      ["nonsense", "hi"],
      [
        'there is no kind "nonsense"; there are claude, codex, gemini, opencode, copilot, qwen, command, acp, llm, weblisk; config.yaml of the state directory can add one',
      ],
    ],
    [["claude"], ["kind claude needs a PROMPT"]],
    [["claude", ""], ["PROMPT is empty"]],
    [["claude", " \n"], ["PROMPT is empty"]],
    [["claude", "do", "this"], ['does not take "this"; put the whole PROMPT in quotes']],
    [["claude", "hi", "--prompt-file", "/dev/null"], ["the prompt is given twice"]],
    [
      ["claude", "--prompt-file", "/nonexistent/prompt"],
      ["--prompt-file /nonexistent/prompt does not exist"],
    ],
    [["claude", "--prompt-file", "/"], ["--prompt-file / is a directory"]],
    [["gemini", "hi", "--interactive"], ["--interactive means nothing to kind gemini"]],
    [["gemini", "hi", "--fork"], ["--fork means nothing to kind gemini"]],
    [["--env", "1X=y", "--", "true"], ["--env has letters, digits and _"]],
    [["--env", "X", "--", "true"], ["--env needs KEY=VALUE"]],
    [["--name", "a b", "--", "true"], ["--name has letters"]],
    [["--name", "a", "--name", "b", "--", "true"], ["--name is given twice"]],
    [["--watch", "--detach", "--", "true"], ["--detach goes with neither"]],
    [
      ["--model", "m", "--session", "s", "--", "true"],
      ["--model means", "--session means"],
    ],
    // The value of a flag that does not exist is not taken for a kind.
    [
      ["--tail", "3", "--grace", "1", "--", "true"],
      ["agent spawn has no flag --tail", "--grace needs a duration"],
    ],
  ])("%j", async (argv, expected) => {
    const problems = await refused(["spawn", ...argv]);
    expect(problems).toHaveLength(expected.length);
    for (const part of expected) expect(problems.join("\n").toLowerCase()).toContain(part.toLowerCase());
  });

  it.each<[string[], string[]]>([
    [
      ["--ext", 'agent_api.nope.v1="x"', "--", "true"],
      ["Extension key agent_api.nope.v1 is not supported by kind command"],
    ],
    [["claude", "hi", "--ext", "agent_api.config.model.v1=7"], ["Invalid agent_api.config.model.v1."]],
    [
      ["claude", "hi", "--add-dir", "/nonexistent/dir"],
      ["--add-dir /nonexistent/dir is not an existing directory"],
    ],
    [
      [
        "--sandbox",
        "workspace",
        "--sandbox-writable",
        "/nonexistent/dir",
        "--sandbox-writable",
        "/",
        "--",
        "true",
      ],
      ["--sandbox-writable /nonexistent/dir is not an existing directory"],
    ],
    [["--add-dir", "/", "--", "true"], ["--add-dir means nothing to kind command."]],
    [["--approval-within", "5s", "--", "true"], ["--approval-within means nothing to kind command."]],
    [["opencode", "hi", "--add-dir", "/"], ["--add-dir means nothing to kind opencode."]],
    [
      ["--ext", 'agent_api.exec.add_dirs.v1={"dirs":["/"]}', "--", "true"],
      ["Extension key agent_api.exec.add_dirs.v1 is not supported by kind command"],
    ],
    [["--sandbox", "--", "true"], ["--sandbox needs a value: --sandbox off|workspace."]],
    [
      ["codex", "hi", "--add-dir", "/", "--ext", 'agent_api.exec.add_dirs.v1={"dirs":["/"]}'],
      ["The directories are given twice"],
    ],
    [
      ["claude", "--worktree", "feat2"],
      [
        "The name of a branch comes after =, as in --worktree=feat2; a PROMPT of one word stands before --worktree.",
      ],
    ],
    [
      ["claude", "--worktree", "feat2", "fix the login"],
      [
        'agent spawn does not take "fix the login"',
        "The name of a branch comes after =, as in --worktree=feat2; a PROMPT",
      ],
    ],
    [
      ["--worktree", "feat2", "claude", "fix the login"],
      ['agent spawn does not take "fix the login"', 'There is no kind "feat2"', "as in --worktree=feat2."],
    ],
    [
      ["--worktree", "feat2", "--", "true"],
      ['There is no kind "feat2"', "The name of a branch comes after =, as in --worktree=feat2."],
    ],
    [["gemini", "hi", "--permission", "ask"], ["cannot ask for permission"]],
    [["--budget", "turns=3", "--", "true"], ["reports no turns"]],
    [
      [
        "--cwd",
        "/nonexistent/cwd",
        "--grace",
        "x",
        "--env",
        "A=@env:NOPE",
        "--env",
        "B=@file:/nonexistent/b",
        "--",
        "true",
      ],
      [
        "--grace needs a duration",
        "/nonexistent/cwd does not exist",
        "the variable NOPE",
        "the file /nonexistent/b",
      ],
    ],
    [
      ["--name", "a b", "--", "no-such-program"],
      ["--name has letters", "The program no-such-program is not on"],
    ],
  ])("what only the daemon found before, beside the rest: %j", async (argv, expected) => {
    const problems = await refused(["spawn", ...argv]);
    expect(problems).toHaveLength(expected.length);
    for (const part of expected) expect(problems.join("\n")).toContain(part);
  });

  it.each([
    [["--", "no-such-program"], "BINARY_NOT_FOUND", "Check its spelling, or give its path."],
    [["--", "/dev/null"], "BINARY_NOT_EXECUTABLE", ""],
    [["--cwd", "/nonexistent/cwd", "--", "./here"], "CWD_NOT_FOUND", "--cwd"],
    [["--env", "A=@env:NOPE", "--", "true"], "SECRET_UNAVAILABLE", "run this again"],
    [["--env", "A=@env:NOPE", "--", "no-such-program"], "BINARY_NOT_FOUND", "Check its spelling"],
  ])("what is missing on this machine, before a daemon is started: %j", async (argv, code, next) => {
    const env = { HOLDFAST_HOME: stateDir };
    const { exit, stdout } = await agent(["-o", "json", "spawn", ...argv], { env });
    expect(exit).toBe(4);
    const { error } = ResponseEnvelope.parse(JSON.parse(stdout));
    expect(error).toMatchObject({ code, phase: "validation", suggestion: expect.stringContaining(next) });
  });

  it("an empty prompt file", async () => {
    const file = join(directory, "empty");
    writeFileSync(file, " \n");
    expect(await refused(["spawn", "claude", "--prompt-file", file])).toEqual([
      `The prompt from ${file} is empty.`,
    ]);
  });
});

it.each<[string[], string]>([
  [["claude", "hi", "--ext", "backend.codex.exec.sandbox_mode=1"], "UNSUPPORTED_CAPABILITY"],
  [
    ["claude", "hi", "--ext", "agent_api.nope.v1=1", "--ext", "agent_api.config.model.v1=7"],
    "UNSUPPORTED_CAPABILITY",
  ],
  [["claude", "hi", "--ext", "agent_api.config.model.v1=7"], "INVALID_REQUEST"],
  [["claude", "--ext", "agent_api.nope.v1=1"], "INVALID_REQUEST"],
  [["claude", "hi", "--ext", "agent_api.nope.v1=1", "--grace", "x"], "INVALID_REQUEST"],
])("agent spawn %j is refused with %s: a key that is not supported beats values", async (argv, code) => {
  const env = { HOLDFAST_HOME: stateDir, PATH: `${programs}:${process.env.PATH}` };
  const { exit, stdout } = await agent(["-o", "json", "spawn", ...argv], { env });
  expect({ exit, error: JSON.parse(stdout).error }).toMatchObject({ exit: 3, error: { code } });
});

it.each([
  [["spwan"], 'There is no command "spwan"; did you mean agent spawn?'],
  [["daemon", "stp"], 'There is no command "daemon stp"; did you mean agent daemon stop?'],
  [["approvals", "dny", "k2"], 'There is no command "approvals dny"; did you mean agent approvals deny?'],
  [["approvals", "k1", "k2"], 'agent approvals does not take "k2".'],
  [["capabilities", "cluade"], 'There is no kind "cluade"; did you mean claude?'],
  [["kill"], "agent kill needs an ID, --label or --all."],
  [["kill", "a", "--all"], "agent kill takes IDs, --label or --all: one of them."],
  [["watch", "a", "--all"], "agent watch takes IDs or --all, not both."],
  [["watch", "--from", "1", "--since", "1m"], "agent watch takes --from or --since, not both."],
  [["db", "export", "--from", "9", "--to", "6"], "--from 9 is after --to 6: there is nothing between them."],
  [["logs", "a", "--stderr"], "--stderr goes with --raw."],
  [["usage", "--by", "moon"], '--by is day, kind, model, worker or label:KEY, not "moon".'],
  [["usage", "--subtree"], "--subtree needs the ID of a worker."],
  [["logs", "a", "--tail", "100001"], "--tail may be at most 100000."],
  [
    ["daemon", "stop", "--keep-agents", "--kill-agents"],
    "agent daemon stop takes --keep-agents or --kill-agents, not both.",
  ],
  [["list", "--format", "wide"], "agent list has no flag --format."],
  [
    ["list", "--filter", "failed"],
    "agent list has no flag --filter; choose by --label, --state, --kind or --since.",
  ],
  [
    ["list", "--state", "runing"],
    '--state knows no "runing"; did you mean running?; it is pending, starting, running, stopping, completed, failed, cancelled.',
  ],
  [
    ["list", "--sort", "cost", "--cursor", "01M852GXBZPH97KAJ2WWF4MHS5"],
    "--sort and --cursor exclude each other: a cursor continues in the order of ids.",
  ],
  [["pause"], "agent pause needs an ID or --label."],
  [["kill", "a", "--label", "team=a"], "agent kill takes IDs, --label or --all: one of them."],
  [
    ["spawn", "--replicas", "3", "--", "sh"],
    "agent spawn has no flag --replicas; spawn each worker by itself, or list each as a child in holdfast.yaml.",
  ],
  [
    ["jobs", "submit", "--where", "gpu=1", "--", "sh"],
    "agent jobs submit has no flag --where; only agent spawn places a worker on a cluster.",
  ],
  [["spawn", "--no-such-flag", "3"], "agent spawn has no flag --no-such-flag."],
  [["spawn", "--no-such-flag", "3", "sh"], "agent spawn has no flag --no-such-flag."],
  [["mcp", "list", "--no-such-flag", "3"], "agent mcp list has no flag --no-such-flag."],
  [
    ["spawn", "--restart", "always", "--", "sh"],
    '--restart is one of permanent, transient, temporary, not "always"; did you mean permanent?',
  ],
  [
    ["spawn", "--restart", "on-failure:3", "--", "sh"],
    '--restart is one of permanent, transient, temporary, not "on-failure:3"; did you mean transient?',
  ],
  [["bb", "release", "x", "--token", "-1"], '--token needs a whole number, not "-1".'],
  [["bb", "release", "x"], "agent bb release needs --token, as agent bb claim printed it."],
  [
    ["bb", "list", "--ns", "ba!d"],
    "--ns has letters, digits, '.', '_' and '-', begins with a letter or digit and is at most 64 long, not \"ba!d\".",
  ],
  [["spawn-many", "no-such.json"], "FILE no-such.json does not exist."],
  ...[
    ["token", "create", "bad name!", "--to", "a"],
    ["token", "revoke", "bad name!"],
  ].map((argv): [string[], string] => [
    argv,
    "NAME has letters, digits, '.', '_' and '-', begins with a letter or digit and is at most 64 long, not \"bad name!\".",
  ]),
  [
    ["schedule", "add", "bad name!", "@daily", "--", "sh"],
    "NAME has letters, digits, '.', '_' and '-', begins with a letter or digit and is at most 47 long, not \"bad name!\".",
  ],
  [["spawn", "sh"], 'There is no kind "sh"; a program stands after --: agent spawn -- sh.'],
])("agent %j is refused", async (argv, sentence) => {
  expect(await refused(argv)).toEqual([sentence]);
});

describe("the kinds of the command line", () => {
  it("are those of the adapters, by the same names", () => {
    const ours = KINDS.map(({ kind, short, binary, variable }) => ({ kind, short, binary, variable }));
    const theirs = adapters.map(({ kind, aliases, binary }) => ({
      kind,
      short: aliases[0] ?? kind,
      binary: binary?.name ?? null,
      variable: binary?.variable ?? null,
    }));
    expect(new Set(ours)).toEqual(new Set(theirs));
  });

  it("refuse what their adapters refuse", () => {
    const flags = { model: "anthropic/m", session: "s", interactive: true, fork: true } as const;
    for (const { kind, binary, needsPrompt, refuses } of KINDS) {
      const { validate } = adapters.find((each) => each.kind === kind)!;
      // The engine is no program that the user names, and its model has no default.
      const isEngine = kind === "llm";
      const argv = binary === null && !isEngine ? ["true"] : [];
      const model = isEngine ? { model: "anthropic/m" } : {};
      const spec = { kind, argv, cwd: "/", restart: "temporary", ...model };
      const problems = (more: object) => validate(WorkerSpec.parse({ ...spec, ...more }));
      expect(problems({}).length > 0).toBe(needsPrompt);
      for (const [flag, value] of Object.entries(flags)) {
        const session = flag === "fork" && kind !== "command" ? { session: "s" } : {};
        const isRefused = problems({ prompt: "hi", ...session, [flag]: value }).length > 0;
        expect({ kind, flag, isRefused }).toEqual({ kind, flag, isRefused: refuses.includes(flag) });
      }
    }
  });
});
