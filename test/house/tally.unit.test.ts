/** The counts of `npm test`: no failure is lost, and only an abort of V8 is given a second run. */
import { describe, expect, it } from "vitest";
import { ABORTED_FILES_MAX, tally } from "../../scripts/tally.ts";

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
    ).toEqual({
      passed: 1,
      failed: 1,
      skipped: 2,
      aborted: [],
    });
  });

  it("counts nothing of a file under which V8 aborted, and names it", () => {
    expect(of([file("a", ["passed", "pending"]), file("b", ["passed"])], [abort("a")], false)).toEqual({
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
