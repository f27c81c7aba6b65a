/**
 * docs/reference/reliability.md: promise, test, last figures. `npm run reliability -- --record FILE` takes over the figures that tests told into
 * FILE (HOLDFAST_FIGURES) as those of today and of this commit, and writes the page; without figures `npm run docs` writes it too.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { PROMISES } from "../promises.ts";
import type { Figure } from "../support/figures.ts";

const root = join(import.meta.dirname, "../..");
const docs = join(root, "docs/reference");
const PAGE = join(docs, "reliability.md");
const FIGURES = join(docs, "reliability.json");

export interface Told extends Figure {
  readonly promise: string;
  /** Not scaled down for CI. */
  readonly full: boolean;
}

interface Recorded extends Told {
  readonly date: string;
  readonly commit: string;
}

const recorded = (): readonly Recorded[] => JSON.parse(readFileSync(FIGURES, "utf8"));

/** The numbers in a note are of the day; what is measured is in its words. */
const keyOf = ({ promise, note }: Told): string => `${promise} ${note.replace(/\d[\d.,]*/g, "N")}`;

/** Parts of one measure (the chains of the crash points) are one figure: their rounds are summed, the worst time stands. */
export const summed = (told: readonly Told[]): readonly Told[] => {
  const worst = (one?: number, other?: number) =>
    one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
  const sums = new Map<string, Told>();
  for (const one of told) {
    const known = sums.get(keyOf(one));
    sums.set(
      keyOf(one),
      known === undefined
        ? one
        : {
            ...one,
            rounds: known.rounds + one.rounds,
            failures: known.failures + one.failures,
            p50_ms: worst(known.p50_ms, one.p50_ms),
            p99_ms: worst(known.p99_ms, one.p99_ms),
          },
    );
  }
  return [...sums.values()];
};

/** The newest figure of each measure stands; a full one is not replaced by a scaled one. */
export const merged = (
  old: readonly Recorded[],
  told: readonly Told[],
  at: Pick<Recorded, "date" | "commit">,
): readonly Recorded[] => {
  const kept = new Map(old.map((one) => [keyOf(one), one]));
  for (const one of summed(told)) {
    if (kept.get(keyOf(one))?.full === true && !one.full) continue;
    kept.set(keyOf(one), { ...one, ...at });
  }
  const place = ({ promise }: Told) => Number(promise.slice(1));
  return [...kept.values()].sort((a, b) => place(a) - place(b) || (a.note < b.note ? -1 : 1));
};

const escaped = (text: string): string => text.replaceAll("|", "\\|");
/** Places that a table of the test fills in. */
const shown = (title: string): string => escaped(title.replace(/%\w|\$\{[^}]*\}|\$\w+/g, "…"));

const figureLine = ({ note, rounds, failures, p50_ms, p99_ms, full, date, commit }: Recorded): string => {
  const times = [
    p50_ms === undefined ? undefined : `p50 ${p50_ms} ms`,
    p99_ms === undefined ? undefined : `p99 ${p99_ms} ms`,
  ].filter((one) => one !== undefined);
  const scale = full ? "" : ", scaled";
  return escaped(
    `${[`${rounds} rounds`, `${failures} failures`, ...times].join(", ")}: ${note} (${date}, ${commit}${scale})`,
  );
};

export const page = (figures = recorded()): string => {
  const rows = PROMISES.map(({ id, sentence, tier, proofs, open }) => {
    const links = proofs.map(({ file, title }) => `[${shown(title)}](${relative(docs, join(root, file))})`);
    const missing = open === undefined ? [] : [`Open: ${open}`];
    const last = figures.filter(({ promise }) => promise === id).map(figureLine);
    return `| ${id} | ${escaped(sentence)} | ${tier} | ${[...links, ...missing].join("<br>")} | ${last.join("<br>")} |`;
  });
  const proved = PROMISES.filter(({ proofs }) => proofs.length > 0).length;
  return `# Reliability: promises and their proofs

Each promise of Holdfast, the test that holds it, and what was measured last. ${proved} of ${PROMISES.length} have a test; what is open says so.
Tier D is held by every \`npm test\` (scaled where the full figure takes longer), N by \`npm run chaos:nightly\`, S by its soak.
How they are tried: [chaos.md](../explanation/chaos.md). Generated from \`test/promises.ts\` and [reliability.json](reliability.json) by \`npm run docs\`.

| | promise | tier | held by | last figures |
|---|---|---|---|---|
${rows.join("\n")}
`;
};

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { record: { type: "string" } } });
  if (values.record !== undefined) {
    const told = readFileSync(values.record, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Told);
    const commit = execFileSync("git", ["rev-parse", "--short=8", "HEAD"], {
      cwd: root,
      encoding: "utf8",
    }).trim();
    const at = { date: new Date().toISOString().slice(0, 10), commit };
    writeFileSync(FIGURES, `${JSON.stringify(merged(recorded(), told, at), null, 2)}\n`);
  }
  writeFileSync(PAGE, page());
}
