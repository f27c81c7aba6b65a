/** A failure of something that is tried again and again is told once, until it was well again. */
import { Cause } from "effect";
import { expect, it } from "vitest";
import { NameHeldError } from "../../../src/cluster/errors.ts";
import { sentenceOf, Trouble } from "../../../src/daemon/cluster/trouble.ts";

it("tells a failure once, and again after a success", () => {
  const told: string[] = [];
  const trouble = new Trouble((sentence) => told.push(sentence));
  trouble.report("a look", new Error("away"));
  trouble.report("a look", new Error("away"));
  trouble.report("a look", new Error("refused"));
  expect([told, trouble.failing]).toEqual([["a look: away", "a look: refused"], "a look: refused"]);
  trouble.isWell();
  trouble.report("a look", new Error("away"));
  expect([told.length, trouble.failing]).toEqual([3, "a look: away"]);
});

it("finds what was said first", () => {
  const inner = new Error("connect ECONNREFUSED");
  expect(sentenceOf(Cause.fail(new Error("wrapped", { cause: inner })))).toBe("connect ECONNREFUSED");
  expect(sentenceOf(new AggregateError([inner], ""))).toBe("connect ECONNREFUSED");
  expect(sentenceOf("text")).toBe("text");
});

it("tells the next step, where there is one", () => {
  const told: string[] = [];
  const trouble = new Trouble((sentence) => told.push(sentence));
  trouble.report("the join of the cluster", new NameHeldError("a", false));
  expect(told).toEqual([
    "the join of the cluster: Another daemon is the node a now, so this one is no node. Leave with agent cluster leave, and join under another name: agent cluster join URL --name NAME",
  ]);
});
