import { describe, expect, it } from "vitest";
import { matchesHost } from "../../src/tree-file/hosts.ts";
import { nodeAt, problemsOf, read, specAt } from "./support.ts";

it.each([
  ["build-*", "build-7", true],
  ["build-*", "rebuild-7", false],
  ["web?", "web1", true],
  ["web?", "web", false],
  ["*.example.org", "a.example.org", true],
  ["*.example.org", "a.exampleXorg", false],
  ["LAPTOP", "laptop", true],
  ["**********************a", `${"b".repeat(60)}`, false],
])("the pattern %s and the host %s: %s", (pattern, host, matches) => {
  expect(matchesHost(pattern, host)).toBe(matches);
});

const text = `version: 1
variables: { REPO: small }
hosts:
  "build-*":
    variables: { REPO: big }
    nodes:
      crew/fixer: { grace: 9s, env: { B: 2, A: null }, model: null }
      crew: { intensity: 9/1m }
  build-7:
    nodes: { crew/fixer: { grace: 8s, cwd: other } }
tree:
  children:
    - name: crew
      children:
        - { name: fixer, argv: [fix, "\${REPO}"], grace: 1s, model: null-model, kind: claude, prompt: hi, env: { A: 1 } }
`;

describe("a host", () => {
  it("that matches nothing has the file as it is", () => {
    const spec = specAt(read(text, { host: "laptop" }), "crew/fixer");
    expect(spec).toMatchObject({
      argv: ["fix", "small"],
      grace_ms: 1_000,
      env: { A: "1" },
      model: "null-model",
    });
  });

  it("changes variables and keys; null takes one away", () => {
    const file = read(text, { host: "build-1" });
    const spec = specAt(file, "crew/fixer");
    expect(spec).toMatchObject({ argv: ["fix", "big"], grace_ms: 9_000 });
    expect(spec.env).toEqual({ B: "2" });
    expect(spec).not.toHaveProperty("model");
    expect(nodeAt(file, "crew")).toMatchObject({ config: { max_restarts: 9, period_ms: 60_000 } });
  });

  it("has what several patterns say, the last first", () => {
    const spec = specAt(read(text, { host: "build-7" }), "crew/fixer");
    expect(spec).toMatchObject({ grace_ms: 8_000, cwd: "/work/shop/other", argv: ["fix", "big"] });
  });

  it("gives way to --var", () => {
    expect(specAt(read(text, { host: "build-1", vars: { REPO: "mine" } }), "crew/fixer").argv[1]).toBe(
      "mine",
    );
  });
});

describe("mistakes are told on every host, also for others", () => {
  const hosts = (there: string): string =>
    `version: 1\nvariables: { REPO: a }\nhosts: { far: ${there} }\ntree: { children: [{ name: web, argv: [x] }] }\n`;
  it.each([
    ["{ nodes: { wbe: { grace: 1s } } }", "3:26: the tree has no wbe; did you mean web?"],
    [
      "{ nodes: { web: { grace: fast } } }",
      '3:40: grace needs a duration such as 500ms, 10s, 5m, 2h or 1d, not "fast".',
    ],
    ["{ nodes: { web: { graze: 1s } } }", '3:33: a worker has no "graze"; did you mean grace?'],
    ["{ nodes: { web: { name: b } } }", "3:33: a worker has no name; a host changes no names."],
    ["{ nodes: { web: { children: [] } } }", "3:33: a worker has no children; a host changes no children."],
    ["{ nodes: { web: 5 } }", "3:31: a host changes keys of a node, as in { grace: 5s }."],
    [
      "{ variables: { REPOS: b } }",
      "3:30: a host changes variables of the file, and there is no REPOS; did you mean REPO?",
    ],
    ["{ node: {} }", '3:17: hosts.far has no "node"; did you mean nodes?'],
  ])("%s", (there, problem) => {
    expect(problemsOf(hosts(there))).toEqual([`holdfast.yaml:${problem}`]);
  });
});
