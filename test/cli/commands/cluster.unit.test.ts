/** A label of a node that has no right form is refused by the command, in one sentence. */
import { expect, it } from "vitest";
import { joinProblems } from "../../../src/cli/commands/cluster.ts";
import { parse } from "../../../src/cli/parse.ts";

const problemsOf = (label: string): readonly string[] => {
  const parsed = parse(["cluster", "join", "postgres://me@db/x", "--label", label]);
  if (parsed.kind !== "call") throw new Error("help");
  return [...parsed.call.problems, ...joinProblems(parsed.call)];
};

it.each(["gpu=1", "zone=eu-north_1.a", "A=B"])("%s is a label", (label) => {
  expect(problemsOf(label)).toEqual([]);
});

it.each(["gpu=", "gpu=a b", "-x=1", "gpu=ä", "gpu=a=b", `${"a".repeat(200)}=1`])(
  "%s is none, and one sentence says how to write it",
  (label) => {
    const problems = problemsOf(label);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^--label is KEY=VALUE.*write it as in gpu=1$/);
  },
);

it.each(["gpu", "=1"])("%s is no pair, and is told once", (label) => {
  expect(problemsOf(label)).toEqual([`--label needs KEY=VALUE, not "${label}"`]);
});
