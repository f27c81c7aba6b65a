import { describe, expect, it } from "vitest";
import { TREE_VALUES_MAX } from "../../src/base/limits.ts";
import { FIRST, problemsOf, read, specAt, tree } from "./support.ts";

describe("broken YAML is told with its place", () => {
  it.each([
    [
      "an open brace",
      "version: 1\ntree: { children: [\n",
      "3:1: a ] is missing before this; what stands inside of it is indented.",
    ],
    ["a tab", "version: 1\ntree:\n\tchildren: []\n", "3:1: tabs cannot indent in YAML; use spaces."],
    [
      "a key twice",
      "version: 1\nversion: 1\ntree: { children: [] }",
      "2:1: this key stands here twice; keep one of them.",
    ],
    [
      "a second document",
      "version: 1\n---\n",
      "2:1: a second document begins here; a file holds one tree, so remove the ---.",
    ],
    [
      "an alias of nothing",
      "version: 1\ntree: *nobody",
      "2:7: this alias names no anchor that stands before it.",
    ],
    [
      "an alias inside of itself",
      "version: 1\ntree: &t { children: [*t] }",
      "2:23: *t stands inside of what it names.",
    ],
    ["a key that is a map", "version: 1\n{ a: b }: 1\ntree: { children: [] }", "2:1: a key is a plain word."],
  ])("%s", (_what, text, problem) => {
    expect(problemsOf(text)[0]).toBe(`holdfast.yaml:${problem}`);
  });

  it("a closing brace in the first column is none", () => {
    expect(read("version: 1\ntree: {\n  children: [\n  ]\n}\n").tree.root.children).toEqual([]);
  });

  it("a variable without quotes in a list", () => {
    expect(problemsOf(tree("- { name: a, argv: [${X}] }"))[0]).toMatch(
      /^holdfast\.yaml:5:\d+: this is no valid YAML: .*; put a text with \$\{…\} in quotes here\.$/,
    );
  });

  it("one mistake a line: the others mostly follow from it", () => {
    expect(problemsOf(tree("- { name: a, argv: [x, ${A}, ${B}, ${C}] }"))).toHaveLength(1);
  });
});

describe("expansion without end", () => {
  it("aliases that grow without bound are refused", () => {
    const levels = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
    for (const [name, below] of ["ba", "cb", "dc", "ed", "fe"])
      levels.push(`${name}: &${name} [${Array(10).fill(`*${below}`).join(", ")}]`);
    expect(problemsOf(levels.join("\n"))).toEqual([
      expect.stringContaining(`the file has over ${TREE_VALUES_MAX} values once its aliases are written out`),
    ]);
  });

  it.each([100, 100_000])("%i levels are refused", (depth) => {
    expect(problemsOf(`a: ${"[".repeat(depth)}${"]".repeat(depth)}`)[0]).toContain(
      "values nest deeper than 64",
    );
  });

  it("a file over its bound is refused", () => {
    expect(problemsOf(`# ${"x".repeat(2_000_000)}`)).toEqual([
      "/work/shop/holdfast.yaml is over 1048576 bytes.",
    ]);
  });
});

describe("anchors", () => {
  const children = `- &base { name: a, argv: [x], grace: 5s }
- { <<: *base, name: b, stall: 1m }
- { <<: [{ grace: 1s }, *base], name: c }`;

  it("give their keys to others, whose own keys win, and the first of a list before the next", () => {
    const file = read(tree(children));
    expect(specAt(file, "b")).toMatchObject({ argv: ["x"], grace_ms: 5_000, stall_ms: 60_000 });
    expect(specAt(file, "c")).toMatchObject({ argv: ["x"], grace_ms: 1_000 });
  });

  it("have a mistake told once, where it stands", () => {
    expect(problemsOf(tree(children.replace("5s", "fast").replace(/\n.*$/, "")))).toEqual([
      expect.stringMatching(new RegExp(`^holdfast\\.yaml:${FIRST}:42: grace needs a duration`)),
    ]);
  });

  it("that are no map give no keys", () => {
    expect(problemsOf(tree("- { <<: 5, name: a, argv: [x] }"))).toEqual([
      `holdfast.yaml:${FIRST}:9: << needs a map, as in <<: *defaults.`,
    ]);
  });
});
