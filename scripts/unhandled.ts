/** A reporter for vitest: what went wrong outside of any test, as JSON, in the file that HOLDFAST_UNHANDLED names. */
import { writeFileSync } from "node:fs";
import type { Reporter } from "vitest/node";

type Errors = Parameters<NonNullable<Reporter["onTestRunEnd"]>>[1];

export default class Unhandled implements Reporter {
  onTestRunEnd(_: unknown, errors: Errors): void {
    writeFileSync(
      process.env.HOLDFAST_UNHANDLED!,
      JSON.stringify(errors.map(({ message, cause }) => cause?.message ?? message)),
    );
  }
}
