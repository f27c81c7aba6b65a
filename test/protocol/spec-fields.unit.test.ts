/** A field of a worker's spec is one entry of the table: flag, key, option, help and docs come from it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { specOf } from "../../src/cli/commands/spawn-spec.ts";
import { help } from "../../src/cli/help.ts";
import { parse } from "../../src/cli/parse.ts";
import { plainPaint } from "../../src/cli/render/terminal.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { type Field, plainFields, SPEC_FIELDS, specKeys, TOPICS } from "../../src/protocol/spec-fields.ts";
import { WorkerSpec } from "../../src/protocol/worker.ts";
import { WorkerKeys } from "../../src/tree-file/schema.ts";
import { read, tree } from "../tree-file/support.ts";

const page = (name: string) => readFileSync(join(import.meta.dirname, "../../docs/reference", name), "utf8");
const pages = { cli: page("commands.md"), tree: page("tree-file.md"), library: page("library.md") };
const FIELDS = Object.entries<Field>(SPEC_FIELDS);
const keys = specKeys();
const flags = COMMANDS.find(({ command }) => command === "agent/spawn")!.flags.filter(
  ({ topic = TOPICS.at(-1) }) => topic !== TOPICS.at(-1),
);
const flagsOf = (name: string, { spelt }: Field): readonly string[] =>
  spelt?.flatMap(({ flag }) => flag ?? []) ??
  plainFields("flag").flatMap(([field, flag]) => (field === name ? [flag] : []));

it("the spec, the flags of spawn and the keys of a worker are those of the table, and no others", () => {
  expect(Object.keys(WorkerSpec.shape)).toEqual(Object.keys(SPEC_FIELDS));
  const named = FIELDS.flatMap(([name, field]) => flagsOf(name, field));
  // `--tools` is the word of a model for its profile.
  const spelt = named.flatMap((flag) => (flag === "profile" ? [flag, "tools"] : [flag]));
  expect(flags.map(({ name }) => name)).toEqual(spelt);
  expect(Object.keys(WorkerKeys.shape)).toEqual([...keys.map(({ key }) => key), "depends_on"]);
});

describe.each(FIELDS)("%s", (name, field) => {
  const own = flagsOf(name, field);
  const written = keys.filter((each) => each.field === field).map(({ key }) => key);

  it("is a flag and a key of a file, or the table says why not", () => {
    expect([own.length > 0 && written.length > 0, field.why !== undefined]).toContain(true);
  });

  it("stands in help and in the docs in each of its spellings", () => {
    const text = help(["spawn"], plainPaint)!;
    for (const flag of own) {
      expect(text).toContain(`--${flag}`);
      expect(pages.cli).toContain(`--${flag}`);
    }
    for (const key of written) expect(pages.tree).toContain(`| \`${key}\` |`);
    expect(pages.library.includes(`| \`${name}\` |`)).toBe(field.isAmbient !== true);
  });
});

/** A word for a value of each type, beside its default. */
const wordFor = ({ type, values, min = 0 }: Field): string =>
  values?.at(-1) ??
  { duration: "7s", size: "7KB", int: String(min + 1), bool: "true" }[type as string] ??
  "it";

const plainKeys = new Map(plainFields("key").map(([field, key]) => [field, key]));
const both = plainFields("flag").filter(
  ([field, , { type }]) =>
    plainKeys.has(field) && !["cwd"].includes(field) && !["budget", "texts"].includes(type),
);

it.each(both)("%s is the same by its flag as by its key", (field, flag, def) => {
  const word = wordFor(def);
  const parsed = parse(["spawn", `--${flag}`, ...(def.type === "bool" ? [] : [word]), "--", "true"]);
  if (parsed.kind !== "call") throw new Error("help");
  expect(parsed.call.problems).toEqual([]);
  const spawned = WorkerSpec.parse(specOf(parsed.call, { env: {}, cwd: "/work", stateDir: "/state" }));
  const { root } = read(
    tree(`- { name: it, kind: claude, prompt: go, ${plainKeys.get(field)}: ${word} }`),
  ).tree;
  const [worker] = root.children;
  if (worker?.type !== "worker") throw new Error("no worker");
  expect(worker.spec[field]).toEqual(spawned[field]);
  expect(spawned[field]).not.toEqual(def.default);
});

it.each(flags.filter(({ max, type }) => max !== undefined && type !== "size"))(
  "--$name is refused beyond its bound, in its own words",
  ({ name, type, max }) => {
    const parsed = parse(["spawn", `--${name}`, String(max! + 1), "--", "true"]);
    const problems = parsed.kind === "call" ? parsed.call.problems : [];
    expect([type, problems.join()]).toEqual([
      type,
      expect.stringMatching(new RegExp(`^--${name} is (at most|from) `)),
    ]);
  },
);
