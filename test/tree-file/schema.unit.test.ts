/** The schema that is published for editors, and that whatever the file says survives the way to the daemon. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { TreeSpec } from "../../src/protocol/tree.ts";
import { readTreeFile } from "../../src/tree-file/read.ts";
import { treeFileSchema, WorkerKeys } from "../../src/tree-file/schema.ts";
import { read, startOrder } from "./support.ts";

const EXAMPLE = resolve(import.meta.dirname, "../../examples/tree/holdfast.yaml");

it("every key of a worker stands in the documentation", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/reference/tree-file.md"), "utf8");
  const table = page.slice(page.indexOf("## A worker"), page.indexOf("## Order"));
  const named = new Set(
    table
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .flatMap((line) => line.split("|")[1]!.match(/[a-z_]+/g) ?? []),
  );
  expect(Object.keys(WorkerKeys.shape).filter((key) => !named.has(key))).toEqual([]);
});

describe("the example of the repository", () => {
  const file = readTreeFile({
    file: EXAMPLE,
    readFile: (path) => ({ ok: true, value: readFileSync(path, "utf8") }),
  });

  it("is a tree", () => {
    if (!file.ok) throw new Error(file.message);
    expect(startOrder(file.tree.root)).toEqual(["store", "crew", "crew/packer", "crew/sender", "visitors"]);
    expect(file.files.map((path) => path.replace(dirname(EXAMPLE), ""))).toEqual([
      "/holdfast.yaml",
      "/worker.yaml",
    ]);
  });

  it("fits the JSON Schema that it names", () => {
    const schema = z.fromJSONSchema(JSON.parse(JSON.stringify(treeFileSchema())));
    const value = parse(readFileSync(EXAMPLE, "utf8"));
    expect(schema.safeParse(value).error).toBeUndefined();
    expect(schema.safeParse({ ...value, colour: "red" }).success).toBe(false);
    value.tree.children[0].graze = "1s";
    expect(schema.safeParse(value).success).toBe(false);
  });
});

it("the published schema says of every key what it is, or which words it takes", () => {
  const schema = JSON.parse(JSON.stringify(treeFileSchema()));
  expect(schema).toMatchObject({
    title: "holdfast.yaml",
    // A file may have schedules alone.
    required: ["version"],
    additionalProperties: false,
  });
  expect(Object.keys(schema.properties)).toEqual([
    "$schema",
    "version",
    "name",
    "variables",
    "hosts",
    "schedules",
    "tree",
  ]);
  expect(schema.$defs.worker.properties.restart).toMatchObject({
    enum: ["permanent", "transient", "temporary"],
  });
  expect(schema.$defs.child.anyOf).toEqual(
    ["worker", "supervisor", "include"].map((name) => ({ $ref: `#/$defs/${name}` })),
  );
  for (const { properties } of [schema.$defs.worker, schema.$defs.supervisor])
    for (const [key, value] of Object.entries<Record<string, unknown>>(properties))
      expect([key, value.description ?? value.enum ?? value.$ref]).toEqual([key, expect.anything()]);
});

const duration = fc.oneof(
  fc.integer({ min: 0, max: 100_000 }).map((count) => `${count}s`),
  fc.constantFrom("500ms", "1.5h", "2d", 0),
);
const text = fc.string({ maxLength: 20 }).map((value) => value.replaceAll("$", ""));
const ready = fc.oneof(
  fc.record({ log: fc.constantFrom("listening", "^up$") }),
  fc.record({ port: fc.integer({ min: 1, max: 65_535 }), within: duration }),
  fc.record({ healthy_for: duration }),
  fc.constant({ first_event: true }),
);
/** In YAML "<<" is a merge, not a key; "$" begins a variable. */
const json = fc.jsonValue({ maxDepth: 2 }).filter((value) => !/<<|\$/.test(JSON.stringify(value)));
const worker = fc.record(
  {
    argv: fc.array(fc.oneof(text, fc.integer(), fc.boolean()), { minLength: 1, maxLength: 4 }),
    env: fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), text, { maxKeys: 3 }),
    labels: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), text, { maxKeys: 3 }),
    ext: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), json, { maxKeys: 2 }),
    restart: fc.constantFrom("permanent", "transient", "temporary"),
    timeout: duration,
    shutdown: fc.oneof(fc.constantFrom("brutal_kill", "infinity"), duration),
    interactive: fc.boolean(),
    budget: fc.constantFrom("usd=5,turns=40", { tokens: "2M" }, { usd: 1.5, wall: "1h" }),
    ready,
  },
  { requiredKeys: ["argv"] },
);
const named = (children: readonly object[]): object[] =>
  children.map((child, at) => ({ name: `n${at}`, ...child }));
const { node } = fc.letrec<{ node: object; supervisor: object }>((tie) => ({
  node: fc.oneof({ maxDepth: 4, withCrossShrink: true }, worker, tie("supervisor")),
  supervisor: fc.record(
    {
      strategy: fc.constantFrom("one_for_one", "one_for_all", "rest_for_one"),
      intensity: fc.constantFrom("3/60s", "0/1s"),
      on_intensity: fc.constantFrom("escalate", "park"),
      children: fc.array(tie("node"), { maxLength: 4 }).map(named),
    },
    { requiredKeys: ["children"] },
  ),
}));

it("the tree of any file is the same after JSON", () => {
  fc.assert(
    fc.property(fc.array(node, { maxLength: 5 }), (children) => {
      const file = read(JSON.stringify({ version: 1, tree: { children: named(children) } }));
      const wire = JSON.parse(JSON.stringify(file.tree));
      expect(wire).toEqual(file.tree);
      expect(TreeSpec.parse(wire)).toEqual(wire);
    }),
    { numRuns: 100 },
  );
});
