import { describe, expect, it } from "vitest";
import { TREE_INCLUDE_DEPTH_MAX, TREE_INCLUDES_MAX } from "../../src/base/limits.ts";
import { problemsOf, read, specAt, startOrder, tree } from "./support.ts";

const V = (name: string): string => `\${${name}}`;

describe("a child that includes a file", () => {
  it("is the node of that file, with what stands beside the include over it", () => {
    const file = read(tree("- { include: parts/web.yaml, name: shop, grace: 9s, env: { B: 2 } }"), {
      files: { "parts/web.yaml": "name: web\nargv: [x]\nenv: { A: 1 }\ngrace: 1s\n" },
    });
    expect(specAt(file, "shop")).toMatchObject({ grace_ms: 9_000, env: { A: "1", B: "2" } });
    expect(file.files).toEqual(["/work/shop/holdfast.yaml", "/work/shop/parts/web.yaml"]);
    expect(file.places.get("shop")).toMatchObject({ file: "/work/shop/parts/web.yaml", line: 1 });
  });

  it("is every node of a list, at its place", () => {
    const file = read(tree("- { name: a, argv: [x] }\n- include: more.yaml\n- { name: z, argv: [x] }"), {
      files: {
        "more.yaml": "- { name: b, argv: [x] }\n- { name: c, children: [{ include: deep.yaml }] }",
        "deep.yaml": "{ name: d, argv: [x] }",
      },
    });
    expect(startOrder(file.tree.root)).toEqual(["a", "b", "c", "c/d", "z"]);
  });

  it("has its paths where they are written", () => {
    const file = read(
      tree("- { include: parts/a.yaml }\n- { include: parts/a.yaml, name: b, cwd: here, prompt_file: p.md }"),
      {
        files: {
          "parts/a.yaml": "{ name: a, kind: claude, cwd: ../repo, prompt_file: p.md }",
          "parts/p.md": "inner",
          "p.md": "outer",
        },
      },
    );
    expect(specAt(file, "a")).toMatchObject({ cwd: "/work/shop/repo", prompt: "inner" });
    expect(specAt(file, "b")).toMatchObject({ cwd: "/work/shop/here", prompt: "outer" });
  });

  it("works in the directory of its file, where nothing else is said", () => {
    const files = { "parts/a.yaml": "{ name: a, argv: [x] }" };
    expect(specAt(read(tree("- { include: parts/a.yaml }"), { files }), "a").cwd).toBe("/work/shop/parts");
  });

  it("is a template: its variables win in that file alone", () => {
    const text = `version: 1
variables: { WHO: nobody }
tree:
  children:
    - { include: t.yaml, variables: { WHO: ann } }
    - { include: t.yaml, variables: { WHO: "${V("WHO")}-bob" } }
    - { name: last, argv: ["${V("WHO")}"] }
`;
    const files = { "t.yaml": `{ name: "${V("WHO")}", argv: ["${V("WHO")}"] }` };
    const file = read(text, { files });
    expect(startOrder(file.tree.root)).toEqual(["ann", "nobody-bob", "last"]);
    expect(specAt(file, "last").argv).toEqual(["nobody"]);
  });
});

describe("an include that goes wrong is told with the place", () => {
  it.each([
    ["no file", "- { include: no.yaml }", {}, "holdfast.yaml:5:18: include no.yaml does not exist."],
    ["no path", "- { include: }", {}, "holdfast.yaml:5:18: include needs the path of a file, not nothing."],
    [
      "a mistake inside",
      "- { include: a.yaml }",
      { "a.yaml": "name: a\nargv: [x]\ngraze: 1s\n" },
      'a.yaml:3:1: a worker has no "graze"; did you mean grace?',
    ],
    [
      "broken YAML inside",
      "- { include: a.yaml }",
      { "a.yaml": "[" },
      "a.yaml:1:2: a ] is missing before this; what stands inside of it is indented.",
    ],
    ["nothing inside", "- { include: a.yaml }", { "a.yaml": "# later\n" }, "a.yaml:1:1: the file is empty."],
    [
      "a text inside",
      "- { include: a.yaml }",
      { "a.yaml": "hello" },
      "a.yaml:1:1: an included file holds one node, or a list of nodes.",
    ],
    [
      "keys over a list",
      "- { include: a.yaml, grace: 1s }",
      { "a.yaml": "[]" },
      "holdfast.yaml:5:26: grace goes over one node, and the file that is included holds a list.",
    ],
    [
      "children over a node",
      "- { include: a.yaml, children: [] }",
      { "a.yaml": "{ name: a, children: [] }" },
      "holdfast.yaml:5:26: the children of an include stand in its file.",
    ],
    [
      "itself",
      "- { include: holdfast.yaml }",
      {},
      "holdfast.yaml:5:18: include goes in a circle: /work/shop/holdfast.yaml → /work/shop/holdfast.yaml.",
    ],
    [
      "a circle",
      "- { include: a.yaml }",
      { "a.yaml": "[{ include: b.yaml }]", "b.yaml": "[{ include: a.yaml }]" },
      "b.yaml:1:13: include goes in a circle: /work/shop/holdfast.yaml → /work/shop/a.yaml → /work/shop/b.yaml → /work/shop/a.yaml.",
    ],
  ])("%s", (_what, child, files, problem) => {
    expect(problemsOf(tree(child), { files })).toEqual([problem]);
  });

  it("a chain that is too deep", () => {
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`${at}.yaml`, `[{ include: ${at + 1}.yaml }]`]),
    );
    expect(problemsOf(tree("- { include: 0.yaml }"), { files })).toEqual([
      `${TREE_INCLUDE_DEPTH_MAX - 1}.yaml:1:13: includes nest deeper than ${TREE_INCLUDE_DEPTH_MAX}.`,
    ]);
  });

  it("more than the bound", () => {
    const files = { "a.yaml": "[]" };
    const many = Array(TREE_INCLUDES_MAX + 1).fill("- include: a.yaml");
    expect(problemsOf(tree(many.join("\n")), { files })).toEqual([
      `holdfast.yaml:${5 + TREE_INCLUDES_MAX}:16: there are over ${TREE_INCLUDES_MAX} includes.`,
    ]);
  });
});
