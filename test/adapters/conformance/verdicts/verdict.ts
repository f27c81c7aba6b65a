import type { ErrorCode } from "../../../../src/protocol/errors.ts";

/** The outcome of a scenario: completed, or the code of its failure. */
export type Verdict = "completed" | ErrorCode;
