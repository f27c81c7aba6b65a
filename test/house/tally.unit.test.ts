/** The counts of `npm test`: no failure is lost, and only an abort of V8 is given a second run. */
import { describe, expect, it, test } from "vitest";
import { ABORTED_FILES_MAX, failureLines, tally } from "../../scripts/tally.ts";

const file = (name: string, statuses: readonly string[], status = "passed") => ({
  name,
  status,
  assertionResults: statuses.map((each) => ({ status: each })),
});
const abort = (name: string, signal = "SIGTRAP") =>
  `Worker exited unexpectedly with signal ${signal} during started state while running test file ${name}`;
const of = (files: readonly unknown[], errors: readonly string[] = [], ok = true) =>
  tally({ testResults: files }, errors, ok);

describe("the tally", () => {
  it("counts each test by how it ended", () => {
    expect(
      of([file("a", ["passed", "failed", "skipped"], "failed"), file("b", ["todo"])], [], false),
    ).toMatchObject({
      passed: 1,
      failed: 1,
      skipped: 2,
      aborted: [],
    });
  });

  it("counts nothing of a file under which V8 aborted, and names it", () => {
    expect(of([file("a", ["passed", "pending"]), file("b", ["passed"])], [abort("a")], false)).toMatchObject({
      passed: 1,
      failed: 0,
      skipped: 0,
      aborted: ["a"],
    });
  });

  it.each([
    ["a file that cannot be loaded", [file("a", [], "failed")], [], false],
    ["an error outside of any test", [file("a", ["passed"])], ["boom"], false],
    ["another signal", [file("a", ["passed"])], [abort("a", "SIGSEGV")], false],
    ["a run that is refused without a reason", [file("a", ["passed"])], [], false],
    ["another error beside an abort", [file("b", ["passed"])], [abort("a"), "boom"], false],
  ] as const)("counts %s as one failure", (_, files, errors, ok) => {
    expect(of(files, errors, ok).failed).toBe(1);
  });

  it("takes more aborts than a run may have by accident for what they are: failures", () => {
    const names = Array.from({ length: ABORTED_FILES_MAX + 1 }, (_, n) => `f${n}`);
    expect(
      of(
        [],
        names.map((name) => abort(name)),
        false,
      ),
    ).toMatchObject({
      failed: names.length,
      aborted: [],
    });
  });

  it("refuses a report that is none", () => {
    expect(() => tally({}, [], true)).toThrow();
  });
});

test("a run that failed names each failure, what it said, and the command that runs it alone", () => {
  const failures = [
    {
      file: "/clone/test/a.unit.test.ts",
      title: "it's (one) of two",
      message: "\u001b[31mError: I4 dense\u001b[39m\n\nnpm run sim\n    at it (a.ts:1)",
    },
    { file: "/clone/test/b.e2e.test.ts", message: "ENOTEMPTY: directory not empty" },
  ];
  expect(failureLines(failures, "/clone")).toEqual([
    "FAILED test/a.unit.test.ts: it's (one) of two",
    "  Error: I4 dense",
    "  npm run sim",
    "  alone: npm test -- test/a.unit.test.ts -t 'it'\\''s \\(one\\) of two'",
    "FAILED test/b.e2e.test.ts: outside of its tests",
    "  ENOTEMPTY: directory not empty",
    "  alone: npm test -- test/b.e2e.test.ts",
  ]);
  expect(failureLines(Array(25).fill(failures[1]), "/clone").at(-1)).toBe("and 5 more");
  expect(failureLines([], "/clone")).toEqual([]);
});
