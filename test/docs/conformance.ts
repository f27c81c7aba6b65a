/** docs/reference/conformance.md, from test/conformance: sentence → where it is done → test. */
import type { Contract, Sentence } from "../conformance/contract.ts";
import { CONTRACTS } from "../conformance/contracts.ts";

export const sentencesOf = ({ sentences }: Contract): readonly Sentence[] => Object.values(sentences).flat();

const cell = (text: string): string => text.replaceAll("|", "\\|");
/** Places that a table of the test fills in. */
const shown = (title: string): string => cell(title.replace(/%\w/g, "…"));

const heldBy = ({ held, open, apart }: Sentence): string => {
  if (held !== undefined) return `[${shown(held[0])}](../../test/${held[1]}.test.ts)`;
  return open === undefined ? `no matter of ours: ${cell(apart ?? "")}` : `**open**: ${cell(open)}`;
};

const row = (sentence: Sentence, section: string): string => {
  const { says, done } = sentence;
  const place = done === undefined ? "–" : `[${done[0]}](../../src/${done[1]}.ts)`;
  return `| ${section} | ${cell(says)} | ${place} | ${heldBy(sentence)} |`;
};

const partOf = ({ title, intro, sentences, deviations }: Contract): string => {
  const rows = Object.entries(sentences).flatMap(([section, all]) =>
    all.map((sentence, at) => row(sentence, at === 0 ? `*${section}*` : "")),
  );
  return `## ${title}

${intro === "" ? "" : `${intro}\n\n`}| section | the document says | done in | held by |
|---|---|---|---|
${rows.join("\n")}

Deviations and open points:

${deviations.map((each) => `- ${each}`).join("\n")}
`;
};

const tally = (contract: Contract): string => {
  const all = sentencesOf(contract);
  const [held, open, apart] = (["held", "open", "apart"] as const).map(
    (how) => all.filter((sentence) => sentence[how] !== undefined).length,
  );
  return `| ${contract.title} | ${all.length} | ${held} | ${open} | ${apart} |`;
};

export const page = (): string => `# Conformance

The sentences of the contracts, paraphrased, each with its section; where it is done; and the test that fails if it is not so. A rule that no test holds is open, with the
reason, or no matter of ours: rules for who reads our envelopes. A part that is not built is open. Every name and title on this page is held
against the code. The rest of the runtime architecture is told in [architecture.md](../architecture.md).
Generated from \`test/conformance\` by \`npm run docs\`.

| contract | sentences | held by a test | open | no matter of ours |
|---|---|---|---|---|
${CONTRACTS.map(tally).join("\n")}

${CONTRACTS.map(partOf).join("\n")}`;
