/** docs/reference/validation.md from the tables of rules. */
import { ENVELOPE_RULE_TABLE } from "../src/protocol/validate/envelope.ts";
import { EVENT_RULE_TABLE } from "../src/protocol/validate/events.ts";
import type { ContractRule } from "../src/protocol/validate/finding.ts";
import { STREAM_RULES } from "../src/protocol/validate/stream-rules.ts";

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
const rowsOf = (rules: readonly ContractRule[]): string =>
  rules
    .map(({ id, levels, only, source, remedy }) => {
      const when = `${levels.join(", ")}${only === "strict" ? ", --strict" : ""}`;
      return `| \`${id}\` | ${when} | ${cell(source)} | ${cell(remedy)} |`;
    })
    .join("\n");
const table = (rules: readonly ContractRule[]): string => `| rule | level | source | remedy |
|---|---|---|---|
${rowsOf(rules)}`;

export const validationPage = (): string => `# Validation

    agent proto validate --input envelope.json          # or a pipe
    agent list -o ndjson | agent proto validate --stream
    agent event validate --input events.ndjson

Both report which rules are broken, where (a JSON pointer, and the line of the input) and what to do; no daemon is needed. An invalid envelope
ends with exit code 3 and ENVELOPE_INVALID (EENVELOPE in Protocol v1); the findings are in \`meta.details\`, in ndjson in
\`error.details.findings\`: \`{rule, place: {pointer, line}, message, remedy}\`. The first hundred are listed, the rest are counted (\`omitted\`).

- \`--level spec\`, the default, checks every rule of protocol-v1.txt; \`--level wire\` accepts what the originals accept: dotted commands,
  \`error: {}\`, members and sources of their own. The reasons: [0024](../decisions/0024-two-levels-of-validity.md).
- \`--strict\` also refuses unknown members of the envelope, \`meta\` and \`error\`, and anything after the envelope.
- \`--stream\` reads one envelope per line, in bounded memory: progress, then exactly one terminal line. Without it the first JSON value is read.

In tests (\`HOLDFAST_VALIDATE=1\`) every Protocol v1 envelope that Holdfast prints or sends is checked against the rules of \`spec\`: the client throws an error for one that breaks a rule,
and the daemon ends with exit code 70.
The client also checks the \`data\` of each success, in both JSON modes, against the JSON Schema that \`agent manifest\` publishes for its command.
It does not check a summary that replaces an artifact.

Generated from the tables of \`src/protocol/validate\` by \`npm run docs\`.

## Text and envelope

${table(ENVELOPE_RULE_TABLE)}

Input that \`spec\` accepts although it may look wrong, and why ([0024](../decisions/0024-two-levels-of-validity.md) says more):

- A \`meta.job_id\` that is not a complete ULID: neither is the document's own example, \`01H...\`.
- A \`meta.seq\` on the ok or error line: the document allows it in a stream, and the terminal line is a part of the stream.
- Lines of one stream with different commands: no sentence of the document requires a single command.
- A gap in \`meta.seq\`: the document requires only that the numbers rise.
- Our \`meta.request_id\` under \`--strict\`: the document allows additional optional fields, and otherwise none of our own output would pass a strict check.

It refuses \`error: {}\` on ok and progress, although the status rules say SHOULD.
The description of \`error\` says that it is present with null values, and a reader relies on that.

## Streams (\`--stream\`)

${table(Object.values(STREAM_RULES))}

\`job.*\` are rules for the lines {ts, message, percent, meta} that the originals write for a job. The level \`wire\` accepts these lines in a
file that has nothing else before them.

## AgentEvents (\`agent event validate\`)

The rules about text above, and:

${table(EVENT_RULE_TABLE).replaceAll(" spec,", "").replaceAll("| spec |", "| always |")}
`;
