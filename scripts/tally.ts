/** The result of a run of vitest. Pure: the report and the errors come in, the counts go out. */
import { stripVTControlCharacters } from "node:util";
import * as z from "zod";

/** Test files that are run a second time because V8 aborted under them. More than these are no accident. */
export const ABORTED_FILES_MAX = 2;

/** vitest's JSON report, as far as it is read. */
const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().default(""),
      assertionResults: z.array(
        z.object({
          status: z.string(),
          fullName: z.string().default(""),
          failureMessages: z.array(z.string()).default([]),
        }),
      ),
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

/** A test that failed; without a title, a file that could not be loaded, or a hook of its tests. */
export interface Failure {
  readonly file: string;
  readonly title?: string;
  /** The message of what failed, its stack included. */
  readonly message?: string;
}

export interface Tally extends Counts {
  readonly failures: readonly Failure[];
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
  const failures = files.flatMap(({ name: file, status, message, assertionResults }): readonly Failure[] => {
    const failed = assertionResults.filter((test) => test.status === "failed");
    return failed.length > 0
      ? failed.map(({ fullName: title, failureMessages: [message = ""] }) => ({ file, title, message }))
      : status === "failed"
        ? [{ file, message }]
        : [];
  });
  const passed = tests.filter((status) => status === "passed").length;
  const failed = tests.filter((status) => status === "failed").length;
  // A file that cannot be loaded fails without a failed test, and so do a hook and an error outside of any test.
  const unloaded = failures.filter(({ title }) => title === undefined).length;
  const unexplained = unloaded + errors.length - aborted.length;
  const discontent = !ok && failed === 0 && aborted.length === 0 ? Math.max(1, unexplained) : unexplained;
  return { passed, failed: failed + discontent, skipped: tests.length - passed - failed, aborted, failures };
};

/** Failures that the end of a run names; the rest is above. */
const FAILURES_SHOWN_MAX = 20;
/** Lines of what a failed test said that the end of a run repeats. */
const MESSAGE_LINES_MAX = 4;
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
/** vitest takes a title as a regular expression. */
const asPattern = (title: string): string => title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The first lines of a message, without its stack. */
const firstLines = (message: string): readonly string[] =>
  stripVTControlCharacters(message)
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\s+at /.test(line))
    .slice(0, MESSAGE_LINES_MAX)
    .map((line) => `  ${line}`);

/** The last lines of a run that failed: each failure, what it said, and the command that runs it alone. `root` is cut off the paths. */
export const failureLines = (failures: readonly Failure[], root: string): readonly string[] => {
  const shown = failures.slice(0, FAILURES_SHOWN_MAX).flatMap(({ file, title, message = "" }) => {
    const path = file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file;
    const alone = title === undefined ? "" : ` -t ${quoted(asPattern(title))}`;
    return [
      `FAILED ${path}${title === undefined ? ": outside of its tests" : `: ${title}`}`,
      ...firstLines(message),
      `  alone: npm test -- ${path}${alone}`,
    ];
  });
  const more = failures.length - FAILURES_SHOWN_MAX;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
};
