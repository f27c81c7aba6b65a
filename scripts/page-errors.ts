/** docs/errors.md, from the error catalogue and the generations of the exit codes. */
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
    `${yes(row.retryable)}${row.retryable === retryableIn(g2!, row) ? "" : " (after fix)"}`,
    `\`${row.v1}\``,
    String(row.http),
    `\`${weblisk.code}\` ${weblisk.http} ${weblisk.category}`,
    row.next,
  ];
};

export const errorsPage = (): string => `# Errors

What can go wrong, what each contract calls it, and what to do. Generated from \`src/protocol/errors.ts\` by \`npm run docs\`.

Programs branch on \`error.code\`, people read \`error.message\`, and \`error.suggestion\` is the next step: the one of this page, or a better one that is
known at the place. Every mistake of a call is told at once, and then nothing was done (\`phase: validation\`).

## Exit codes

Of \`agent\`, by generation of the contract: G1 is the default, G2 is chosen with \`--envelope g2\`.

${exitTable()}

\`agent wait --exit-code-from\` passes the code of the worker's own program on.

## The catalogue

*effects*: what may have been done already. *repeat*: whether the same call may be repeated as it is; in G2 what must be mended first is in
\`fix_required\`. *Protocol v1* is the code on the socket and in \`-o ndjson\`, where ours is in \`error.details.code\`; *Weblisk* its code, HTTP status
and category.

${table(
  ["code", "exit (G2)", "effects", "repeat", "Protocol v1", "HTTP", "Weblisk", "what to do"],
  Object.entries(ERROR_CATALOGUE).map(rowOf),
)}

## Tries that we make ourselves

Where we try again before we tell an error, \`error.detail\` (and \`error.details\` in Protocol v1) says how often (\`attempts\`) and at which distance
(\`backoff\`); after a success \`meta.retries\` counts them. These are: a command that waits for the next daemon (\`watch\`, \`logs -f\`, \`wait\`, \`ask\`),
the start of a daemon, and the look at what a worker left behind when a daemon starts. \`retry_after\` is told where the wait is known.
`;
