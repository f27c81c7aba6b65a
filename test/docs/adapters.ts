/** docs/reference/adapters.md: of each kind what its CLI prints and what is told of it, what its runs came to, what it cannot do, and what shows it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { table } from "../../scripts/markdown.ts";
import type { AgentAdapter } from "../../src/adapters/adapter.ts";
import type { KindFacts, NamedAgent } from "../../src/adapters/facts.ts";
import { AGENTS } from "../../src/adapters/kinds/acp/facts.ts";
import { KIND_FACTS } from "../../src/adapters/kinds.ts";
import { adapterFor, adapters } from "../../src/adapters/registry.ts";
import type { Recorded } from "../adapters/conformance/expected/readers.ts";
import { nameOf, type Observed, observed, type Seen, toldOfLine } from "../adapters/conformance/observe.ts";
import { built, openingFor, VERDICTS } from "../adapters/conformance/transcripts.ts";
import { DOCUMENTED, type Documented } from "./adapters-data.ts";

const test = join(import.meta.dirname, "..");

/** Every kind with what is known of it. */
interface Known extends Documented, Pick<KindFacts, "limits"> {
  /** The suite of `npm run test:agents` that runs the CLI itself. */
  readonly suite: string | undefined;
}

const suiteOf = ({ kind, aliases }: AgentAdapter): string | undefined => {
  const suite = `agents/${aliases[0] ?? kind}.e2e`;
  return existsSync(join(test, `${suite}.test.ts`)) ? suite : undefined;
};

export const kinds = (): readonly (readonly [AgentAdapter, Known])[] =>
  adapters.map((adapter) => {
    const { limits } = KIND_FACTS.find(({ kind }) => kind === adapter.kind)!;
    return [adapter, { documented: [], ...DOCUMENTED[adapter.kind], limits, suite: suiteOf(adapter) }];
  });

/** The ways in which a kind is run, each with its own lines. */
const waysOf = (adapter: AgentAdapter): readonly Recorded[] =>
  built.filter(({ kind }) => adapterFor(kind) === adapter);

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

const rowsOf = (
  adapter: AgentAdapter,
  of: Recorded,
  documented: readonly object[],
): readonly (readonly string[])[] => {
  const seen = observed(of);
  const others = documented
    .map((line) => [nameOf({ ...line }) ?? "", line] as const)
    .filter(([name]) => !Object.hasOwn(seen.types, name))
    .map(([name, line]) => [
      code(name),
      toldCell(toldOfLine(adapter, line, openingFor(of))),
      "documented only",
    ]);
  return [...linesOf(seen), ...others];
};

const evidence = (adapter: AgentAdapter, { suite }: Known, ways: readonly Recorded[]): string => {
  const seen = ways.map(observed);
  const recorded = seen.flatMap(({ transcripts }) => Object.entries(transcripts));
  const recordings = seen.reduce((sum, one) => sum + one.recordings, 0);
  const folder = adapter.kind.replaceAll("_", "-");
  const own = existsSync(join(test, "adapters", "kinds", folder))
    ? `[its own](../../test/adapters/kinds/${folder})`
    : undefined;
  const parts = [
    ...recorded.map(([version, runs]) => `${runs} recorded runs of ${version}`),
    ways.length === 0 ? undefined : `${recordings} recordings in [test/recordings](../../test/recordings)`,
    `the suites for every kind ([conformance](../../test/adapters/conformance/conformance.unit.test.ts)${
      ways.length === 0
        ? ""
        : ", [second reader](../../test/adapters/conformance/recordings.unit.test.ts), [spoilt runs](../../test/adapters/conformance/mutations.int.test.ts)"
    })`,
    own,
    suite === undefined ? undefined : `the CLI itself in [npm run test:agents](../../test/${suite}.test.ts)`,
  ];
  return `Evidence: ${parts.filter((part) => part !== undefined).join("; ")}.`;
};

const PRINTS = ["the CLI prints", "it is recorded as", "runs with it"];

const linesPart = (adapter: AgentAdapter, { documented, spoken }: Documented, of: Recorded): string =>
  of.way === undefined
    ? table(PRINTS, rowsOf(adapter, of, documented))
    : `As a dialogue, by ${code(`${adapter.kind} ${of.way}`)}:\n\n${table(PRINTS, rowsOf(adapter, of, spoken ?? []))}`;

const kindPart = ([adapter, facts]: readonly [AgentAdapter, Known]): string => {
  const ways = waysOf(adapter);
  const events =
    ways.length === 0
      ? adapter.streams.includes("stderr")
        ? `Each line of stdout and stderr is one TextOutput on the channel of its stream ([0002](../decisions/0002-command-output-is-lines.md)).`
        : "Its program is a part of Holdfast, and its lines are those of `src/protocol`: no CLI of others prints them."
      : `${ways.map((of) => linesPart(adapter, facts, of)).join("\n\n")}

A line that is not a JSON object, or has another type, becomes one Unknown without its text.`;
  return `## ${code(adapter.kind)}

${adapter.summary}

${events}

It cannot do this:

${facts.limits.map((limit) => `- ${limit}`).join("\n")}

${evidence(adapter, facts, ways)}
`;
};

const agentTable = (): string =>
  table(
    ["agent", "program", "variable", "tested"],
    AGENTS.map((agent: NamedAgent) => [
      code(`acp:${agent.name}`),
      code(agent.binary),
      code(agent.variable),
      agent.untried ?? "yes, by [npm run test:agents](../../test/agents/acp.e2e.test.ts)",
    ]),
  );

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

/** A column for each kind and its way; where its agents differ, for each agent. */
const columnsOf = (of: Recorded) => {
  const { kind } = adapterFor(of.kind)!;
  const lists = new Set(of.versions.map((version) => VERDICTS[version] ?? {}));
  return [...lists].map((verdicts) => {
    const version = of.versions.find((one) => VERDICTS[one] === verdicts)!;
    const title = lists.size > 1 ? version : [kind, of.way].filter(Boolean).join(" ");
    return { title, verdicts };
  });
};

const outcomeTable = (ways: readonly Recorded[]): string => {
  const columns = ways.flatMap(columnsOf);
  const scenarios = [...new Set(columns.flatMap(({ verdicts }) => Object.keys(verdicts)))].sort();
  return table(
    ["scenario", ...columns.map(({ title }) => code(title))],
    scenarios.map((name) => [code(name), ...columns.map(({ verdicts }) => verdicts[name] ?? "")]),
  );
};

export const page = (): string => `# Adapters

Each kind of agent reads its CLI in its own way. The events are those of agent-event.txt; \`session_started\`, \`turn_started\`,
\`turn_completed\` and \`worker_message\` are records of their own beside them. A type of line that is told in several ways, by what is in it or by what was told before,
has them all in its row; \`result of …\` and \`error of …\` are answers to what we asked, and \`reply\` is what we say to it. Generated by \`npm run docs\` from the tables of the tests: what was seen is in \`test/adapters/conformance/observed\`,
which a test holds against the recorded runs.

${kinds().map(kindPart).join("\n")}
## Named agents

Agents that speak the Agent Client Protocol, and that Holdfast knows how to start. Any other is \`agent spawn acp "PROMPT" -- my-agent --acp\`.

${agentTable()}

## Capabilities

${capabilityTable()}

## Outcomes of runs

Each run of a CLI against a fake provider on loopback, by its scenario: completed, or the code of its failure. \`sig…\` are runs that were
sent a signal while a tool ran or an answer streamed; \`-group\` sent it to the process group, \`-then-resume\` is the session's next run. Empty: not recorded.

${outcomeTable(built.filter(({ dialogue }) => dialogue === undefined))}

And each dialogue with an agent that is spoken with: in \`cancel-…\` and \`interrupt\` its turn was cancelled, in \`kill-first\` it was killed
and in \`stdin-eof-tool\` its input was ended while a tool ran; \`load-unknown\` asked for a session that there is not, and
\`protocol-errors\` spoke in the wrong order.

${outcomeTable(built.filter(({ dialogue }) => dialogue !== undefined))}

The CLI's own word for the end of the last turn decides, then the exit: without that word exit code 0 is a failure, too
(NO_TERMINAL_EVENT), and so is any exit after a signal of ours (AGENT_FAILED).
[Every recorded run](../../test/adapters/conformance/transcripts.int.test.ts) is also derived by a second reader that shares no code with
the adapters, and [spoilt](../../test/adapters/conformance/mutations.int.test.ts): cut, reordered, said twice, of types of tomorrow, of other values.
`;
