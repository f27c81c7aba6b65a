import { describe, expect, it } from "vitest";
import { problemsOf, read, startOrder } from "./support.ts";

/** `a<b,c` waits for b and c; `s[a b]` is a supervisor; `s<a[…]` both. */
const childrenOf = (words: string): string => {
  const tokens = words.match(/[^\s[\]]+|\[|\]/g) ?? [];
  const nodes: string[] = [];
  let last = "";
  const flush = (): void => {
    if (last !== "") nodes.push(`{ ${last}, argv: [x] },`);
    last = "";
  };
  for (const token of tokens) {
    if (token === "[") {
      nodes.push(`{ ${last}, children: [`);
      last = "";
    } else if (token === "]") {
      flush();
      nodes.push("] },");
    } else {
      flush();
      const [name, on] = token.split("<");
      last = `name: ${name}${on === undefined ? "" : `, depends_on: [${on}]`}`;
    }
  }
  flush();
  return nodes.join("\n");
};
const fileOf = (words: string): string =>
  `version: 1\ntree: { children: [\n${childrenOf(words).replace(/^/gm, " ")}\n ] }`;

describe("the order of start", () => {
  it.each([
    ["is that of the file", "a b c", "a b c"],
    ["stays, where it is right", "a b<a c<b", "a b c"],
    ["puts a dependency first, and moves nothing else", "a<c b c d", "b c a d"],
    ["follows a chain", "a<b b<c c", "c b a"],
    ["takes several", "a<c,d b c d", "b c d a"],
    ["is told inside of a supervisor too", "s[a<s/b b] t", "s s/b s/a t"],
    ["waits for a whole supervisor", "a<s s[b c]", "s s/b s/c a"],
    ["moves the supervisor of one that waits", "s[a<b] b", "b s s/a"],
    ["moves the supervisor of one that is waited for", "a<s/b s[b c] d", "s s/b s/c a d"],
    ["orders two supervisors by their children", "s[a<t/b] t[b]", "t t/b s s/a"],
    ["takes a path that stands first already", "s[a] t[b<s/a]", "s s/a t t/b"],
  ])("%s: %s", (_what, words, order) => {
    expect(startOrder(read(fileOf(words)).tree.root).join(" ")).toBe(order);
  });
});

describe("a dependency that cannot be", () => {
  it.each([
    [
      "a child of another name",
      "store a<stor",
      "4:26: depends_on: the tree has no stor; did you mean store?",
    ],
    [
      "a path without its supervisor",
      "s[web] a<web",
      "6:26: depends_on: the tree has no web; did you mean s/web?",
    ],
    [
      "a mistyped end of a path",
      "s[fixer] a<crew/fixre",
      "6:26: depends_on: the tree has no crew/fixre; did you mean s/fixer?",
    ],
    ["nothing like it", "a<zzzzzz b", "3:26: depends_on: the tree has no zzzzzz."],
    ["itself", "a<a b", "3:26: depends_on: a waits for itself."],
    [
      "its supervisor",
      "s[a<s]",
      "4:26: depends_on: s stands above s/a, and is ready only after it; name one of its other children.",
    ],
    [
      "its own child",
      "s<s/a[a]",
      "3:26: depends_on: s/a stands below s, which is ready only after it anyway.",
    ],
    [
      "two that wait for each other",
      "a<b b<a",
      "3:26: depends_on goes in a circle: a waits for b, b waits for a.",
    ],
    [
      "three in a circle, told without who only waits for it",
      "z<a a<b b<c c<a",
      "4:26: depends_on goes in a circle: a waits for b, b waits for c, c waits for a.",
    ],
    [
      "two supervisors whose children wait across",
      "s[a<t/b c] t[b d<s/c]",
      "4:26: depends_on goes in a circle: s/a waits for t/b, t/d waits for s/c; s and t start whole, one after the other.",
    ],
  ])("%s", (_what, words, problem) => {
    expect(problemsOf(fileOf(words))).toEqual([`holdfast.yaml:${problem}`]);
  });

  it("two circles are told both", () => {
    expect(problemsOf(fileOf("a<b b<a c<d d<c"))).toHaveLength(2);
  });

  it("a long circle is told by its beginning", () => {
    const words = Array.from({ length: 50 }, (_, at) => `n${at}<n${(at + 1) % 50}`).join(" ");
    expect(problemsOf(fileOf(words))[0]).toMatch(/n10 waits for n11, n11 waits for n12, and 38 more\.$/);
  });
});
