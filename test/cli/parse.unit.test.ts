import { describe, expect, it } from "vitest";
import { spawnProblems } from "../../src/cli/commands/spawn-spec.ts";
import { parse, wordsWithout } from "../../src/cli/parse.ts";

const callOf = (...argv: string[]) => {
  const parsed = parse(argv);
  if (parsed.kind !== "call") throw new Error("help");
  return parsed.call;
};

describe("parse", () => {
  it("tells every mistake at once", () => {
    const call = callOf(
      "spawn",
      "cluade",
      "--timeout",
      "5x",
      "--restart",
      "permanant",
      "--max-restarts",
      "3",
      "--backoff",
      "9s..1s",
      "--label",
      "x",
      "--budget",
      "eur=5",
      "--wtch",
    );
    const problems = [...call.problems, ...spawnProblems(call)].join("\n");
    for (const part of [
      "--timeout needs a duration",
      "did you mean permanent?",
      "--max-restarts needs",
      "--backoff begins above its end",
      "--label needs KEY=VALUE",
      "--budget knows usd",
      "did you mean --watch?",
      'no kind "cluade"; did you mean claude?',
    ])
      expect(problems).toContain(part);
    expect(problems.split("\n")).toHaveLength(8);
  });

  it.each([
    [["lsit"], "agent list"],
    [["spwann"], "agent spawn"],
    [["kil"], "agent kill"],
    [["daemon", "strt"], "agent daemon start"],
    [["demon", "start"], "agent daemon"],
    [["help", "lgos"], "agent logs"],
  ])("suggests for %j", (argv, meant) => {
    expect(callOf(...argv).unknown).toMatchObject({
      code: "UNKNOWN_COMMAND",
      message: expect.stringContaining(`did you mean ${meant}?`),
    });
  });

  it("does not guess where nothing is near", () => {
    expect(callOf("frobnicate").unknown?.message).toBe('There is no command "frobnicate".');
  });

  it("reads durations as milliseconds, pairs and repeats", () => {
    const { flags, problems } = callOf(
      "spawn",
      "claude",
      "hi",
      "--grace",
      "1.5s",
      "--timeout=0",
      "-l",
      "a=1",
      "--label",
      "b=x=y",
      "--max-restarts",
      "5/2m",
      "--ext",
      'backend.codex.x={"a":1}',
    );
    expect(problems).toEqual([]);
    expect(flags).toEqual({
      grace: 1500,
      timeout: 0,
      label: [
        ["a", "1"],
        ["b", "x=y"],
      ],
      "max-restarts": { max: 5, period_ms: 120_000 },
      ext: [["backend.codex.x", { a: 1 }]],
    });
  });

  it.each([
    [["--worktree", "claude", "fix"]],
    [["claude", "--worktree", "fix the login"]],
    [["claude", "fix", "--worktree"]],
    [["claude", "--worktree=feat2", "fix"]],
    [["claude", "--worktree", "--wait", "fix"]],
  ])("takes no prompt for a branch, and no branch for a prompt: %j", (argv) => {
    const call = callOf("spawn", ...argv);
    expect([...call.problems, ...spawnProblems(call)]).toEqual([]);
    expect(call.flags.worktree).toBe(argv.includes("--worktree=feat2") ? "feat2" : true);
  });

  it("leaves everything after -- to the program", () => {
    const { argv, args, flags } = callOf("spawn", "--name", "x", "--", "sh", "--watch", "-c", "--", "hi");
    expect({ argv, args, flags }).toEqual({
      argv: ["sh", "--watch", "-c", "--", "hi"],
      args: [],
      flags: { name: "x" },
    });
  });

  it("takes flags before the command, between and after its arguments", () => {
    const call = callOf("-o", "json", "--state-dir", "/x", "kill", "a", "--grace", "2s", "b");
    expect(call.command.words).toEqual(["kill"]);
    expect(call).toMatchObject({
      args: ["a", "b"],
      flags: { output: "json", "state-dir": "/x", grace: 2000 },
    });
  });

  it("takes ps for list", () => {
    expect(callOf("ps", "-aq")).toMatchObject({
      command: { words: ["list"] },
      flags: { all: true, quiet: true },
    });
  });

  it.each([
    [["info"], "info needs ID"],
    [["ask", "a"], "ask needs TEXT"],
    [["send", "a", "two", "words"], 'does not take "words"; put the whole TEXT in quotes'],
    [["logs", "a", "--tail"], "--tail needs a value: --tail N"],
    [["spawn", "--on-breach"], "--on-breach needs a value: --on-breach ask|stop"],
    [["logs", "a", "--tail", "many"], "--tail needs a whole number"],
    [["spawn", "claude", "--name", "--watch"], "--name needs a value"],
    [["list", "--all=yes"], "--all takes no value"],
    [["kill", "a", "--signal", "HUPP"], "did you mean SIGHUP?"],
    [["kill", "a", "--grace", "1s", "--grace", "2s"], "--grace is given twice"],
    [["kill", "a", "--grace", "999d"], "--grace may be at most"],
    [["completion", "bsh"], "did you mean bash?"],
    [["info", ""], "ID is empty"],
    [["mailbox", "poll", "--lease", "0"], "--lease is from 1ms to 12h, not 0"],
    [["mailbox", "poll", "--lease", "20h"], "--lease is from 1ms to 12h, not 20h"],
    [["mailbox", "send", "user", "hi", "--ttl", "31d"], "--ttl is from 1ms to 30d, not 31d"],
    [["mailbox", "nack", "1", "--delay", "31d"], "--delay is at most"],
    [["bb", "release", "a", "--token", "0"], "--token is at least 1"],
    [["bb", "claim", "a", "--token", "0"], "--token is at least 1"],
    [["bb", "claim", "--lease", "1ms"], "--lease is from 1s to"],
    [["token", "create", "a", "--expires", "1ms"], "--expires is at least 1s"],
    [["search", "a", "--limit", "0"], "--limit is from 1 to 500, not 0"],
    [["-o", "yaml", "list"], "--output is one of text, json, ndjson"],
  ])("refuses %j", (argv, problem) => {
    expect(callOf(...argv).problems.join("\n")).toContain(problem);
  });

  it.each([
    [[], []],
    [["--help"], []],
    [["help"], []],
    [["spawn", "--help"], ["spawn"]],
    [
      ["help", "daemon", "stop"],
      ["daemon", "stop"],
    ],
    [["daemon"], ["daemon"]],
    [["daemon", "--help"], ["daemon"]],
  ])("gives help for %j", (argv, words) => {
    expect(parse(argv)).toMatchObject({ kind: "help", words });
  });

  it("takes --version", () => {
    expect(callOf("--version").command.words).toEqual(["version"]);
  });
});

describe("the words of a call without some flags", () => {
  const without = (...typed: string[]) => wordsWithout({ ...callOf(...typed), typed }, ["host", "output"]);

  it.each([
    ["before the command", ["-ojson", "--host", "all", "version"], ["version"]],
    ["behind it", ["version", "-o", "json", "--host=a,b"], ["version"]],
    ["in every spelling", ["--output=text", "doctor", "--host", "a", "--host", "b"], ["doctor"]],
    ["and no others", ["config", "get", "defaults.model", "--state-dir", "host"], undefined],
  ])("%s", (_, typed, left) => {
    expect(without(...typed)).toEqual(left ?? typed);
  });

  it("leaves the words of a program alone", () => {
    const program = ["--", "ls", "--host", "x", "-o", "y"];
    expect(without("spawn", "--host", "a", ...program)).toEqual(["spawn", ...program]);
  });
});
