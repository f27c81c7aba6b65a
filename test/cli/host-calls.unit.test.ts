import { describe, expect, it } from "vitest";
import { parseHost } from "../../src/base/host-address.ts";
import { hostCalls, narrowed } from "../../src/cli/host-calls.ts";
import { type Call, parse } from "../../src/cli/parse.ts";

const HOSTS = [
  { name: "local", address: undefined },
  { name: "box", address: parseHost("ssh://box") },
  { name: "ssh://me@build", address: parseHost("ssh://me@build") },
];

const called = (...argv: readonly string[]): Call => {
  const parsed = parse(argv);
  if (parsed.kind !== "call") throw new Error("no call");
  return narrowed({ ...parsed.call, hosts: HOSTS });
};

const shown = (call: Call) => hostCalls(call).map(({ host, call: { args } }) => [host.name, args]);

describe("a call for several hosts", () => {
  it("without a worker is for each of them", () => {
    const call = called("list", "--all");
    expect(call.problems).toEqual([]);
    expect(shown(call)).toEqual(HOSTS.map(({ name }) => [name, []]));
  });

  it("with words that name no worker gives them to each", () => {
    expect(shown(called("search", "local/x"))).toEqual(HOSTS.map(({ name }) => [name, ["local/x"]]));
  });

  it("with workers is for their hosts, which know them without the host", () => {
    expect(shown(called("kill", "box/b", "local/crew/a", "box/c"))).toEqual([
      ["local", ["crew/a"]],
      ["box", ["b", "c"]],
    ]);
  });

  it("with workers of one host is a call for that host, which may use its cursor", () => {
    const call = called("watch", "ssh://me@build/fixer", "--from", "812");
    expect([call.problems, call.args, call.hosts]).toEqual([[], ["fixer"], [HOSTS[2]]]);
    expect(called("rename", "box/old", "new").args).toEqual(["old", "new"]);
  });

  it("with workers in a flag is for their hosts, too", () => {
    const flagsOf = (...argv: readonly string[]) =>
      hostCalls(called(...argv)).map(({ host, call: { flags } }) => [host.name, flags.worker]);
    expect(flagsOf("search", "x", "--worker", "box/a", "--worker", "local/b", "--worker", "box/c")).toEqual([
      ["local", ["b"]],
      ["box", ["a", "c"]],
    ]);
    const { hosts, flags } = called("list", "--below", "box/a");
    expect([hosts, flags.below]).toEqual([[HOSTS[1]], "a"]);
  });

  it.each([
    ["a worker without its host", ["info", "fixer"], "as in local/fixer"],
    ["a worker of a flag without its host", ["search", "x", "--worker", "fixer"], "as in local/fixer"],
    ["a host that is not named", ["kill", "far/fixer", "box/b"], "as in local/far/fixer"],
    ["a change of all", ["kill", "--all"], "changes one host at a time"],
    ["a command that runs on a machine", ["spawn", "claude", "do it"], "agent spawn is for one host"],
    ["the terminal of one agent", ["bb", "watch"], "agent bb watch is for one host"],
    ["the cursor of a page", ["list", "--cursor", "x"], "--cursor belongs to one host"],
    ["a seq", ["watch", "--from", "5"], "--from 5 belongs to one host"],
    ["a cursor of one log", ["watch", "--from", "e:5"], "--from e:5 belongs to one host"],
    ["a tree that is followed", ["tree", "--follow"], "--follow belongs to one host"],
  ])("refuses %s, with what to do", (_, argv, words) => {
    const { problems } = called(...argv);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(words);
  });

  it.each([["0"], ["s=e:5,t=e:6"]])("watches from %s", (from) => {
    expect(called("watch", "--from", from).problems).toEqual([]);
  });
});
