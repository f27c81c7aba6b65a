/** The result of a run of vitest. Pure: the report and the errors come in, the counts go out. */
import * as z from "zod";

/** Test files that are run a second time because V8 aborted under them. More than these are no accident. */
export const ABORTED_FILES_MAX = 2;

/** vitest's JSON report, as far as it is read. */
const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ status: z.string() })),
    }),
  ),
});
/** Errors outside of any test, the cause last. */
const Unhandled = z.array(z.string());

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface Tally extends Counts {
  /** Files whose process was aborted by V8: nothing of them is counted. Empty if there are too many to be an accident. */
  readonly aborted: readonly string[];
}

// V8 raises SIGTRAP when one of its own checks fails, and nothing of ours does. Now and then that is
// `jit_page.has_value()`, in any file: https://github.com/nodejs/node/issues/64500, open in Node 24 and 26.
const ABORT = /Worker exited unexpectedly with signal SIGTRAP .*while running test file (\S+)$/;

/**
 * `report` and `unhandled` are the two files' JSON; `ok`: vitest itself was content.
 * @throws if either is not what it should be
 */
export const tally = (report: unknown, unhandled: unknown, ok: boolean): Tally => {
  const errors = Unhandled.parse(unhandled);
  const hit = errors.flatMap((error) => ABORT.exec(error)?.[1] ?? []);
  const aborted = hit.length <= ABORTED_FILES_MAX ? hit : [];
  const files = Report.parse(report).testResults.filter(({ name }) => !aborted.includes(name));
  const tests = files.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  const passed = tests.filter((status) => status === "passed").length;
  const failed = tests.filter((status) => status === "failed").length;
  // A file that cannot be loaded fails without a failed test, and so does an error outside of any test.
  const unloaded = files.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  ).length;
  const unexplained = unloaded + errors.length - aborted.length;
  const discontent = !ok && failed === 0 && aborted.length === 0 ? Math.max(1, unexplained) : unexplained;
  return { passed, failed: failed + discontent, skipped: tests.length - passed - failed, aborted };
};
