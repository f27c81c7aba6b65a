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

Both say which rules are broken, where (a JSON pointer, and the line of the input) and what to do; no daemon is needed. An envelope that is not valid
ends with exit code 3 and ENVELOPE_INVALID (EENVELOPE in Protocol v1); the findings are in \`meta.details\`, in ndjson in
\`error.details.findings\`: \`{rule, place: {pointer, line}, message, remedy}\`. The first hundred are told, the rest is counted (\`omitted\`).

- \`--level spec\`, the default, holds every rule of protocol-v1.txt; \`--level wire\` accepts what the originals accept: dotted commands,
  \`error: {}\`, members and sources of their own. Why so: [0024](../decisions/0024-two-levels-of-validity.md).
- \`--strict\` also refuses unknown members of the envelope, \`meta\` and \`error\`, and anything after the envelope.
- \`--stream\` reads one envelope a line, in bounded memory: progress, then exactly one terminal line. Without it the first JSON value is read.

In tests (\`HOLDFAST_VALIDATE=1\`) every Protocol v1 envelope that we print or send goes through the rules of \`spec\`: one that breaks a rule is thrown by
the client, and ends the daemon with exit code 70.
The client also holds the \`data\` of each success, in both JSON modes, against the JSON Schema that \`agent manifest\` publishes for its command.
A summary that stands in for an artifact is no such data.

Generated from the tables of \`src/protocol/validate\` by \`npm run docs\`.

## Text and envelope

${table(ENVELOPE_RULE_TABLE)}

Input that \`spec\` takes although it may look wrong, and why ([0024](../decisions/0024-two-levels-of-validity.md) says more):

- A \`meta.job_id\` that is no whole ULID: the document's own example, \`01H...\`, is none.
- A \`meta.seq\` on the ok or error line: the document allows it to a stream, and the terminal line is a part of one.
- Lines of one stream with different commands: no sentence of the document asks for one command.
- A gap in \`meta.seq\`: the document asks for numbers that rise.
- Our \`meta.request_id\` under \`--strict\`: the document lets optional fields be added, and with a refusal nothing that we print could be checked strictly.

And what it refuses: \`error: {}\` on ok and progress, although the status rules say SHOULD.
The description of \`error\` says that it is present with null values, and a reader relies on that.

## Streams (\`--stream\`)

${table(Object.values(STREAM_RULES))}

\`job.*\` are of the lines {ts, message, percent, meta} that the originals write for a job; the level \`wire\` knows them, in a
file that has nothing else before them.

## AgentEvents (\`agent event validate\`)

The rules about text above, and:

${table(EVENT_RULE_TABLE).replaceAll(" spec,", "").replaceAll("| spec |", "| always |")}
`;
