/** docs/reference/errors.md, from the error catalogue and the generations of the exit codes. */
import { ERROR_CATALOGUE, type ErrorCode, type ErrorRow } from "../src/protocol/errors.ts";
import { exitIn, GENERATIONS, retryableIn } from "../src/protocol/generations.ts";
import { webliskError } from "../src/protocol/weblisk-errors.ts";
import { table } from "./markdown.ts";

const { g1, g2 } = GENERATIONS;
const yes = (flag: boolean): string => (flag ? "yes" : "no");

/** The exit codes in the order of their numbers in G1, with those of G2 beside them. */
export const exitTable = (): string =>
  table(
    ["G1", "G2", "name", "means", "effects", "repeat as it is"],
    Object.entries(g1!.exits).map(([exit, { name, description, side_effects, retryable }]) => [
      exit,
      String(exitIn(g2!, Number(exit))),
      name,
      description,
      side_effects,
      yes(retryable),
    ]),
  );

const rowOf = ([code, row]: [string, ErrorRow]): readonly string[] => {
  const weblisk = webliskError(code as ErrorCode);
  const [first, second] = [exitIn(g1!, row.exit), exitIn(g2!, row.exit)];
  return [
    `\`${code}\``,
    first === second ? String(first) : `${first} (${second})`,
    row.effects,
    `${yes(retryableIn(g1!, row))}${retryableIn(g1!, row) === retryableIn(g2!, row) ? "" : " (after fix)"}`,
    `\`${row.v1}\``,
    String(row.http),
    `\`${weblisk.code}\` ${weblisk.http} ${weblisk.category}`,
    row.next,
  ];
};

export const errorsPage = (): string => `# Errors

Errors, their names in each contract, and what to do. Generated from \`src/protocol/errors.ts\` by \`npm run docs\`.

Programs branch on \`error.code\`, people read \`error.message\`, and \`error.suggestion\` is the next step: the one of this page, or a more specific one.
All mistakes of a call are reported at once, and then nothing was done (\`phase: validation\`).

## Exit codes

The exit codes of \`agent\`, by generation of the contract: G1 is the default, G2 is chosen with \`--envelope g2\`.

${exitTable()}

\`agent wait --exit-code-from\` returns the exit code of the worker's own program.

## The catalogue

*effects*: what may already have been done.
*repeat*: the value of \`error.retryable\`, which is the same for all errors with one exit code; in G2, \`fix_required\` names what must be corrected first.
*Protocol v1*: the code on the socket and in \`-o ndjson\`, where our own code is in \`error.details.code\`.
*Weblisk*: its code, HTTP status and category.

${table(
  ["code", "exit (G2)", "effects", "repeat", "Protocol v1", "HTTP", "Weblisk", "what to do"],
  Object.entries(ERROR_CATALOGUE).map(rowOf),
)}

## Why an agent failed

A command that waits for a worker (\`spawn --wait\` and \`--watch\`, \`wait\`, \`resume\`, \`fork\`) ends with the worker's own code, and so does \`ask\`:
a missing key is \`TOKEN_MISSING\` (8), HTTP 401 \`TOKEN_INVALID\` (8), HTTP 429 \`RATE_LIMITED\` (11, with \`retry_after\` if the reset is known), a time limit \`TIMEOUT\` (10),
a program that exits with a code other than 0 \`AGENT_FAILED\` (2), a kill \`WORKER_CANCELLED\` (1).
A worker that was restarted until its window was used up ends with \`SUPERVISOR_GAVE_UP\` (12): \`error.detail\` has the result of the last attempt, \`attempts\` the number of attempts, and \`backoff\` the waits between them.
A provider limit that is reached too often in a row stays \`RATE_LIMITED\`.
If some of several workers failed, the error is \`PARTIAL_FAILURE\` (2); if all failed, it is their common code, else \`WORKER_FAILED\` (1).
A worker's code that would describe the command itself (exit codes 3, 13 and 130) becomes \`AGENT_FAILED\`, because the command was right.

On failure \`data\` is null and \`error\` has no further members, so with \`-o json\` the rest is in \`meta\`: \`partial\` has the results that exist (by id),
\`problems\` all mistakes of a call, \`attempts\` and \`backoff\` the attempts, \`details\` the error's facts. \`error.detail\` is text for people.
With \`-o ndjson\` the results are in \`data\` and the rest in \`error.details\`.

## Failures that no restart can mend

A restart provides no key and corrects no request. A worker that fails with one of these errors ends at once, whatever its restart policy, and its \`worker_ended\` record has the cause \`unfixable\`:
${Object.entries(ERROR_CATALOGUE)
  .filter(([, { restart }]) => restart === "never")
  .map(([code]) => `\`${code}\``)
  .join(", ")}.
This corresponds to systemd's \`RestartPreventExitStatus\`. With \`--on-unfixable restart\` (\`on_unfixable\` in a file) the policy decides instead, and the window counts the restart.
In a tree such a worker has ended like a temporary one: its siblings continue, unless it is significant. \`agent restart\` starts it again.

## Retries by Holdfast

If Holdfast retries before it reports an error, \`meta\` (and \`error.details\` in Protocol v1) has the number of attempts (\`attempts\`) and the waits between them
(\`backoff\`); after a success \`meta.retries\` counts them. It retries in a command that waits for the next daemon (\`watch\`, \`logs -f\`, \`wait\`, \`ask\`),
at the start of a daemon, and when a starting daemon checks what a worker left behind. The incarnations of a worker count too if a \`wait\` gives up on it or sees it fail.
\`retry_after\` is present if the wait is known.
`;
