/** docs/adapters.md: of each kind what its CLI prints and what is told of it, what its runs came to, what it cannot do, and what shows it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { table } from "../../scripts/markdown.ts";
import type { AgentAdapter } from "../../src/adapters/adapter.ts";
import { adapterFor, adapters } from "../../src/adapters/registry.ts";
import { type Observed, observed, type Seen, toldOfLine } from "../adapters/conformance/observe.ts";
import { built, VERDICTS } from "../adapters/conformance/transcripts.ts";
import { KIND_FACTS, type KindFacts } from "./adapters-data.ts";

const test = join(import.meta.dirname, "..");

/** Every kind with what is known of it; a kind of which nothing is said is a defect. */
export const kinds = (): readonly (readonly [AgentAdapter, KindFacts])[] =>
  adapters.map((adapter) => {
    const facts = KIND_FACTS[adapter.kind];
    if (facts === undefined) throw new Error(`test/docs/adapters-data.ts says nothing of ${adapter.kind}.`);
    return [adapter, facts];
  });

const recordedOf = (adapter: AgentAdapter) => built.find(({ kind }) => adapterFor(kind) === adapter);

const code = (text: string): string => `\`${text}\``;

const toldCell = (told: readonly string[]): string =>
  told.length === 0
    ? "nothing"
    : told
        .map((one) => {
          const [kind, channel] = one.split(" ");
          return channel === undefined ? code(one) : `${kind} on ${code(channel)}`;
        })
        .join(", ");

const linesOf = ({ types }: Observed): readonly (readonly string[])[] =>
  Object.entries(types).map(([name, { told, runs }]: [string, Seen]) => [
    code(name),
    toldCell(told),
    `${runs}`,
  ]);

/** A type by its name, as those that were seen are named. */
const documentedName = (line: Readonly<Record<string, unknown>>): string => {
  const update = (line.params as { update?: { sessionUpdate?: string; status?: string } } | undefined)
    ?.update;
  if (typeof line.method === "string")
    return [line.method, update?.sessionUpdate, update?.status]
      .filter((part) => part !== undefined)
      .join(" ");
  const inner = line.item as { type?: string } | undefined;
  const block = (line.message as { content?: readonly { type: string }[] } | undefined)?.content?.[0];
  return [line.type, line.subtype, inner?.type, block?.type, line.severity]
    .filter((part) => part !== undefined)
    .join(" ");
};

const documentedRows = (
  adapter: AgentAdapter,
  { documented, documentedAs = "documented only" }: KindFacts,
  seen: Pick<Observed, "types">,
): readonly (readonly string[])[] =>
  documented
    .map((line) => [documentedName(line as Readonly<Record<string, unknown>>), line] as const)
    .filter(([name]) => !Object.hasOwn(seen.types, name))
    .map(([name, line]) => [code(name), toldCell(toldOfLine(adapter, line)), documentedAs]);

const evidence = (adapter: AgentAdapter, { suite }: KindFacts, seen: Observed | undefined): string => {
  const recorded = Object.entries(seen?.transcripts ?? {});
  const folder = adapter.kind.replaceAll("_", "-");
  const own = existsSync(join(test, "adapters", folder))
    ? `[its own](../test/adapters/${folder})`
    : undefined;
  const parts = [
    ...recorded.map(([version, runs]) => `${runs} recorded runs of ${version}`),
    seen === undefined ? undefined : `${seen.recordings} recordings in [test/recordings](../test/recordings)`,
    `the suites for every kind ([conformance](../test/adapters/conformance/conformance.unit.test.ts)${
      seen === undefined
        ? ""
        : ", [second reader](../test/adapters/conformance/recordings.unit.test.ts), [spoilt runs](../test/adapters/conformance/mutations.int.test.ts)"
    })`,
    own,
    suite === undefined ? undefined : `the CLI itself in [npm run test:agents](../test/${suite}.test.ts)`,
  ];
  return `Evidence: ${parts.filter((part) => part !== undefined).join("; ")}.`;
};

const kindPart = ([adapter, facts]: readonly [AgentAdapter, KindFacts]): string => {
  const of = recordedOf(adapter);
  const seen = of === undefined ? undefined : observed(of);
  const rows = [
    ...(seen === undefined ? [] : linesOf(seen)),
    ...documentedRows(adapter, facts, seen ?? { types: {} }),
  ];
  const events =
    rows.length === 0
      ? `Each line of stdout and stderr is one TextOutput on the channel of its stream ([0002](decisions/0002-command-output-is-lines.md)).`
      : `${table(["the CLI prints", "it is told as", "runs with it"], rows)}

A line that is no JSON object, and any other type, is one Unknown without its text.`;
  return `## ${code(adapter.kind)}

${adapter.summary}

${events}

What it cannot do:

${facts.limits.map((limit) => `- ${limit}`).join("\n")}

${evidence(adapter, facts, seen)}
`;
};

const capabilityTable = (): string => {
  const all = [...new Set(adapters.flatMap(({ capabilities }) => capabilities))].sort();
  return table(
    ["capability", ...adapters.map(({ kind }) => code(kind))],
    all.map((id) => [
      code(id),
      ...adapters.map(({ capabilities }) => (capabilities.includes(id) ? "yes" : "–")),
    ]),
  );
};

const outcomeTable = (): string => {
  const scenarios = [...new Set(built.flatMap(({ kind }) => Object.keys(VERDICTS[kind] ?? {})))].sort();
  return table(
    ["scenario", ...built.map(({ kind }) => code(adapterFor(kind)!.kind))],
    scenarios.map((name) => [code(name), ...built.map(({ kind }) => VERDICTS[kind]?.[name] ?? "")]),
  );
};

export const page = (): string => `# Adapters

What each kind of agent makes of what its CLI prints. The events are those of agent-event.txt; \`session_started\`, \`turn_started\`,
\`turn_completed\` and \`worker_message\` are records of their own beside them. A type of line that is told in several ways, by what is in it or by what was told before,
has them all in its row. Generated by \`npm run docs\` from the tables of the tests: what was seen is in \`test/adapters/conformance/observed\`,
which a test holds against the recorded runs.

${kinds().map(kindPart).join("\n")}
## Capabilities

${capabilityTable()}

## What runs came to

Each run of a CLI against a fake provider on loopback, by its scenario: completed, or the code of its failure. \`sig…\` are runs that were
sent a signal while a tool ran or an answer streamed; \`-group\` sent it to the process group, \`-then-resume\` is the session's next run. Empty: not recorded.

${outcomeTable()}

What decides is the CLI's own word for the end of the last turn, then the exit: without that word exit code 0 is a failure, too
(NO_TERMINAL_EVENT), and so is any exit after a signal of ours (AGENT_FAILED).
[Every recorded run](../test/adapters/conformance/transcripts.int.test.ts) is also derived by a second reader that shares no code with
the adapters, and [spoilt](../test/adapters/conformance/mutations.int.test.ts): cut, reordered, said twice, of types of tomorrow, of other values.
`;
