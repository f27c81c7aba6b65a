/** docs/reference/limits.md, from the one file of bounds. */
import * as limits from "../src/base/limits.ts";
import { commentAt, linesOf } from "./declarations.ts";
import { table } from "./markdown.ts";

const VALUES: Readonly<Record<string, unknown>> = { ...limits };

interface Limit {
  readonly name: string;
  readonly words: string;
}

/** Limits that follow each other without a comment between them share one. */
const declared = (): readonly Limit[] => {
  const lines = linesOf("src/base/limits.ts");
  const found: Limit[] = [];
  let words = "";
  for (let at = lines.indexOf(""); at < lines.length; at += 1) {
    const comment = commentAt(lines, at);
    if (comment !== undefined) {
      words = comment.words;
      at = comment.next - 1;
      continue;
    }
    if (lines[at] === "") words = "";
    const [, name] = /^export const (\w+)/.exec(lines[at] ?? "") ?? [];
    if (name !== undefined) found.push({ name, words });
  }
  return found;
};

const scaled = (value: number, units: readonly (readonly [string, number])[]): string => {
  const [unit, size] = units.find(([, each]) => value >= each && value % each === 0) ?? units.at(-1)!;
  return `${(value / size).toLocaleString("en")} ${unit}`;
};
const BYTES = [
  ["PiB", 1024 ** 5],
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
  ["KiB", 1024],
  ["bytes", 1],
] as const;
const TIMES = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

const shownLimit = (name: string, value: unknown): string => {
  if (typeof value !== "number")
    return JSON.stringify(value)
      .replace(/[{}"[\]]/g, "")
      .replaceAll(",", ", ");
  if (name.endsWith("_BYTES")) return scaled(value, BYTES);
  if (name.endsWith("_MS")) return value === 0 ? "none" : scaled(value, TIMES);
  const [unit = ""] = /_(MIB|US|S|CHARS|UNITS|USD)$/.exec(name)?.slice(1) ?? [];
  const units: Readonly<Record<string, string>> = {
    MIB: " MiB",
    US: " µs",
    S: " s",
    CHARS: " characters",
    UNITS: " units",
    USD: " dollars",
  };
  return `${value.toLocaleString("en")}${units[unit] ?? ""}`;
};

export const limitsPage = (): string => `# Limits

Every bound of Holdfast, with its unit.
Generated from \`src/base/limits.ts\` by \`npm run docs\`.
Flags of [\`agent spawn\`](commands.md#agent-spawn) and keys of [the tree file](tree-file.md) set the limits of a worker; a name with \`DEFAULT\` is the value without such a flag or key.
An error about a limit names the limit and the value that exceeded it.

${table(
  ["limit", "value", "meaning"],
  declared().map(({ name, words }) => [`\`${name}\``, shownLimit(name, VALUES[name]), words]),
)}
`;
