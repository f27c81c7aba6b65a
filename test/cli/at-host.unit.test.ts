import { describe, expect, it } from "vitest";
import { parseHost } from "../../src/base/host-address.ts";
import { commandsAt, leadingTo, ofHost } from "../../src/cli/at-host.ts";
import type { CommandResult } from "../../src/cli/context.ts";
import { type ErrorDetails, HoldfastError } from "../../src/protocol/errors.ts";
import { failure, success } from "../../src/protocol/outcome.ts";

const BOX = { name: "box", address: parseHost("ssh://box.example") };
const LOCAL = { name: "local", address: undefined };
const failed = (info: ErrorDetails) => failure(new HoldfastError("WORKER_NOT_FOUND", "No worker x.", info));

describe("advice about another host", () => {
  it.each([
    ["See: agent list --all", "See: agent --host box list --all"],
    ["Run `agent bb list`, or agent bb.", "Run `agent --host box bb list`, or agent bb."],
    [
      "agent daemon stop && agent daemon start",
      "agent --host box daemon stop && agent --host box daemon start",
    ],
    ["Its agent has read it, and an agent lists-up.", "Its agent has read it, and an agent lists-up."],
    ["The agents run on.", "The agents run on."],
  ])("leads there: %s", (text, there) => {
    expect(commandsAt(BOX, text)).toBe(there);
  });

  it("quotes a name that a shell would take apart, and needs nothing for this machine", () => {
    const exec = { name: "exec:docker exec -i $& box", address: parseHost("exec:docker exec -i box") };
    expect(commandsAt(exec, "agent list")).toBe("agent --host 'exec:docker exec -i $& box' list");
    expect(commandsAt(LOCAL, "agent list")).toBe("agent list");
  });
});

const errorOf = (result: CommandResult): HoldfastError => {
  if (result.ok) throw new Error("it succeeded");
  return result.error;
};

describe("an error of one host", () => {
  const facts = { suggestion: "agent list", suggestion_cli: "agent wait x", details: { id: "x" } };

  it("names it, for people and for programs, and keeps its other facts", () => {
    const { code, message, info } = errorOf(ofHost(BOX, failed(facts)));
    expect([code, message]).toEqual(["WORKER_NOT_FOUND", "box: No worker x."]);
    expect(info).toEqual({
      suggestion: "agent --host box list",
      suggestion_cli: "agent --host box wait x",
      details: { id: "x", host: "box" },
    });
    expect(errorOf(ofHost(LOCAL, failed(facts)))).toMatchObject({
      message: "local: No worker x.",
      info: { ...facts, details: { id: "x", host: "local" } },
    });
  });

  it("has the catalogue's advice where it has none of its own", () => {
    expect(errorOf(leadingTo(BOX, failed({}))).suggestion).toContain("agent --host box list");
  });

  it("of the link advises what to do here, and is named once", () => {
    const suggestion = "Try it by hand: ssh -T -- box.example 'agent relay --stdio'";
    const ofLink = failed({ suggestion, details: { host: "ssh://box.example" } });
    const named = errorOf(ofHost(BOX, ofLink));
    expect([named.message, named.suggestion]).toEqual(["box: No worker x.", suggestion]);
    const unnamed = errorOf(ofHost({ ...BOX, name: "ssh://box.example" }, ofLink));
    expect([unnamed.message, unnamed.suggestion]).toEqual(["No worker x.", suggestion]);
  });

  it("leaves a success alone", () => {
    const done = success({ id: "x" });
    expect(ofHost(BOX, done)).toBe(done);
  });
});
