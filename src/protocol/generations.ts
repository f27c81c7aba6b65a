/**
 * The generations of the ResponseEnvelope contract as data (response-envelope notes B.1, B.2): the names and meanings of
 * exit codes, and the members of errors. G1 is the document's generation and the default; `--envelope g2` selects G2. The
 * error catalogue uses the numbers of G1.
 */
import type { ErrorCode } from "./errors.ts";

/** exit-code-entry.json; a retryable class has no side effects. */
export interface ExitClass {
  readonly name: string;
  readonly description: string;
  readonly retryable: boolean;
  readonly side_effects: "none" | "partial" | "complete";
}

export interface Generation {
  readonly name: "g1" | "g2";
  readonly schema_version: string;
  /** Keyed by the numbers of this generation. */
  readonly exits: Readonly<Record<number, ExitClass>>;
  /** From a number of G1 to this generation's number, where they differ. */
  readonly renumbered: Readonly<Record<number, number>>;
  /**
   * Keyed by numbers of G1: the condition that a caller must fix before the same call can succeed. In G1 there are none,
   * because such errors count as retryable.
   */
  readonly fixes: Readonly<Record<number, string>>;
  readonly backoff: "seconds" | "milliseconds and strategy";
}

const exit = (
  name: string,
  description: string,
  retryable: boolean,
  side_effects: ExitClass["side_effects"],
): ExitClass => ({ name, description, retryable, side_effects });

const PARTIAL = exit(
  "PARTIAL_FAILURE",
  "It ran and failed, or failed for some; look at what was done before anything else.",
  false,
  "partial",
);
const ARGUMENT = "The arguments are not valid; nothing was done.";

const COMMON: Readonly<Record<number, ExitClass>> = {
  0: exit("SUCCESS", "It was done as asked.", false, "complete"),
  1: exit("GENERAL_ERROR", "It failed; something may have been done.", false, "partial"),
  4: exit("PRECONDITION", "Something it needs is missing; nothing was done.", false, "none"),
  5: exit("NOT_FOUND", "The thing that is named does not exist; nothing was done.", false, "none"),
  6: exit("CONFLICT", "It exists already, or is in another state; nothing was done.", false, "none"),
  7: exit("PERMISSION_DENIED", "It is not allowed; nothing was done.", false, "none"),
  8: exit("AUTH_REQUIRED", "Credentials are missing or not valid; error.code says which.", false, "none"),
  9: exit("PAYMENT_REQUIRED", "A payment is needed first; nothing was done.", false, "none"),
  10: exit("TIMEOUT", "Its time ran out; what it began may go on.", false, "partial"),
  11: exit("RATE_LIMITED", "A limit was reached; wait for error.retry_after, or a minute.", true, "none"),
  12: exit("UNAVAILABLE", "It cannot be done now; try again, later each time.", true, "none"),
  13: exit("REDIRECTED", "The command has another name; error.redirect has it.", true, "none"),
  130: exit("INTERRUPTED", "SIGINT stopped it; what it began may go on.", false, "partial"),
  143: exit("TERMINATED", "SIGTERM stopped it; what it began may go on.", false, "partial"),
};

export const G1: Generation = {
  name: "g1",
  schema_version: "1.0",
  exits: {
    ...COMMON,
    2: PARTIAL,
    3: exit("ARG_ERROR", ARGUMENT, true, "none"),
    // Notes B.2: retryable once valid credentials are there; error.code says whether a new token or new credentials are
    // needed.
    8: { ...COMMON[8]!, retryable: true },
    9: { ...COMMON[9]!, retryable: true },
  },
  renumbered: {},
  fixes: {},
  backoff: "seconds",
};

const G2: Generation = {
  name: "g2",
  schema_version: "2.0",
  exits: {
    ...COMMON,
    2: exit("ARG_ERROR", ARGUMENT, false, "none"),
    3: PARTIAL,
    11: { ...COMMON[11]!, description: "A limit was reached; wait for error.retry_after_ms, or a minute." },
    13: { ...COMMON[13]!, retryable: false },
  },
  renumbered: { 2: 3, 3: 2 },
  fixes: {
    3: "The arguments must be corrected.",
    4: "Everything that the message names must be there.",
    8: "Valid credentials must be there.",
    9: "The payment must be made.",
    13: "The command must be called by its name.",
  },
  backoff: "milliseconds and strategy",
};

export const GENERATIONS: Readonly<Record<string, Generation>> = { g1: G1, g2: G2 };

/** Commands, verbatim, that fix the condition. They destroy nothing and are harmless when run twice. */
export const FIX_COMMANDS: Readonly<Partial<Record<ErrorCode, string>>> = {
  SUPERVISOR_DOWN: "agent daemon start",
};

/** This generation's number for an exit code of the catalogue. */
export const exitIn = ({ renumbered }: Generation, code: number): number => renumbered[code] ?? code;

/** response-envelope.txt, ErrorDetail: `retryable` is that of the exit code, the same for all its errors. */
export const retryableIn = (generation: Generation, row: { readonly exit: number }): boolean =>
  generation.exits[exitIn(generation, row.exit)]?.retryable === true;
