import type { ErrorCode } from "../../../../src/protocol/errors.ts";

/** What a scenario came to: completed, or the code of its failure. */
export type Verdict = "completed" | ErrorCode;
