/** The tables of docs/explanation/processes.md name every file of a run, and no others: the names are read from the code that writes them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./pages.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const PROCESS = "src/adapters/process";
const sources = [
  ...readdirSync(join(root, PROCESS))
    .filter((name) => name !== "cgroups.ts") // Its directories are the kernel's.
    .map((name) => join(PROCESS, name)),
  "src/adapters/bridge/run-files.ts",
  "src/daemon/cluster/guard-process.ts",
  "src/runtime/spec-files.ts",
].map(read);

const constants = new Map(
  sources.flatMap((text) =>
    [...text.matchAll(/^(?:export )?const ([A-Z_]+) = "([\w.-]+)"/gm)].map(
      ([, name = "", value = ""]) => [name, value] as const,
    ),
  ),
);

/** Each finds a name, or the constant that has it, where code or a script puts it behind a directory of runs. */
const NAMING = [
  /\bjoin\((?:this\.)?(?:dir|workerDir|runsDir|dirOf\(\w+\)), (?:"|(?=[A-Z]))([\w.-]+)"?\)/g,
  /\bwriteWhole\(write, dirOf\(\w+\), "([^"]+)"/g,
  /\breadIdentity\(\w+, "(\w+)"/g,
  /\$(?:_hf_)?dir\/(?:\$\{)?([A-Za-z_]+(?:\.[a-z]+)*)/g,
  // The table of the names in a run directory, and their types.
  /^ {2}["[]?([\w.]+)["\]]?: "(?:file|fifo)",$/gm,
];
const namesIn = (text: string): readonly string[] =>
  NAMING.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = ""]) => name)).map(
    (name) => constants.get(name) ?? name,
  );

/** The names that are made by a suffix or a prefix, in the one place that makes them. */
const composedIn = (text: string): readonly string[] => [
  ...[...text.matchAll(/`\$\{spool\}(\.\w+)`/g)].flatMap(([, suffix]) => [
    `stdout${suffix}`,
    `stderr${suffix}`,
  ]),
  ...[...text.matchAll(/`\$\{this\.path\}(\.\w+)`/g)].map(([, suffix]) => `lifeline${suffix}`),
  ...[...text.matchAll(/=> `([a-z]+-)\$\{messageId\}`/g)].map(([, prefix]) => `${prefix}<id>`),
];
const spares = sources
  .flatMap((text) => /SPARE_FILES = \[([^\]]+)\]/.exec(text)?.[1]?.split(", ") ?? [])
  .map((word) => constants.get(word) ?? word.replaceAll('"', ""));

const written = new Set([...sources.flatMap((text) => [...namesIn(text), ...composedIn(text)]), ...spares]);

const page = read("docs/explanation/processes.md");
const rows = page
  .slice(page.indexOf("\n## The files of a run"), page.indexOf("\n## Reading its output"))
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.slice(2, -2).split(" | "));
const named = rows.flatMap(([files = ""]) =>
  [...files.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name.replace(/\/$/, "")),
);

describe("the files of a run", () => {
  it("are found in the code, in each way to write one", () => {
    const samples = [
      "claimed.spare",
      "message-<id>",
      "spec.json",
      "lease_lost",
      "stdin.fifo",
      "stdout.released",
    ];
    expect([...written]).toEqual(
      expect.arrayContaining([...samples, "bridge.json", "lifeline.holder", "exit"]),
    );
  });

  it("have a row each, and a row is a file", () => {
    expect(named.toSorted()).toEqual([...written].toSorted());
  });

  it("have a writer, a reader and a meaning", () => {
    expect(rows.filter((cells) => cells.length !== 4 || cells.some((cell) => cell.trim() === ""))).toEqual(
      [],
    );
  });
});
