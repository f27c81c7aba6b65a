/** docs/how-to/writing-adapters.md has each member of an adapter, and of its `messages`, and no others. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./pages.ts";

const source = readFileSync(join(root, "src/adapters/adapter.ts"), "utf8");
const page = readFileSync(join(root, "docs/how-to/writing-adapters.md"), "utf8");

/** The members of an interface, by the source: they alone are indented by two blanks. */
const membersOf = (name: string): readonly string[] => {
  const [, body = ""] = new RegExp(`^export interface ${name}<.*?\\{\n(.*?)^\\}`, "ms").exec(source) ?? [];
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[(:]/gm)].map(([, member = ""]) => member);
};

/** The names in the first column of the table whose head is given: `validate(spec)` names `validate`. */
const namedUnder = (head: string): readonly string[] =>
  page
    .slice(page.indexOf(`| ${head} | meaning |\n`))
    .split("\n\n", 1)
    .flatMap((table) => table.split("\n").slice(1))
    .flatMap((row) => [...(row.split(" | ")[0] ?? "").matchAll(/`(\w+)(?:\([^`]*\))?`/g)])
    .map(([, member = ""]) => member);

describe.each([
  ["member", "AgentAdapter", "decode"],
  ["member of `messages`", "MessageProtocol", "frame"],
])("the table of each %s", (head, name, sample) => {
  it(`has the members of ${name}, and no others`, () => {
    const members = membersOf(name);
    expect(members).toContain(sample);
    expect(namedUnder(head).toSorted()).toEqual(members.toSorted());
  });
});
