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

Programs branch on \`error.code\`, people read \`error.message\`, and \`error.suggestion\` is the next step: the one of this page, or a better one that is
known at the place. Every mistake of a call is told at once, and then nothing was done (\`phase: validation\`).

## Exit codes

The exit codes of \`agent\`, by generation of the contract: G1 is the default, G2 is chosen with \`--envelope g2\`.

${exitTable()}

\`agent wait --exit-code-from\` passes the code of the worker's own program on.

## The catalogue

*effects*: what may have been done already. *repeat*: what \`error.retryable\` says, which is the same for all errors of an exit code; in G2 what must be mended first is in
\`fix_required\`. *Protocol v1* is the code on the socket and in \`-o ndjson\`, where ours is in \`error.details.code\`; *Weblisk* its code, HTTP status
and category.

${table(
  ["code", "exit (G2)", "effects", "repeat", "Protocol v1", "HTTP", "Weblisk", "what to do"],
  Object.entries(ERROR_CATALOGUE).map(rowOf),
)}

## Why an agent failed

A command that waits for a worker (\`spawn --wait\` and \`--watch\`, \`wait\`, \`resume\`, \`fork\`) ends with the worker's own code, and so does \`ask\`:
no key is \`TOKEN_MISSING\` (8), HTTP 401 \`TOKEN_INVALID\` (8), HTTP 429 \`RATE_LIMITED\` (11, with \`retry_after\` where the reset was told), its time \`TIMEOUT\` (10),
a program that exits with a code \`AGENT_FAILED\` (2), a kill \`WORKER_CANCELLED\` (1).
A worker that was restarted until its window was spent ends with \`SUPERVISOR_GAVE_UP\` (12): \`error.detail\` says what the last try came to, \`attempts\` and \`backoff\` how it was tried.
A limit of a provider that is reached too often in a row stays \`RATE_LIMITED\`.
If some of several workers failed, \`PARTIAL_FAILURE\` (2) is told; of all of them the code that they share, else \`WORKER_FAILED\` (1).
A code that speaks of the command itself (exit codes 3, 13 and 130) is told as \`AGENT_FAILED\`, since the command was right.

On failure \`data\` is null and \`error\` has no further members, so with \`-o json\` the rest is in \`meta\`: \`partial\` is what there is all the same (the results by id),
\`problems\` all mistakes of a call, \`attempts\` and \`backoff\` the tries, \`details\` the error's facts. \`error.detail\` is text for people.
With \`-o ndjson\` the results are in \`data\` and the rest in \`error.details\`.

## Failures that no restart can mend

A restart gets no key and mends no request. A worker that fails with one of these ends at once, whatever its restart policy says, and its \`worker_ended\` record has the cause \`unfixable\`:
${Object.entries(ERROR_CATALOGUE)
  .filter(([, { restart }]) => restart === "never")
  .map(([code]) => `\`${code}\``)
  .join(", ")}.
That is what \`RestartPreventExitStatus\` is to systemd's \`Restart=always\`. A user who knows better says \`--on-unfixable restart\` (\`on_unfixable\` in a file), and the policy decides, counted in its window.
In a tree such a worker is over, as a temporary one is: its siblings go on, unless it is significant. \`agent restart\` starts it again.

## Tries that we make ourselves

If we try again before we tell an error, \`meta\` (and \`error.details\` in Protocol v1) says how often (\`attempts\`) and at which distance
(\`backoff\`); after a success \`meta.retries\` counts them. These are: a command that waits for the next daemon (\`watch\`, \`logs -f\`, \`wait\`, \`ask\`),
the start of a daemon, the look at what a worker left behind when a daemon starts, and the incarnations of a worker that a \`wait\` gives up on or sees fail.
\`retry_after\` is told where the wait is known.
`;
