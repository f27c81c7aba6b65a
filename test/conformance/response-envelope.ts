/** response-envelope.txt, sentence by sentence (contract.ts says how). */
import type { Contract } from "./contract.ts";

const sentences: Contract["sentences"] = {
  ResponseEnvelope: [
    {
      says: "`ok`, `data`, `error`, `warnings`, `meta`, always present",
      done: ["ResponseEnvelope", "protocol/envelope-schemas"],
      held: ["is exactly one ResponseEnvelope, and list gives the array itself", "cli/run.int"],
    },
    {
      says: "`ok` is true exactly for exit code 0, and no command sets it",
      done: ["toResponseEnvelope", "protocol/response-envelope"],
      held: [
        "takes a child's exit code, and refuses one that contradicts the outcome",
        "protocol/response-envelope.unit",
      ],
    },
    {
      says: "success: `data`, `error` null",
      done: ["toResponseEnvelope", "protocol/response-envelope"],
      held: ["of a success has its data, no error, and exit code 0", "protocol/response-envelope.unit"],
    },
    {
      says: "failure: `data` null, `error` with code and message",
      done: ["toResponseEnvelope", "protocol/response-envelope"],
      held: ["has the daemon's error with its exit code", "cli/run.int"],
    },
    {
      says: "`data` is an object, an array or null",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
    {
      says: "`warnings` is an array of text, maybe empty and never null",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
    {
      says: "`meta` is always there",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
    {
      says: "each of our errors keeps all rules",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["%s breaks no rule", "protocol/response-rules.unit"],
    },
  ],
  ErrorDetail: [
    {
      says: "no other members, `code` stable and of the catalogue; checked on every envelope in test mode (`HOLDFAST_VALIDATE=1`)",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["%s breaks no rule", "protocol/response-rules.unit"],
    },
    {
      says: "`code` and `message` are required",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
    {
      says: "`code` never changes between versions",
      done: ["ERROR_CATALOGUE", "protocol/errors"],
      held: ["no code is gone, or means another exit code, since callers act on it", "protocol/errors.unit"],
    },
    {
      says: "`detail` is context, or the raw upstream error",
      done: ["toResponseEnvelope", "protocol/response-envelope"],
      held: ["tells what somebody else said as text in error.detail", "protocol/response-envelope.unit"],
    },
    {
      says: "`retryable` mirrors the entry of the exit code",
      done: ["retryableIn", "protocol/generations"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
    {
      says: "for the exit code that is printed, with `wait --exit-code-from` too",
      done: ["toResponseEnvelope", "protocol/response-envelope"],
      open: "the code is the child's own then, and of no class: `retryable` is that of error.code",
    },
    {
      says: "`retry_after`: whole seconds, only where `retryable` and the wait is known",
      done: ["toResponseEnvelope", "protocol/response-envelope"],
      held: [
        "tells when to retry in whole seconds, and only where a retry is safe",
        "protocol/response-envelope.unit",
      ],
    },
    {
      says: "`phase` is one of three",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
    {
      says: "`validation` guarantees that nothing was done",
      done: ["toResponseEnvelope", "protocol/response-envelope"],
      held: [
        "of exit code 3 is of the validation phase, which promises that nothing was done",
        "protocol/response-envelope.unit",
      ],
    },
    {
      says: "so that every mistake is told at once, also of what is missing on the machine",
      done: ["mistakes", "cli/mistakes"],
      held: ["what is missing on this machine, before a daemon is started: %j", "cli/bad-input.int"],
    },
    {
      says: "`suggestion` is the next step",
      done: ["ERROR_CATALOGUE", "protocol/errors"],
      held: ["tells the next step in one sentence", "protocol/errors.unit"],
    },
    {
      says: "`redirect` is there with the errors of exit code 13 alone, and not where a child's own exit code is 13 (`wait --exit-code-from`)",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
  ],
  "error.code values for AUTH_REQUIRED (8)": [
    {
      says: "TOKEN_EXPIRED, TOKEN_INVALID, TOKEN_MISSING say why",
      done: ["failureCode", "protocol/worker-failure"],
      held: ["ends with its code and its exit code: %s", "cli/why-it-failed.e2e"],
    },
  ],
  Redirect: [
    {
      says: "`command`, word for word, `permanent` and `reason`",
      done: ["noSuchCommand", "cli/misnamed"],
      held: ["%j is redirected to %s", "cli/envelope.int"],
    },
    {
      says: "`reason` is one of four",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
    {
      says: "what is not certain is no redirect",
      done: ["certainly", "base/suggest"],
      held: ["%j is not certain, and refused with a suggestion at most", "cli/envelope.int"],
    },
  ],
  ResponseMeta: [
    {
      says: "`duration_ms` is required, a whole number from 0",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
    {
      says: "`request_id` and `schema_version` are text",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
    {
      says: "`not_modified`: on an etag's hit; `data` is null",
      done: ["manifestFor", "cli/manifest"],
      held: ["is not told again to whoever has its etag", "cli/envelope.int"],
    },
    {
      says: "`truncated`: the output was cut",
      done: ["output", "cli/commands/output"],
      held: ["of %s says so in meta", "cli/envelope.int"],
    },
    {
      says: "`cursor`: `--cursor` gets the next page",
      done: ["pageOf", "daemon/page"],
      held: ["says that more follow, and by which cursor", "cli/envelope.int"],
    },
    {
      says: "pages lose and repeat nothing",
      done: ["pageOf", "daemon/page"],
      held: [
        "and those that follow it have each worker once, whoever starts and ends between them",
        "daemon/page.unit",
      ],
    },
  ],
  "Agent interpretation": [
    {
      says: "exit code before `ok`; what is malformed or missing; whether to act on data that is cut",
      apart: "a rule for who reads our envelopes",
    },
    {
      says: "retrying: default waits, at most three times",
      apart: "a rule for who reads our envelopes",
    },
    {
      says: "auth flow: refresh once, then other credentials",
      apart: "a rule for who reads our envelopes",
    },
    {
      says: "redirect flow: word for word, remembered where permanent",
      apart: "a rule for who reads our envelopes",
    },
    {
      says: "warnings: logged and surfaced",
      apart: "a rule for who reads our envelopes",
    },
  ],
  "Type representation": [
    {
      says: "`data` has the type that its command declares, by the JSON Schema that is published",
      done: ["schemasOf", "cli/manifest"],
      held: ["in JSON", "cli/modes.e2e"],
    },
    {
      says: "`ok` is derived and cannot be set",
      done: ["toResponseEnvelope", "protocol/response-envelope"],
      held: [
        "takes a child's exit code, and refuses one that contradicts the outcome",
        "protocol/response-envelope.unit",
      ],
    },
  ],
  Construction: [
    {
      says: "one factory makes it; handlers never do",
      done: ["toResponseEnvelope", "protocol/response-envelope"],
      held: ["of a success has its data, no error, and exit code 0", "protocol/response-envelope.unit"],
    },
    {
      says: "it takes the exit code, the time from the start, and an error wherever the exit code is not 0",
      done: ["toResponseEnvelope", "protocol/response-envelope"],
      held: [
        "takes a child's exit code, and refuses one that contradicts the outcome",
        "protocol/response-envelope.unit",
      ],
    },
  ],
  "Validation to generate": [
    {
      says: "a schema checks that all five members are there",
      done: ["ResponseEnvelope", "protocol/envelope-schemas"],
      held: ["the schema", "protocol/response-envelope.unit"],
    },
    {
      says: "`ok` is `exit_code == 0`; `data` and `error` are not both null, but for `not_modified`; each rule, by an envelope that breaks it",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
    {
      says: "`data` and `error` are not both null, but for `not_modified`",
      done: ["toResponseEnvelope", "protocol/response-envelope"],
      held: [
        "has data and error both null only when nothing was modified",
        "protocol/response-envelope.unit",
      ],
    },
  ],
  "Tests to generate": [
    {
      says: "success: every command, its data as its published JSON Schema says; by the contract's own schema of the envelope where that is at hand",
      done: ["jsonRenderer", "cli/render/json"],
      held: ["in JSON", "cli/modes.e2e"],
    },
    {
      says: "failure: every command, `data` null, code and message, an exit code that the manifest declares",
      done: ["exitsOf", "cli/manifest"],
      held: ["every command has its case, here or elsewhere", "cli/failures.int"],
    },
    {
      says: "the manifest is that of `manifest-response.json`",
      done: ["manifest", "cli/manifest"],
      held: [
        "the manifest is that of the contract's schema, in each generation (only where it is at hand)",
        "cli/failures.int",
      ],
    },
    {
      says: "truncation",
      done: ["output", "cli/commands/output"],
      held: ["of %s says so in meta", "cli/envelope.int"],
    },
    {
      says: "cache hit: `not_modified`, both null, exit code 0",
      done: ["manifestFor", "cli/manifest"],
      held: ["is not told again to whoever has its etag", "cli/envelope.int"],
    },
    {
      says: "REDIRECTED: `command` and `permanent`",
      done: ["noSuchCommand", "cli/misnamed"],
      held: ["%j is redirected to %s", "cli/envelope.int"],
    },
  ],
  "Anti-patterns": [
    {
      says: "no command sets `ok`; no member is left out; one shape for both",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["%s breaks no rule", "protocol/response-rules.unit"],
    },
  ],
  "Implementation notes": [
    {
      says: "`meta` may have further members",
      done: ["ResponseMeta", "protocol/envelope-schemas"],
      held: ["takes a redirect and further members of meta", "protocol/response-envelope.unit"],
    },
    {
      says: "`data` and `error` are null and never left out",
      done: ["brokenRules", "protocol/response-rules"],
      held: ["each rule finds the envelope that breaks it", "protocol/response-rules.unit"],
    },
    {
      says: "`redirect` is ignored at other exit codes",
      apart: "a rule for who reads our envelopes",
    },
  ],
  "Beyond the document": [
    {
      says: "notes B.3: a repeat with the same key is a noop with the first result",
      done: ["Once", "daemon/once"],
      held: ["is done once; a repeat gets the first answer as a noop", "daemon/once.unit"],
    },
    {
      says: "notes B.3: a sign of life on long waits",
      done: ["makeHeartbeat", "cli/heartbeat"],
      held: [
        "is a line of a stream in json and in ndjson, before and not among its records' seqs",
        "cli/envelope.int",
      ],
    },
    {
      says: "notes B.3: SIGINT 130, SIGTERM 143, a second signal at once",
      done: ["firstInterrupt", "cli/interrupts"],
      held: ["asks the command to end, once; a second one ends the process at once", "cli/interrupts.unit"],
    },
    {
      says: "notes B.3: a reader that goes away ends a command quietly",
      done: ["processStreams", "cli/streams"],
      held: ["ends quietly with 0 when its reader goes away", "cli/agent.e2e"],
    },
    {
      says: "notes B.1: generation G2 has its own numbers and members of errors",
      done: ["Generation", "protocol/generations"],
      held: ["has its own exit codes and members of errors, by flag or variable", "cli/envelope.int"],
    },
  ],
};

export const RESPONSE_ENVELOPE: Contract = {
  title: "ResponseEnvelope",
  intro:
    "Printed by `--output json`, which is the default where stdout is no terminal. Exit codes are those of generation G1, or of G2 with `--envelope g2`.",
  sentences,
  deviations: [
    "**Streams** (`watch`, `logs`, `spawn --watch`) print one record a line, then the envelope as the last line. Other commands print the envelope alone.",
    "**`retryable` says the same for all errors of an exit code.** Whether a worker that gave up (12) or has no key (8) can do better is in `error.code`: what must be mended first is in `suggestion`.",
    "**Partial results** are in `meta.partial`, since `data` is null on failure and ErrorDetail is closed; so are `meta.problems`, `meta.attempts`, `meta.backoff` and `meta.details`. `error.detail` is text for people.",
    "**`agent list` and `agent messages` have pages.** `agent why`, `output` and `logs --raw` say `meta.truncated` and have no cursor: their records are read with `agent watch --from`.",
    "**Heartbeats** of a command that prints one envelope go to stderr, since stdout is one JSON document ([0025](../decisions/0025-redirects.md)).",
    "**Idempotency keys** of kill, restart, pause, unpause, answer and trees last as long as the daemon; those of spawn, send and ask are in the log.",
    "**Generation G3** is not offered. PAYMENT_REQUIRED (9) is never given. 130 and 143 are, though G1 and G2 reserve what is over 125 for shells (notes B.4).",
    "**Agent interpretation** (how a caller reads what is malformed or contradictory) is for callers; what we print is neither.",
  ],
};
