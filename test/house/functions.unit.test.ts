/** Functions that can be read at one look. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseSync } from "oxc-parser";
import { expect, it } from "vitest";

const LINES_MAX = 70;

const src = resolve(import.meta.dirname, "../../src");
const sources = (readdirSync(src, { recursive: true }) as string[])
  .filter((file) => file.endsWith(".ts"))
  .sort();

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}
const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === "string";

/** Every node of a source, outer ones first. */
const nodesIn = (value: unknown): readonly Node[] => {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  if (!isNode(value)) return [];
  return [value, ...Object.values(value).flatMap((part) => (typeof part === "object" ? nodesIn(part) : []))];
};

/** Lines of the longest function of a source. */
const longestIn = (text: string): number => {
  const lineAt = (offset: number) => text.slice(0, offset).split("\n").length;
  return nodesIn(parseSync("source.ts", text).program.body)
    .filter(({ type }) => /^(ArrowFunction|Function)(Expression|Declaration)$/.test(type))
    .reduce((most, { start, end }) => Math.max(most, lineAt(end) - lineAt(start) + 1), 0);
};

/** Sources that have longer functions still. The list only gets shorter. */
const LONGER: readonly string[] = [
  "adapters/conformance.ts",
  "adapters/fake.ts",
  "adapters/ingest.ts",
  "adapters/memory-spawner.ts",
  "adapters/process/spawner.ts",
  "adapters/process/spool.ts",
  "cli/client.ts",
  "cli/commands/demo-stage.ts",
  "cli/execute.ts",
  "daemon/socket.ts",
  "library/testing-agents.ts",
  "runtime/authority/authority.ts",
  "runtime/commands/approvals.ts",
  "runtime/core.ts",
  "runtime/limits/accounts.ts",
  "runtime/limits/admission.ts",
  "runtime/open.ts",
  "runtime/reading/changes.ts",
  "runtime/reading/queries.ts",
  "store/append.ts",
  "store/cas/store.ts",
  "store/cursor.ts",
  "store/gc.ts",
  "store/group-commit.ts",
  "store/held.ts",
  "store/keeper.ts",
  "store/log.ts",
  "store/projections/workers.ts",
  "store/reserve.ts",
  "store/retention/remove.ts",
  "supervisor/child/decide.ts",
  "supervisor/child/evolve.ts",
  "tree-file/syntax.ts",
];

it("finds a long function", () => {
  const long = `const a = () => {\n${"  b();\n".repeat(LINES_MAX)}};\n`;
  expect(longestIn(long)).toBe(LINES_MAX + 2);
});

it(`no function has more than ${LINES_MAX} lines`, () => {
  const long = sources.filter((file) => longestIn(readFileSync(join(src, file), "utf8")) > LINES_MAX);
  expect(long).toEqual(LONGER);
});
