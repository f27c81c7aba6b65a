import { describe, expect, it } from "vitest";
import { type Given, problemsOf, read, specAt } from "./support.ts";

const file = (word: string, variables = ""): string =>
  `version: 1\n${variables}\ntree:\n  children:\n    - { name: a, argv: ["${word}"] }\n`;
const wordOf = (text: string, given?: Given): string => specAt(read(text, given), "a").argv[0]!;

describe("variables", () => {
  it.each<[what: string, word: string, variables: string, given: Given, value: string]>([
    ["are those of the file", "x-${A}-y", "variables: { A: 1.10 }", {}, "x-1.10-y"],
    ["may use those before them", "${B}", `variables: { A: 1, B: "$${"{A}"}2" }`, {}, "12"],
    ["of --var win over the file's", "${A}", "variables: { A: 1 }", { vars: { A: "2" } }, "2"],
    ["of --var need not be in the file", "${A}", "", { vars: { A: "2" } }, "2"],
    ["that are not set have a default", "${A:-b c}", "", {}, "b c"],
    ["that are empty have it too, as in a shell", "${A:-b}", 'variables: { A: "" }', {}, "b"],
    ["of the environment are named as such", "${env:HOME}", "", { env: { HOME: "/h" } }, "/h"],
    ["of the environment have defaults", "${env:NO:-d}", "", {}, "d"],
    ["are left alone behind a second dollar", "$${A}", "variables: { A: 1 }", {}, "${A}"],
    ["are no shell's", "$A $" + "(b)", "variables: { A: 1 }", {}, "$A $" + "(b)"],
    [
      "are put in once: what they hold is not looked through",
      "${A}",
      "variables: { A: '$${A}' }",
      {},
      "${A}",
    ],
  ])("%s", (_what, word, variables, given, value) => {
    expect(wordOf(file(word, variables), given)).toBe(value);
  });

  it("give numbers and flags to keys that want them", () => {
    const text = `version: 1
variables: { PORT: 80, KEEP: true }
tree: { children: [{ name: a, argv: [x], interactive: "\${KEEP}", ready: { port: "\${PORT}" } }] }`;
    expect(specAt(read(text), "a")).toMatchObject({ interactive: true, ready: { port: 80 } });
  });

  it.each<[what: string, word: string, variables: string, given: Given, problem: string]>([
    [
      "is mistyped",
      "${REGON}",
      "variables: { REGION: eu }",
      {},
      "holdfast.yaml:5:25: there is no variable REGON; did you mean REGION?",
    ],
    [
      "is nowhere",
      "${X}",
      "",
      {},
      "holdfast.yaml:5:25: there is no variable X; add it to variables, write ${X:-default} or ${env:X}, or $${X} to leave it to a shell.",
    ],
    [
      "is not set outside",
      "${env:X}",
      "",
      {},
      "holdfast.yaml:5:25: your environment has no variable X; set it, or write ${env:X:-default}.",
    ],
    [
      "is a shell's own way",
      "${X%.*}",
      "",
      {},
      "holdfast.yaml:5:25: ${X%.*} is no variable, as in ${NAME}, ${NAME:-default} or ${env:NAME}; write $${X%.*} to keep it as it is.",
    ],
    [
      "has no name",
      "x",
      "variables: { A-B: 1 }",
      {},
      "holdfast.yaml:2:14: variables.A-B is not a valid variable name: use letters, digits and _, and no digit first.",
    ],
    [
      "has no value",
      "x",
      "variables: { A: [1] }",
      {},
      "holdfast.yaml:2:17: variables.A needs a text, not a list.",
    ],
    [
      "is given and not used",
      "x",
      "variables: { REGION: eu }",
      { vars: { REGON: "us" } },
      "--var REGON is no variable of the file; did you mean REGION?",
    ],
  ])("a mistake is told that %s", (_what, word, variables, given, problem) => {
    expect(problemsOf(file(word, variables), given)).toEqual([problem]);
  });

  it("cannot grow a file without bound", () => {
    const doubling = Array.from({ length: 30 }, (_, at) => `  V${at + 1}: "\${V${at}}\${V${at}}"`);
    const text = file("${V30}", ["variables:", "  V0: xxxxxxxxxx", ...doubling].join("\n"));
    expect(problemsOf(text)[0]).toMatch(/the variables of the file become more than 1048576 characters\.$/);
  });
});
