import { describe, expect, it } from "vitest";
import { clientEnvironment } from "../../../src/base/environment.ts";
import { spawnProblems, specOf } from "../../../src/cli/commands/spawn-spec.ts";
import { parse } from "../../../src/cli/parse.ts";
import { WorkerSpec } from "../../../src/protocol/worker.ts";

const callOf = (...argv: string[]) => {
  const parsed = parse(["spawn", ...argv]);
  if (parsed.kind !== "call") throw new Error("help");
  return parsed.call;
};

describe("the spec of a spawn", () => {
  it("is a valid WorkerSpec with the defaults of its kind", () => {
    const command = WorkerSpec.parse(
      specOf(callOf("--", "sh", "-c", "true"), {
        env: { PATH: "/bin", SECRET: "x" },
        cwd: "/work",
        stateDir: "/state",
      }),
    );
    expect(command).toMatchObject({
      kind: "command",
      argv: ["sh", "-c", "true"],
      restart: "temporary",
      cwd: "/work",
      client_env: { PATH: "/bin" },
      max_restarts: 3,
      grace_ms: 10_000,
    });
    const agent = WorkerSpec.parse(
      specOf(callOf("claude", "do it", "--cwd", "sub", "--budget", "usd=5,wall=1h"), {
        env: {},
        cwd: "/work",
        stateDir: "/state",
      }),
    );
    expect(agent).toMatchObject({
      kind: "claude_code",
      prompt: "do it",
      restart: "transient",
      cwd: "/work/sub",
      budget: { usd: 5, wall_ms: 3_600_000 },
    });
  });

  it.each(["--profile", "--tools"])("has the profile of skills by %s", (flag) => {
    const call = callOf("llm", "hi", "--model", "openai/m", flag, "companion");
    expect(specOf(call, { env: {}, cwd: "/", stateDir: "/state" })).toMatchObject({ profile: "companion" });
  });

  it("has limits and what the daemon's death means as they were asked for, and neither unless asked", () => {
    const from = { env: {}, cwd: "/", stateDir: "/state" };
    const flags = ["--memory", "512M", "--pids", "100", "--cpu", "1.5", "--on-supervisor-death", "die"];
    const of = (...asked: string[]) => WorkerSpec.parse(specOf(callOf(...asked, "--", "true"), from));
    expect(of(...flags)).toMatchObject({
      limits: { memory_bytes: 512 * 1024 ** 2, pids: 100, cpu: 1.5 },
      on_supervisor_death: "die",
    });
    expect(of()).toMatchObject({ limits: {}, on_supervisor_death: "survive" });
  });

  it("has a worktree where that is asked for, whose branch is named after = alone", () => {
    const from = { env: {}, cwd: "/work", stateDir: "/state" };
    const of = (...asked: string[]) => WorkerSpec.parse(specOf(callOf(...asked), from));
    expect(of("--", "true").worktree).toBeUndefined();
    expect(of("--worktree", "claude", "hi")).toMatchObject({
      kind: "claude_code",
      prompt: "hi",
      worktree: {},
    });
    expect(of("--worktree=fix/login", "claude", "hi").worktree).toEqual({ branch: "fix/login" });
    const problems = (flag: string) => spawnProblems(callOf(flag, "--", "true"));
    for (const name of ["-x", "a b", "a:b", "@{1}", "x".repeat(201)])
      expect(problems(`--worktree=${name}`)).toEqual([
        expect.stringContaining("--worktree takes the name of a branch"),
      ]);
  });

  it("has a sandbox where that is asked for, with paths from where the command is run", () => {
    const from = { env: {}, cwd: "/work", stateDir: "/state" };
    const of = (...asked: string[]) => WorkerSpec.parse(specOf(callOf(...asked, "--", "true"), from)).sandbox;
    expect(of()).toBeUndefined();
    expect(of("--sandbox", "off")).toBeUndefined();
    expect(of("--sandbox", "workspace")).toEqual({ writable: [] });
    expect(of("--sandbox", "workspace", "--sandbox-net", "none", "--sandbox-writable", "../more")).toEqual({
      writable: ["/more"],
      net: "none",
    });
    expect(spawnProblems(callOf("--sandbox-net", "none", "--", "true"))).toEqual([
      "--sandbox-net needs --sandbox workspace",
    ]);
  });

  it("is paused at its quota where that is asked for, and fails otherwise", () => {
    const from = { env: {}, cwd: "/", stateDir: "/state" };
    const of = (...asked: string[]) => WorkerSpec.parse(specOf(callOf(...asked, "--", "true"), from));
    expect(of("--output-quota", "1MB", "--on-output-quota", "pause")).toMatchObject({
      output_quota_bytes: 1024 ** 2,
      on_output_quota: "pause",
    });
    expect(of()).toMatchObject({ on_output_quota: "fail" });
  });

  it("names the worker whose agent spawns", () => {
    expect(
      specOf(callOf("--", "true"), {
        env: { HOLDFAST_RUN: "store/01WORKER/3" },
        cwd: "/",
        stateDir: "/state",
      }).parent,
    ).toBe("01WORKER");
  });

  it("sends the variables that rules, flags and references name, and no others", () => {
    const env = {
      PATH: "/bin",
      LC_ALL: "C",
      ANTHROPIC_API_KEY: "k",
      MINE: "1",
      OTHER: "2",
      PRIVATE: "3",
      XDG_CONFIG_HOME: "/c",
      HOLDFAST_RUN: "a/b/1",
    };
    expect(clientEnvironment(env, ["MINE"])).toEqual({
      PATH: "/bin",
      LC_ALL: "C",
      ANTHROPIC_API_KEY: "k",
      MINE: "1",
      XDG_CONFIG_HOME: "/c",
    });
    expect(
      specOf(callOf("--env", "A=@env:OTHER", "--inherit-env", "MINE", "--", "true"), {
        env,
        cwd: "/",
        stateDir: "/state",
      }).client_env,
    ).toMatchObject({ OTHER: "2", MINE: "1" });
  });
});

it("a label of a node that is given twice alike is one", () => {
  expect(spawnProblems(callOf("--where", "gpu=1", "--where", "gpu=1", "--", "true"))).toEqual([]);
});

describe("mistakes of a spawn", () => {
  it.each([
    [[], "spawn needs a KIND"],
    [["command"], "needs a program after --"],
    [["--"], "needs a program after --"],
    [["cladue", "hi"], "did you mean claude?"],
    [["--name", "-x", "--", "true"], "--name has letters"],
    [["claude", "  "], "PROMPT is empty"],
    [["claude", "hi", "--prompt-file", "f"], "the prompt is given twice"],
    [["llm", "hi", "--profile", "worker", "--tools", "worker"], "the profile is given twice"],
    [["--detach", "--wait", "--", "true"], "--detach goes with neither"],
    [
      ["--where", "gpu=1", "--where", "gpu=2", "--", "true"],
      "--where gpu is given twice, and a node has one",
    ],
    [["--memory", "1", "--", "true"], "--memory is at least 8MB"],
    [["--pids", "0", "--", "true"], "--pids is from 1 to 4194304, not 0"],
    [["--cpu", "9000", "--", "true"], "--cpu is from 0.01 to 8192, not 9000"],
  ])("%j", (argv, problem) => {
    const call = callOf(...argv);
    expect([...call.problems, ...spawnProblems(call)].join()).toContain(problem);
  });
});
